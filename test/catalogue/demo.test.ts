import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { DEMO_DOMAINS, DEMO_SIZES, demoDocuments } from '../../src/catalogue/demo.ts';
import type { AttributeValue, Document } from '../../src/search/domain.ts';

const catalogue: ReadonlyMap<string, readonly Document[]> = new Map(
  DEMO_DOMAINS.map(({ name }) => [name, [...demoDocuments(name)]] as const),
);
const everything = [...catalogue.values()].flat();

describe('the demo catalogue', () => {
  it('has the same bytes on every machine, so that a change is intended or a fault', () => {
    const hash = createHash('sha256');
    for (const document of everything) hash.update(`${JSON.stringify(document)}\n`);
    // If the change is intended, read some of the new ads, then put the new hash here.
    assert.equal(hash.digest('hex'), EXPECTED_HASH);
  });

  it('is the same when a domain is read again, or in part', () => {
    assert.deepEqual([...demoDocuments('jobs').take(500)], catalogue.get('jobs')?.slice(0, 500));
  });

  it('holds 50,000 ads, with the declared number per domain', () => {
    assert.equal(everything.length, 50_000);
    for (const [name, documents] of catalogue) assert.equal(documents.length, DEMO_SIZES[name]);
  });

  it('gives every ad an id of ten digits that no other ad has, in any domain', () => {
    assert.equal(new Set(everything.map(({ id }) => id)).size, everything.length);
    for (const { id } of everything) assert.match(id, /^[1-9]\d{9}$/);
  });

  it('never has the same text twice within a domain', () => {
    for (const [name, documents] of catalogue) {
      const texts = new Set(documents.map(({ title, description }) => `${title}\n${description}`));
      assert.equal(texts.size, documents.length, name);
    }
  });

  it('has declared attributes only, each of its type, and always a category, a city and a date', () => {
    for (const { name, attributes } of DEMO_DOMAINS) {
      const types = new Map(attributes.map((attribute) => [attribute.name, attribute.type]));
      for (const document of catalogue.get(name) ?? []) {
        for (const required of ['category', 'city', 'date']) assert.ok(required in document.attributes, document.id);
        for (const [attribute, value] of Object.entries(document.attributes)) {
          assert.ok(isOfType(types.get(attribute), value), `${name} ${document.id} ${attribute}: ${value}`);
        }
      }
    }
  });

  it('leaves no trace of its templates in any text', () => {
    for (const { title, description } of everything) {
      for (const text of [title, description]) {
        assert.doesNotMatch(text, /[${}[\]|~]|undefined|null|NaN| {2}|\.\.|,,| [,.:;!?]|^\s|\s$/, text);
      }
    }
  });

  it('keeps titles of 3–90 characters and descriptions of one to a few sentences', () => {
    for (const { title, description } of everything) {
      assert.ok(title.length >= 3 && title.length <= 90, title);
      assert.ok(description.length >= 15 && description.length <= 500, description);
      assert.match(description, /[.!?)]$/, description);
      assert.match(description, /^[^а-яёa-z]|^i[A-Z]/, description);
    }
  });

  it('is in Russian, with a seventh to a fifth in English, in each domain', () => {
    for (const [name, documents] of catalogue) {
      const english = documents.filter(({ description }) => !/[а-яё]/i.test(description)).length;
      assert.ok(english > documents.length * 0.14 && english < documents.length * 0.21, `${name}: ${english}`);
    }
  });

  it('never mixes Cyrillic into an English ad, except the signs of money', () => {
    for (const { title, description } of everything) {
      if (/[а-яё]/i.test(description)) continue;
      assert.doesNotMatch(title, /[а-яё]/i, title);
    }
  });

  it('is spread over 180 days that end on 2026-11-20, with more ads on newer days', () => {
    const dates = everything.map(({ attributes }) => String(attributes['date'])).sort();
    assert.ok((dates[0] ?? '') >= '2026-05-24', `${dates[0]}`);
    assert.equal(dates.at(-1), '2026-11-20');
    const recent = dates.filter((date) => date > '2026-08-22').length;
    assert.ok(recent > dates.length * 0.55 && recent < dates.length * 0.8, `${recent}`);
  });

  it('knows no other domain', () => {
    assert.throws(() => [...demoDocuments('planes')], /no demo domain planes: goods, auto, realty, jobs/);
  });
});

function isOfType(type: string | undefined, value: AttributeValue): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string' && value !== '' && value.length <= 64;
    case 'date':
      return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) > 0;
    case 'number':
      return typeof value === 'number' && value > 0;
    default:
      return false;
  }
}

const EXPECTED_HASH = 'a81c7d1ee502913b8e160623233d8e8d901acc8a2db426fe2ab1645687df7ecc';
