import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createClient } from '../../loadtest/traffic/client.ts';
import { type Bed, startBed, targetOf } from './bed.ts';
import { HUNG_MS } from './configuration.ts';
import { all, felt, grew, stateOf } from './felt.ts';
import { BY_NAME, FAMILIES } from './registry.ts';
import type { Row } from './row.ts';

const ROWS: readonly Row[] = [...Object.values(FAMILIES).flat(), ...BY_NAME];
const noBed = {} as Bed;

/** Enough that what grows by traffic alone grows: searches that were asked before, and some that were not. */
async function traffic(bed: Bed): Promise<void> {
  const client = createClient({ baseUrl: bed.subject.url, boundMs: HUNG_MS, maxConnections: 4 });
  for (const text of bed.queries.repeated) await client.get(targetOf(text));
  for (let search = 0; search < 20; search += 1) await client.get(targetOf(bed.once()));
  client.close();
}

describe('no row finds evidence of a fault that did not happen', { timeout: 240_000 }, () => {
  for (const layout of ['plain', 'distributed'] as const) {
    const own = ROWS.filter((row) => (row.layout ?? 'plain') === layout);
    test(`${own.length} rows on ${layout} engines`, async () => {
      const checkout = join(import.meta.dirname, '..', '..');
      const bed = await startBed({ checkout, repeated: 60, documents: 600, layout });
      try {
        for (const rows of Map.groupBy(own, ({ store }) => store).values()) {
          const [first] = rows;
          if (first === undefined) continue;
          await bed.prepare(first);
          bed.engineProxy.resetCounts();
          const watches: (readonly [name: string, traceOf: Awaited<ReturnType<Row['felt']['watch']>>])[] = [];
          // One after the other: the connection of one reading must not be there for another.
          for (const row of rows) watches.push([row.name, await row.felt.watch(bed)]);
          await traffic(bed);
          for (const [name, traceOf] of watches) {
            const trace = await traceOf();
            assert.equal(trace.felt, false, `${name}: ${trace.evidence}`);
            assert.doesNotMatch(trace.evidence, /could not be read/, name);
          }
        }
      } finally {
        await bed.stop();
      }
    });
  }
});

test('evidence compares a reading before with one at the end, and tells both', async () => {
  let count = 1;
  const traceOf = await grew('things', () => [count, 5]).watch(noBed);
  assert.deepEqual(await traceOf(), { felt: false, evidence: 'things: [1,5] → [1,5]' });
  count = 2;
  assert.equal((await traceOf()).felt, false, 'one of two did not grow');
  const counted = await grew('things', () => [count]).watch(noBed);
  count = 3;
  assert.deepEqual(await counted(), { felt: true, evidence: 'things: [2] → [3]' });
});

test('nothing to read and a reading that fails are no evidence', async () => {
  const empty = await grew('things', () => []).watch(noBed);
  assert.equal((await empty()).felt, false);
  const failing = felt(
    'things',
    () => Promise.reject(new Error('no server')),
    () => true,
  );
  assert.deepEqual(await (await failing.watch(noBed))(), {
    felt: false,
    evidence: 'things: could not be read: no server',
  });
});

test('two proofs are one proof when both are given', async () => {
  const says = (is: boolean) =>
    felt(
      'it',
      () => is,
      () => is,
    );
  const both = await all(says(true), says(true)).watch(noBed);
  assert.deepEqual(await both(), { felt: true, evidence: 'it: true → true; it: true → true' });
  const one = await all(says(true), says(false)).watch(noBed);
  assert.equal((await one()).felt, false);
});

test('a process runs, and one that there is not is gone', () => {
  assert.equal(stateOf(process.pid), 'runs');
  assert.equal(stateOf(2 ** 22 + 1), 'gone');
});
