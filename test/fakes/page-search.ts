import type { Clock } from '../../src/runtime.ts';
import { canonicalText, dateText } from '../../src/search/canonical.ts';
import type { Filter, SearchDomain, SearchRequest } from '../../src/search/domain.ts';
import type { FacetCount, ResultPage, SearchResult } from '../../src/search/engine.ts';
import type { PreparedSearch } from '../../src/search/key.ts';
import type { Answer } from '../../src/search/read-path.ts';
import { createFakeSearch, type FakeSearch } from './search.ts';

/** Domains with a catalogue small enough to read and large enough to page, filter and sort. */
export interface PageSearch extends FakeSearch {
  /** Called before the engine computes; a test makes it wait or reject. */
  before: (prepared: PreparedSearch) => Promise<void>;
  /** Changes each answer before it is returned, also those from memory. */
  dress: (answer: Answer) => Answer;
  /** Number of pages that the engine has computed. */
  computations: number;
}

type Item = Omit<SearchResult, 'snippet' | 'score'> & { readonly description: string };

const DOMAINS: readonly SearchDomain[] = [
  {
    name: 'goods',
    attributes: [
      { name: 'category', type: 'string', facet: true, sort: false },
      { name: 'city', type: 'string', facet: true, sort: false },
      { name: 'price', type: 'integer', facet: false, sort: true, currency: 'RUB' },
      { name: 'date', type: 'date', facet: false, sort: true },
    ],
    context: [],
    answerProfile: 'goods-1',
  },
  {
    name: 'auto',
    attributes: [
      { name: 'brand', type: 'string', facet: true, sort: false },
      { name: 'year', type: 'integer', facet: false, sort: true },
      { name: 'mileage', type: 'integer', facet: false, sort: true },
      { name: 'price', type: 'integer', facet: false, sort: true, currency: 'RUB' },
    ],
    context: [{ name: 'region', source: 'query', values: ['msk', 'spb'] }],
    answerProfile: 'auto-1',
  },
];

/** How the first search of a key is answered. */
const FROM_ENGINE: Partial<Answer> = {
  l1: { kind: 'forward', why: 'uri-miss', stored: true },
  l2: { kind: 'forward', why: 'uri-miss', stored: true, detail: 'unseen' },
  timings: { l2Ms: 0.8, engineMs: 14.2 },
};

export function createPageSearch(options: { readonly clock: Clock; readonly extra?: readonly Item[] }): PageSearch {
  const { clock, extra = [] } = options;
  const items: Readonly<Record<string, readonly Item[]>> = { goods: [...goods(), ...extra], auto: cars() };
  const engine = createFakeSearch({
    clock,
    domains: DOMAINS,
    coding: 'gzip',
    pageOf: (request) => pageOf(request, items[request.domain] ?? []),
  });
  engine.answer = async (prepared) => {
    await fake.before(prepared);
    fake.computations += 1;
    const answer = await engine.computed(prepared, FROM_ENGINE);
    engine.memory.set(prepared.key, answer.entry);
    return fake.dress(answer);
  };
  const near = engine.fromMemory;
  engine.fromMemory = (prepared) => {
    const found = near(prepared);
    return found && fake.dress(found);
  };
  const fake: PageSearch = Object.assign(engine, {
    before: async () => {},
    dress: (answer: Answer) => answer,
    computations: 0,
  });
  return fake;
}

function pageOf(request: SearchRequest, items: readonly Item[]): ResultPage {
  const words = request.text.split(' ');
  const found = items.filter(
    (item) =>
      words.every((word) => canonicalText(`${item.title} ${item.description}`).includes(word)) &&
      request.filters.every((filter) => fits(item, filter)),
  );
  const { sort, page, limit } = request;
  if (sort.by === 'attribute') {
    const turn = sort.descending ? -1 : 1;
    found.sort((a, b) => turn * (numberOf(a, sort.attribute) - numberOf(b, sort.attribute)));
  }
  return {
    total: found.length,
    totalRelation: 'eq',
    results: found.slice((page - 1) * limit, page * limit).map(({ id, title, description, attributes }) => {
      return { id, title, snippet: highlighted(description, words), score: 1, attributes };
    }),
    facets: Object.fromEntries(request.facets.map((name) => [name, counts(found, name)])),
  };
}

