import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type { Attribute, AttributeType, Document, SearchDomain } from '../search/domain.ts';

/** The demo catalogue: the ads of an invented classifieds site, in the files of `demo/`. */
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

const FILES = join(import.meta.dirname, 'demo');
const NEWLINE = 0x0a;

/**
 * The ads of one demo domain, in a fixed order. Ids are ten decimal digits, unique across domains.
 * @throws RangeError for a domain that is not in the demo.
 */
export function* demoDocuments(name: string): Generator<Document, void, undefined> {
  if (!Object.hasOwn(SIZES, name)) throw new RangeError(`no demo domain ${name}: ${Object.keys(SIZES).join(', ')}`);
  const lines = zstdDecompressSync(readFileSync(join(FILES, `${name}.ndjson.zst`)));
  // The text of a whole file, and all its documents, would take several times the memory of its bytes.
  let start = 0;
  for (let end = lines.indexOf(NEWLINE); end !== -1; end = lines.indexOf(NEWLINE, start)) {
    yield JSON.parse(lines.toString('utf8', start, end));
    start = end + 1;
  }
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
      currency: attribute === 'price' ? 'RUB' : undefined,
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
