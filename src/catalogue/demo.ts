import type { Attribute, AttributeType, Document, SearchDomain } from '../search/domain.ts';
import { createRandom, type Draft, dateOf, type Random, seedOf } from './demo/ad.ts';
import { autoAd } from './demo/auto.ts';
import { goodsAd } from './demo/goods.ts';
import { jobsAd } from './demo/jobs.ts';
import { realtyAd } from './demo/realty.ts';

/**
 * The demo catalogue: the ads of an invented classifieds site, generated from vocabulary and templates. The bytes are
 * the same on every machine and in every run.
 */
const SIZES = { goods: 20_000, auto: 12_000, realty: 10_000, jobs: 8_000 } as const;

type DemoDomain = keyof typeof SIZES;

/** Ads per demo domain. */
export const DEMO_SIZES: Readonly<Record<string, number>> = SIZES;

export const DEMO_DOMAINS: readonly (Pick<SearchDomain, 'name' | 'attributes' | 'context'> & {
  readonly name: DemoDomain;
})[] = [
  domain('goods', 'category:string:facet brand:string:facet condition:string:facet city:string:facet'),
  domain(
    'auto',
    'category:string:facet make:string:facet model:string body:string:facet city:string:facet year:integer:facet,sort mileage:integer:sort',
  ),
  domain('realty', 'category:string:facet deal:string:facet rooms:integer:facet area:number:sort city:string:facet'),
  domain('jobs', 'category:string:facet schedule:string:facet experience:string:facet city:string:facet'),
];

const WRITERS: Readonly<Record<DemoDomain, (random: Random) => Draft>> = {
  goods: goodsAd,
  auto: autoAd,
  realty: realtyAd,
  jobs: jobsAd,
};

/**
 * The ads of one demo domain, in a fixed order. Ids are ten decimal digits, unique across domains.
 * @throws RangeError for a domain that is not in the demo.
 */
export function* demoDocuments(name: string): Generator<Document, void, undefined> {
  if (!isDemoDomain(name)) throw new RangeError(`no demo domain ${name}: ${Object.keys(SIZES).join(', ')}`);
  const first = firstOrdinal(name);
  const texts = new Set<string>();
  for (let index = 0; index < SIZES[name]; index += 1) {
    const random = createRandom(seedOf(name, index));
    let draft = WRITERS[name](random);
    // A repeated text would look like a fault of the search; a few attempts find another text.
    for (let attempt = 0; attempt < MAX_ATTEMPTS && texts.has(textOf(draft)); attempt += 1)
      draft = WRITERS[name](random);
    texts.add(textOf(draft));
    yield { id: idOf(first + index), ...draft, attributes: { ...draft.attributes, date: dateOf(random) } };
  }
}

const MAX_ATTEMPTS = 20;

function isDemoDomain(name: string): name is DemoDomain {
  return Object.hasOwn(SIZES, name);
}

function firstOrdinal(name: DemoDomain): number {
  let first = 1;
  for (const [other, size] of Object.entries(SIZES)) {
    if (other === name) return first;
    first += size;
  }
  return first;
}

/** Steps through the residues of a prime, so that ids look random and two ordinals never share one. */
function idOf(ordinal: number): string {
  const PRIME = 8_999_999_993;
  const STEP = 61_803_399;
  return String(1_000_000_000 + ((ordinal * STEP) % PRIME));
}

function textOf(draft: Draft): string {
  return `${draft.title}\n${draft.description}`;
}

/** A demo domain from a table of attributes; price and date are added to every domain. */
function domain(name: DemoDomain, table: string) {
  const attributes = `${table} price:integer:sort date:date:sort`.split(' ').map((text): Attribute => {
    const [attribute = '', type = '', uses = ''] = text.split(':');
    return {
      name: attribute,
      type: type as AttributeType,
      facet: uses.includes('facet'),
      sort: uses.includes('sort'),
      ...(attribute === 'price' ? { currency: 'RUB' } : {}),
    };
  });
  return { name, attributes, context: [] };
}

/** Searches that show each domain of the demo catalogue. */
export const DEMO_SEARCHES = [
  { domain: 'goods', query: 'кроссовки' },
  { domain: 'goods', query: 'iphone 13' },
  { domain: 'auto', query: 'ваз 2107' },
  { domain: 'realty', query: 'двушка' },
  { domain: 'jobs', query: 'курьер' },
];
