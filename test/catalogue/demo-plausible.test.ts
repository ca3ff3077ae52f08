import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { demoDocuments } from '../../src/catalogue/demo.ts';
import type { Document } from '../../src/search/domain.ts';

const goods = [...demoDocuments('goods')];
const auto = [...demoDocuments('auto')];
const realty = [...demoDocuments('realty')];
const jobs = [...demoDocuments('jobs')];

const number = (document: Document, name: string): number => Number(document.attributes[name] ?? Number.NaN);
const text = (document: Document, name: string): string => String(document.attributes[name] ?? '');
const say = (document: Document): string => `${document.title}: ${JSON.stringify(document.attributes)}`;

/** The range of prices of each category, in roubles; a new category needs an entry. */
const PRICES: Readonly<Record<string, readonly [from: number, to: number]>> = {
  телефоны: [500, 130_000],
  'ноутбуки и компьютеры': [500, 280_000],
  'аудио и ТВ': [300, 130_000],
  'игры и приставки': [600, 65_000],
  фототехника: [1000, 130_000],
  'бытовая техника': [400, 90_000],
  мебель: [300, 95_000],
  'дом и дача': [300, 70_000],
  обувь: [200, 25_000],
  одежда: [150, 65_000],
  'детские товары': [200, 70_000],
  'велосипеды и самокаты': [400, 75_000],
  'спорт и отдых': [100, 65_000],
  'инструменты и ремонт': [400, 35_000],
  'музыкальные инструменты': [300, 100_000],
  книги: [50, 6000],
  животные: [300, 65_000],
  легковые: [25_000, 11_000_000],
  мотоциклы: [15_000, 3_200_000],
  'грузовики и спецтехника': [150_000, 11_000_000],
  'водный транспорт': [15_000, 4_000_000],
  'запчасти и шины': [500, 200_000],
};