function fits(item: Item, filter: Filter): boolean {
  const value = item.attributes[filter.attribute];
  switch (filter.kind) {
    case 'strings':
      return filter.values.includes(canonicalText(String(value)));
    case 'numbers':
      return filter.values.includes(numberOf(item, filter.attribute));
    case 'range': {
      const number = numberOf(item, filter.attribute);
      return number >= (filter.from ?? -Infinity) && number <= (filter.to ?? Infinity);
    }
  }
}

/** Dates as days, as an index holds them. */
function numberOf(item: Item, attribute: string): number {
  const value = item.attributes[attribute] ?? 0;
  return typeof value === 'number' ? value : Date.parse(String(value)) / 86_400_000;
}

function counts(items: readonly Item[], name: string): FacetCount[] {
  const groups = Map.groupBy(items, (item) => String(item.attributes[name]));
  return [...groups].map(([value, { length }]) => ({ value, count: length })).sort((a, b) => b.count - a.count);
}

function highlighted(text: string, words: readonly string[]): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return words.reduce((html, word) => html.replace(new RegExp(RegExp.escape(word), 'giu'), '<em>$&</em>'), escaped);
}

const BRANDS = ['Nike Air Max', 'adidas Samba', 'New Balance 574', 'Asics Gel-Kayano', 'Puma Suede', 'Reebok Classic'];
const CITIES = 'Москва Санкт-Петербург Казань Екатеринбург Новосибирск Пермь Тула Омск Уфа Tbilisi'.split(' ');

function goods(): Item[] {
  const shoes = Array.from({ length: 47 }, (_, i): Item => {
    const english = i % 9 === 8;
    const brand = BRANDS[i % BRANDS.length] ?? '';
    const size = 36 + (i % 10);
    return {
      id: `shoe-${i}`,
      title: english ? `${brand} sneakers, size ${size}` : `Кроссовки ${brand}, ${size} размер`,
      description: english
        ? `Barely worn sneakers (кроссовки), bought in spring, the box and the receipt are there. Size ${size}.`
        : `Продаю кроссовки ${brand}: носили один сезон, подошва целая, есть коробка. Размер ${size}, подошли бы и на полноту. Торг при встрече.`,
      attributes: {
        category: ['Обувь', 'Спорт и отдых', 'Детская одежда и обувь'][i % 3] ?? '',
        city: CITIES[i % CITIES.length] ?? '',
        price: 990 + ((i * 137) % 90) * 100,
        date: dateText(20_750 - ((i * 7) % 60)),
      },
    };
  });
  const phones = Array.from(
    { length: 5 },
    (_, i): Item => ({
      id: `phone-${i}`,
      title: `iPhone 13, ${128 * (1 + (i % 2))} GB`,
      description: `iPhone 13 in good order, battery at ${90 - i} %, no scratches.`,
      attributes: { category: 'Телефоны', city: CITIES[i] ?? '', price: 39_990 - i * 1500, date: dateText(20_740 - i) },
    }),
  );
  return [...shoes, ...phones];
}

function cars(): Item[] {
  return Array.from(
    { length: 12 },
    (_, i): Item => ({
      id: `car-${i}`,
      title: `ВАЗ 2107, ${1998 + i}`,
      description: `ВАЗ 2107 на ходу, второй хозяин, гараж. Пробег ${60 + i * 9} тысяч.`,
      attributes: { brand: 'ВАЗ', year: 1998 + i, mileage: 60_000 + i * 9000, price: 65_000 + i * 10_500 },
    }),
  );
}
