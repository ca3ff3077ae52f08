import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeEntry, decompress } from '../../src/cache/codec.ts';
import { createSigning } from '../../src/cache/signing.ts';
import { decodeDocument } from '../../src/control/document-codec.ts';
import type { AttributeType, SearchDomain } from '../../src/search/domain.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { createFakeClock } from '../fakes/clock.ts';
import before from './stored-before.json' with { type: 'json' };

/**
 * `stored-before.json` holds entries and a control document as the version of 2026-11-22 encoded them. It is never
 * generated again: a release that cannot read it would start with an empty cache and lose the decisions of operators.
 */
const domain: SearchDomain = {
  ...before.domain,
  attributes: before.domain.attributes.map((attribute) => ({ ...attribute, type: attribute.type as AttributeType })),
  context: before.domain.context.map((parameter) => ({ ...parameter, source: 'query' as const })),
};
const signing = createSigning({ key: before.signingKey, required: true }, 'goods');

for (const stored of before.entries) {
  test(`the entry that was stored for ${stored.search} is found by its key and read`, async () => {
    const pairs = [...new URLSearchParams(stored.search)] as [string, string][];
    const prepared = prepareSearch({ pairs }, [domain]);
    assert.deepEqual([prepared.canonical, prepared.storeName], [stored.canonical, stored.storeName]);

    const clock = createFakeClock(before.wallMs);
    const bytes = Buffer.from(stored.encoded, 'base64');
    const decoded = decodeEntry(bytes, prepared.canonical, clock, stored.signed ? signing : undefined);
    assert.ok(decoded.kind === 'entry', decoded.kind);
    const { entry } = decoded;
    assert.deepEqual([entry.etag, entry.generation, entry.empty], [stored.etag, 7, stored.results === 0]);
    const page = JSON.parse(String(await decompress(entry.body, entry.coding, 1 << 20)));
    assert.equal(page.results.length, stored.results);
    assert.equal(page.query, prepared.request.text);
  });
}

test('the control document that was stored is read with everything that operators decided', () => {
  const { tag, value } = before.control;
  const decoded = decodeDocument({ tag, value: Buffer.from(JSON.stringify(value)) }, before.wallMs);
  assert.ok(decoded.kind === 'document', JSON.stringify(decoded));
  const { format, ...expected } = value;
  assert.equal(format, 1);
  assert.deepEqual(JSON.parse(JSON.stringify(decoded.document)), expected);
});