describe('the plausibility of the demo catalogue', () => {
  it('has prices that fit their category', () => {
    for (const document of [...goods, ...auto]) {
      const [from, to] = PRICES[text(document, 'category')] ?? [Number.NaN, Number.NaN];
      const price = number(document, 'price');
      assert.ok(price >= from && price <= to, say(document));
    }
  });

  it('has higher prices for an iPhone 15 than for an iPhone 11 in the same condition, and lower ones for a broken one', () => {
    const middle = (model: string, condition: string): number => {
      const prices = goods
        .filter(({ title }) => new RegExp(`${model}\\b`, 'i').test(title))
        .filter((document) => text(document, 'condition') === condition)
        .map((document) => number(document, 'price'))
        .sort((a, b) => a - b);
      return prices[prices.length >> 1] ?? Number.NaN;
    };
    assert.ok(middle('iphone 15', 'хорошее') > 1.5 * middle('iphone 11', 'хорошее'));
    assert.ok(middle('iphone 13', 'новое') > middle('iphone 13', 'хорошее'));
    assert.ok(middle('iphone 13', 'хорошее') > 2 * middle('iphone 13', 'на запчасти'));
  });

  it('has no year in the future, and no mileage beyond what the age allows', () => {
    for (const document of auto) {
      if (text(document, 'category') === 'запчасти и шины') continue;
      const year = number(document, 'year');
      assert.ok(year >= 1960 && year <= 2026, say(document));
      if (!('mileage' in document.attributes)) continue;
      const mileage = number(document, 'mileage');
      const limit = text(document, 'category') === 'легковые' ? 25_000 : 140_000;
      assert.ok(mileage >= 1000 && mileage <= Math.max(1, 2026 - year) * limit, say(document));
    }
  });

  it('has in the text the year and the mileage of the attributes, and no others', () => {
    const told = { distances: 0, years: 0 };
    for (const document of auto) {
      const distance = /(\d[\d ]*) (?:км|km)(?![а-яё\w])/.exec(document.description)?.[1];
      if (distance !== undefined) {
        told.distances += 1;
        assert.equal(Number(distance.replaceAll(' ', '')), number(document, 'mileage'), say(document));
      }
      const year = /^(?:.*, |.* )?((?:19|20)\d\d)(?: года?)?$/.exec(document.title)?.[1];
      if (year !== undefined && 'year' in document.attributes) {
        told.years += 1;
        assert.equal(Number(year), number(document, 'year'), say(document));
      }
    }
    assert.ok(told.distances > 100 && told.years > 100, JSON.stringify(told));
  });

  it('has lower prices for an older car of the same model', () => {
    const camrys = auto.filter((document) => text(document, 'model') === 'Camry' && 'year' in document.attributes);
    const mean = (documents: readonly Document[]): number =>
      documents.reduce((sum, document) => sum + number(document, 'price'), 0) / documents.length;
    const old = camrys.filter((document) => number(document, 'year') < 2012);
    const recent = camrys.filter((document) => number(document, 'year') >= 2018);
    assert.ok(old.length > 20 && recent.length > 20);
    assert.ok(mean(recent) > 2 * mean(old), `${mean(old)} ${mean(recent)}`);
  });

  it('has flats with an area that fits their rooms, and a floor that the house has', () => {
    let floors = 0;
    for (const document of realty.filter((each) => text(each, 'category') === 'квартиры')) {
      const rooms = number(document, 'rooms');
      const perRoom = number(document, 'area') / rooms;
      assert.ok(rooms >= 1 && rooms <= 5 && perRoom >= 18 && perRoom <= 46, say(document));
      const floor = /(\d+)\/(\d+) эт/.exec(document.title);
      if (floor === null) continue;
      floors += 1;
      assert.ok(Number(floor[1]) <= Number(floor[2]), document.title);
    }
    assert.ok(floors > 100, `${floors} floors`);
  });

  it('has the same number of rooms in the text and in the attribute', () => {
    const words = ['студия', 'однушк', 'двушк', 'трёшк', 'четырёшк'];
    const found = new Set<number>();
    for (const document of realty) {
      const said = words.findIndex((word) =>
        new RegExp(`\\b${word}|(^|[^а-яё])${word}`, 'i').test(document.description),
      );
      if (said < 0) continue;
      found.add(said);
      assert.equal(number(document, 'rooms'), Math.max(1, said), say(document));
    }
    assert.equal(found.size, words.length);
  });

  it('has prices and rents of flats that fit their city, Moscow the dearest', () => {
    const flats = realty.filter((each) => text(each, 'category') === 'квартиры');
    const perMetre = (flat: Document): number => number(flat, 'price') / number(flat, 'area');
    for (const deal of ['продажа', 'аренда']) {
      const ofDeal = flats.filter((each) => text(each, 'deal') === deal);
      const means = [...Map.groupBy(ofDeal, (each) => text(each, 'city'))].map(([city, own]) => {
        const mean = own.reduce((sum, flat) => sum + perMetre(flat), 0) / own.length;
        for (const flat of own) {
          assert.ok(perMetre(flat) >= 0.6 * mean && perMetre(flat) <= 1.5 * mean, `${say(flat)}, mean ${mean}`);
        }
        return { city, mean };
      });
      means.sort((a, b) => b.mean - a.mean);
      assert.equal(means[0]?.city, 'Москва', deal);
      assert.ok((means[0]?.mean ?? 0) > 3 * (means.at(-1)?.mean ?? 0), deal);
    }
  });

  it('has no rent below 3,000 a month, and no plot to let', () => {
    const rented = realty.filter((each) => text(each, 'deal') === 'аренда');
    assert.ok(rented.length > 100);
    for (const document of rented) {
      assert.notEqual(text(document, 'category'), 'участки');
      assert.ok(number(document, 'price') >= (text(document, 'category') === 'гаражи' ? 1000 : 3000), say(document));
    }
  });

  it('has pay that fits the profession and the city', () => {
    for (const document of jobs) {
      const pay = number(document, 'price');
      if (Number.isNaN(pay)) continue;
      assert.ok(pay >= 14_000 && pay <= 520_000, say(document));
    }
    const mean = (city: string): number => {
      const pays = jobs.filter((job) => text(job, 'city') === city && 'price' in job.attributes);
      return pays.reduce((sum, job) => sum + number(job, 'price'), 0) / pays.length;
    };
    assert.ok(mean('Москва') > 1.3 * mean('Саратов'));
  });

  it('has no price in a few jobs, and a price everywhere else', () => {
    const without = (documents: readonly Document[]): number =>
      documents.filter(({ attributes }) => !('price' in attributes)).length;
    assert.equal(without(goods) + without(auto) + without(realty), 0);
    assert.ok(without(jobs) > 200 && without(jobs) < 600);
  });

  it('has 32 cities in every domain, Moscow most often', () => {
    const cities = new Set<string>();
    for (const documents of [goods, auto, realty, jobs]) {
      const own = [...Map.groupBy(documents, (document) => text(document, 'city'))];
      assert.equal(own.length, 32);
      assert.equal(own.sort(([, a], [, b]) => b.length - a.length)[0]?.[0], 'Москва');
      for (const [city] of own) cities.add(city);
    }
    assert.equal(cities.size, 32);
  });
});

describe('common searches', () => {
  const searches: readonly (readonly [query: string, documents: readonly Document[], atLeast: number])[] = [
    ['кроссовки', goods, 300],
    ['iphone 13', goods, 100],
    ['айфон', goods, 200],
    ['велосипед', goods, 300],
    ['диван', goods, 300],
    ['laptop', goods, 80],
    ['холодильник', goods, 150],
    ['коляска', goods, 100],
    ['ваз 2107', auto, 100],
    ['toyota camry', auto, 150],
    ['тойота камри', auto, 15],
    ['зимние шины', auto, 200],
    ['двушка', realty, 500],
    ['снять квартиру', realty, 400],
    ['гараж', realty, 200],
    ['курьер', jobs, 150],
    ['водитель', jobs, 400],
    ['remote developer', jobs, 15],
  ];
  for (const [query, documents, atLeast] of searches) {
    it(`«${query}» stands in at least ${atLeast} ads, word by word`, () => {
      const words = query.split(' ');
      const found = documents.filter((document) => {
        const said = foldedOf(document);
        // Most documents lack one of the words, so the cheap check comes first; splitting all takes ten times as long.
        if (!words.every((word) => said.includes(word))) return false;
        const each = said.split(/[^\p{L}\p{N}]+/u);
        return words.every((word) => each.some((one) => one.startsWith(word)));
      });
      assert.ok(found.length >= atLeast, `${found.length}`);
    });
  }
});

const folded = new WeakMap<Document, string>();
function foldedOf(document: Document): string {
  const text = folded.get(document) ?? `${document.title} ${document.description}`.toLowerCase().replaceAll('ё', 'е');
  folded.set(document, text);
  return text;
}
