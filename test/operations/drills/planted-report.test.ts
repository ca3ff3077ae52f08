import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { JOURNALS, type Journal } from '../../../src/operations/drills/journal.ts';
import { reportPage } from '../../../src/operations/drills/report/report-page.ts';
import { HEAD_REPORT } from '../../../src/operations/drills/run-drill.ts';
import { DURATION_BOUNDS_MS, figuresBetween, type MeterReading } from '../../../src/operations/meter/figures.ts';
import { encodeRecord } from '../../../src/report/record-archive.ts';
import { OUTCOMES } from '../../../src/search/outcome.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { idle } from '../../fakes/idle.ts';
import { SCENES } from '../../fakes/journal.ts';
import { temporaryFolder } from '../../folder.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import { createDrillHarness, planOf } from './harness.ts';

const QUICK = planOf({ stages: [{ fraction: 0.5, holdMs: 1000 }], baselineMs: 1000, afterMs: 1000 });
const ID = '20260101-000000-goods-x-aaaa';
const TTL_MS = 600_000;

const journalOf = async (t: TestContext): Promise<Journal> => {
  const harness = createDrillHarness(t);
  return harness.run(QUICK);
};

test('a head with an invalid mark is listed as unreadable, and the list stays complete', async (t) => {
  const clock = createFakeClock();
  const store = createMemoryControlStore({ clock });
  const owner = createDrillHarness(t, { clock, store, processId: 'owner' });
  const other = createDrillHarness(t, { clock, store, processId: 'other' });
  const { id } = await owner.start(planOf());
  const head = await owner.drills.journal(id);
  await untilHolds(() => other.control().overlay() !== undefined);
  const bad: readonly (readonly [object, RegExp])[] = [
    [{ marks: [null] }, /\/marks\/0/],
    [{ marks: [{ kind: 'phase', atMs: '1', domain: 'goods', phase: 'hold' }] }, /\/marks\/0/],
    [{ plan: { stages: [] } }, /\/plan/],
    [{ startedAtMs: 1e300 }, /\/startedAtMs/],
    [{ id: '../../etc/passwd' }, /\/id/],
    [{ domains: 'goods' }, /\/domains/],
    [{ state: { kind: 'running' } }, /\/state/],
    [{ learned: [{ domain: 'goods', baseline: {}, stages: [] }] }, /\/learned/],
    [{ reason: 'x'.repeat(100_000) }, /\/reason/],
  ];
  for (const [fields, why] of bad) {
    const planted = Buffer.from(JSON.stringify({ ...head, samples: [], owner: 'somebody', ...fields }));
    await store.report('goods', HEAD_REPORT, planted, TTL_MS, 0);
    const [shown, ...more] = (await other.drills.list()).unreadable;
    assert.equal(shown?.where, 'the control store of goods', JSON.stringify(fields).slice(0, 100));
    assert.match(shown?.why ?? '', why);
    assert.ok((shown?.why.length ?? 0) <= 200 && more.length === 0);
  }
  await store.report('goods', HEAD_REPORT, Buffer.from(JSON.stringify({ ...head, samples: [] })), TTL_MS, 0);
  const { drills, unreadable } = await other.drills.list();
  assert.deepEqual(pluck(drills, 'id'), [id]);
  assert.deepEqual(unreadable, []);
});

test('a damaged file is listed as unreadable, and the others are listed, read and rendered', async (t) => {
  const directory = temporaryFolder(t);
  const good = await journalOf(t);
  await writeFile(join(directory, `${good.id}.json`), encodeRecord(good));
  const bad: Journal = { ...good, id: ID, marks: [null as never] };
  await writeFile(join(directory, `${ID}.json`), encodeRecord(bad));
  const huge = '20260101-000001-goods-x-aaaa';
  await writeFile(join(directory, `${huge}.json`), '');
  await truncate(join(directory, `${huge}.json`), 65 * 2 ** 20);
  const harness = createDrillHarness(t, { directory, reportPage });
  for (let look = 0; look < 2; look += 1) {
    const { drills, unreadable } = await harness.drills.list();
    assert.deepEqual(pluck(drills, 'id'), [good.id]);
    assert.deepEqual(
      unreadable.map(({ id, why }) => [id, /marks\/0|bytes/.exec(why)?.[0]]),
      [
        [huge, 'bytes'],
        [ID, 'marks/0'],
      ],
    );
  }
  assert.match(await harness.drills.page(good.id), /<html/);
  await assert.rejects(harness.drills.page(ID), { code: 'unknown-drill', message: /cannot be read.*marks/ });
  await assert.rejects(harness.drills.journal(huge), { code: 'unknown-drill', message: /bytes/ });
});

