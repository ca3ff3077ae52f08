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
