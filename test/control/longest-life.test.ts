import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestLifeMs } from '../../src/cache/entry.ts';
import { configShape } from '../../src/config/schema.ts';
import { noteLongestLife, prune, purge, suppress } from '../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, MAX_LIFE_MS } from '../../src/control/document.ts';
import { decodeDocument, encodeDocument } from '../../src/control/document-codec.ts';
import { merge } from '../../src/control/merge.ts';
import { plain } from '../plain.ts';
import { createHarness } from './harness.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const textsIn = ({ purges }: ControlDocument): readonly string[] => purges.map(({ text }) => text);

test('a purge is kept as long as entries of an earlier, longer ttl live, even if no process has that ttl any more', async (t) => {
  const harness = createHarness(t);
  const before = harness.join('before', 0, { longestLifeMs: DAY_MS });
  await harness.settle(before.control.change((one) => purge(one, 'shoes', 1_800_001_000_000)));
  before.storeIs('down');
  const after = harness.join('after', 0, { longestLifeMs: HOUR_MS });
  await harness.leap(20 * HOUR_MS);
  await harness.settle(after.control.change((one) => suppress(one, ['sold'], 0)));
  assert.deepEqual(textsIn(after.control.document()), ['shoes']);
});

test('during a rolling deploy a process with a longer ttl writes its longest life, and the others keep purges for it', async (t) => {
  const harness = createHarness(t);
  const [short, long] = [
    harness.join('short', 0, { longestLifeMs: HOUR_MS }),
    harness.join('long', 0, { longestLifeMs: 30 * DAY_MS }),
  ];
  await harness.settle(short.control.change((one) => purge(one, 'shoes', 1_800_001_000_000)));
  const tookMs = await harness.until(() => short.control.document().longestLife?.ms === 30 * DAY_MS);
  assert.ok(tookMs <= 2000, `${tookMs} ms`);
  assert.deepEqual(
    long.events.filter(({ kind }) => kind === 'control-changed').map((one) => 'own' in one && one.own),
    [false, false],
    'the write was no change of an operator',
  );
  await harness.leap(20 * DAY_MS);
  await harness.settle(short.control.change((one) => suppress(one, ['sold'], 0)));
  assert.deepEqual(textsIn(short.control.document()), ['shoes']);
});

test('a fleet without changes writes only the longest life, once a day', async (t) => {
  const harness = createHarness(t);
  const [one, other] = [
    harness.join('one', 0, { longestLifeMs: DAY_MS }),
    harness.join('other', 0, { longestLifeMs: DAY_MS }),
  ];
  await harness.pass(2000);
  assert.equal(one.control.document().revision, 0, 'no first document is written for it');
  await harness.settle(one.control.change((document) => purge(document, 'shoes', 0)));
  await harness.leap(23 * HOUR_MS);
  assert.equal(one.control.document().revision, 1);
  await harness.leap(2 * HOUR_MS);
  await harness.pass(5000);
  assert.deepEqual(
    [one, other].map(({ control }) => control.document().revision),
    [2, 2],
  );
});

test('a longest life that no process has any more expires after its own length and a day; then the next longest one prunes purges', async (t) => {
  const harness = createHarness(t);
  const before = harness.join('before', 0, { longestLifeMs: 10 * DAY_MS });
  await harness.settle(before.control.change((one) => suppress(one, ['banned'], 0)));
  before.storeIs('down');
  const after = harness.join('after', 0, { longestLifeMs: HOUR_MS });
  await harness.leap(9 * DAY_MS);
  const atMs = 1_800_001_000_000 + 9 * DAY_MS;
  await harness.settle(after.control.change((one) => purge(one, 'shoes', atMs)));
  const change = () => harness.settle(after.control.change((one) => suppress(one, [`${one.revision}`], 0)));
  await harness.leap(2 * DAY_MS);
  await change();
  assert.deepEqual(textsIn(after.control.document()), ['shoes']);
  await harness.leap(2 * HOUR_MS);
  await change();
  assert.deepEqual([textsIn(after.control.document()), after.control.document().longestLife?.ms], [[], HOUR_MS]);
});

test('with a clock that is months ahead the fleet does not write at every poll', async (t) => {
  const harness = createHarness(t);
  const [well, ahead] = [
    harness.join('well', 0, { longestLifeMs: 10 * DAY_MS }),
    harness.join('ahead', 100 * DAY_MS, { longestLifeMs: HOUR_MS }),
  ];
  await harness.settle(well.control.change((one) => purge(one, 'shoes', 0)));
  await harness.settle(ahead.control.change((one) => suppress(one, ['sold'], 0)));
  await harness.pass(10_000);
  assert.ok(well.control.document().revision <= 3, `revision ${well.control.document().revision}`);
  assert.equal(ahead.control.document().longestLife?.ms, 10 * DAY_MS);
});

test('a merge takes the longer life and the later time', () => {
  const left = { ...purge(emptyDocument, 'a', 0), revision: 1, stamp: 'l', longestLife: { ms: 5, atMs: 9 } };
  const right = { ...purge(emptyDocument, 'b', 0), revision: 1, stamp: 'r', longestLife: { ms: 7, atMs: 2 } };
  assert.deepEqual(merge(left, right, 'm').longestLife, { ms: 7, atMs: 9 });
  const { longestLife: _, ...none } = right;
  assert.deepEqual(merge(left, none, 'm').longestLife, { ms: 5, atMs: 9 });
});

const NOW_MS = Date.UTC(2026, 10, 23);

test('a document with a life beyond the configurable maximum is refused', () => {
  const document = { ...emptyDocument, revision: 1, stamp: 's', longestLife: { ms: MAX_LIFE_MS, atMs: 0 } };
  assert.deepEqual(plain(decodeDocument(encodeDocument(document), NOW_MS)), { kind: 'document', document });
  for (const ms of [0, 1.5, MAX_LIFE_MS + 1]) {
    const decoded = decodeDocument(encodeDocument({ ...document, longestLife: { ms, atMs: 0 } }), NOW_MS);
    assert.match(decoded.kind === 'fault' ? decoded.detail : 'a document', /longestLife\/ms must/);
  }
});

test('the longest life of any configuration is accepted in a document', () => {
  const [domain] = Object.values(configShape.properties.domains.patternProperties);
  assert.ok(domain !== undefined);
  const fields = domain.properties.freshness.properties;
  const most = (name: keyof typeof fields): number =>
    Number(Reflect.get(fields[name], 'x-max') ?? Reflect.get(fields[name], 'maximum'));
  const policy = {
    ttlMs: most('ttl'),
    emptyTtlMs: most('emptyTtl'),
    staleWhileRevalidateMs: most('staleWhileRevalidate'),
    staleIfErrorMs: most('staleIfError'),
    jitter: most('jitter'),
  };
  assert.equal(longestLifeMs(policy), MAX_LIFE_MS);
});

test('the longest life counts pages without results too', () => {
  const policy = { ttlMs: 10, emptyTtlMs: 20, staleWhileRevalidateMs: 1, staleIfErrorMs: 2, jitter: 0.5 };
  assert.equal(longestLifeMs(policy), 32);
  assert.equal(longestLifeMs({ ...policy, ttlMs: 40 }), 62);
});

test('a document without a longest life is pruned by the life of the process that changes it', () => {
  const document = purge(emptyDocument, 'shoes', 0);
  assert.deepEqual(noteLongestLife(document, 5, HOUR_MS).longestLife, { ms: HOUR_MS, atMs: 5 });
  assert.deepEqual(prune(document, 4 * HOUR_MS, HOUR_MS).purges, []);
});