test('a journal under the name of another drill is unreadable, and the list of unreadable files is bounded', async (t) => {
  const directory = temporaryFolder(t);
  const good = await journalOf(t);
  const names = Array.from({ length: 80 }, (_, n) => `20260101-0000${String(n).padStart(2, '0')}-goods-x-aaaa`);
  for (const name of names) await writeFile(join(directory, `${name}.json`), encodeRecord(good));
  const harness = createDrillHarness(t, { directory, keep: 100 });
  const { drills, unreadable: shown } = await harness.drills.list();
  assert.deepEqual(drills, []);
  assert.equal(shown.length, 64);
  assert.equal(shown[0]?.why, `it is the journal of ${good.id}`);
});

test('this version reads every journal that it writes', () => {
  for (const scene of Object.values(SCENES)) {
    const journal = scene();
    const read = JOURNALS.read(JSON.parse(JSON.stringify(journal)));
    assert.equal(read.kind, 'record', read.kind === 'unreadable' ? `${journal.id}: ${read.why}` : '');
  }
});

test('readings of other processes never make a journal unreadable', async (t) => {
  const good = await journalOf(t);
  const amount = fc.oneof(fc.constantFrom(0, 1e-9, 1, 1e12), fc.double({ min: 0, max: 1e12, noNaN: true }));
  const reading: fc.Arbitrary<MeterReading> = fc.record({
    atMs: amount,
    outcomes: fc.record(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, amount]))) as fc.Arbitrary<
      MeterReading['outcomes']
    >,
    durations: fc.array(amount, { minLength: DURATION_BOUNDS_MS.length + 1, maxLength: DURATION_BOUNDS_MS.length + 1 }),
    engine: fc.record({
      ...{ calls: amount, failed: amount, busyMs: amount, inFlight: amount, queued: amount },
      ...{ maxConcurrent: amount, ceiling: amount, breaker: fc.constant('closed' as const) },
    }),
    cohorts: fc.array(fc.record({ searches: amount, hits: amount }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(reading, reading, (before, after) => {
      const baseline = figuresBetween(new Map([['planted', before]]), new Map([['planted', after]]));
      const learned = good.learned.map((one) => ({ ...one, baseline }));
      const read = JOURNALS.read(JSON.parse(JSON.stringify({ ...good, learned })));
      assert.ok(read.kind === 'record', read.kind === 'unreadable' ? read.why : '');
      assert.match(reportPage(read.record), /<html/);
    }),
    { numRuns: 50 },
  );
});

test('with any value in place of any member a journal is rendered or listed as unreadable', async (t) => {
  const good: unknown = JSON.parse(JSON.stringify(await journalOf(t)));
  const places = placesIn(good);
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.jsonValue(), (path, foreign) => {
      const read = JOURNALS.read(replaced(good, path, foreign));
      if (read.kind === 'record') assert.match(reportPage(read.record), /<html/, path.join('.'));
      else assert.ok(read.why.length > 0 && read.why.length <= 200);
    }),
    { numRuns: 100 },
  );
});

type Path = readonly (string | number)[];

/** The paths of every member, and of the first items of lists. */
function placesIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const parts: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.slice(0, 2).map((item: unknown, index) => [index, item])
    : Object.entries(value);
  return [...(path.length === 0 ? [] : [path]), ...parts.flatMap(([step, part]) => placesIn(part, [...path, step]))];
}

function replaced(value: unknown, [step, ...rest]: Path, foreign: unknown): unknown {
  if (step === undefined) return foreign;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? replaced(item, rest, foreign) : item));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === step ? replaced(part, rest, foreign) : part]),
  );
}

async function untilHolds(holds: () => boolean): Promise<void> {
  await until('the reports', holds);
  await idle();
}
