import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostReader } from '../../../src/operations/doctor/collect/host.ts';
import { createExaminer } from '../../../src/operations/doctor/create-doctor.ts';
import type { ReadHost } from '../../../src/operations/doctor/doctor.ts';
import { known } from '../../../src/operations/doctor/facts.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeEngineProbe, createFakeStoreProbe } from './fake-probes.ts';
import { engineWith, hostWith, serviceWith } from './harness.ts';

const readHost: ReadHost = async () => hostWith();
const LONGEST_WINDOW_MS = 15_000;

test('a series is four full snapshots whose beginnings are the window apart', async () => {
  const clock = createFakeClock();
  const windowMs = 500;
  // A reading takes the whole window, so that the examiner need not wait.
  const engine = createFakeEngineProbe(() => {
    clock.advance(windowMs);
    return engineWith();
  });
  const examiner = createExaminer({ stores: [], engines: [engine], readHost, clock });
  const [first, ...others] = await examiner.series(windowMs);
  assert.ok(first);
  assert.deepEqual(
    others.map(({ atMs, wallMs }) => [atMs - first.atMs, wallMs - first.wallMs]),
    [1, 2, 3].map((count) => [count * windowMs, count * windowMs]),
  );
  assert.deepEqual(engine.depths, ['full', 'full', 'full', 'full']);
});

test('a window that is longer than a reading is waited for', async () => {
  const windowMs = 30;
  const examiner = createExaminer({ stores: [], engines: [createFakeEngineProbe()], readHost, clock: systemClock });
  const snapshots = await examiner.series(windowMs);
  for (const [at, { atMs }] of snapshots.entries()) {
    const before = snapshots[at - 1];
    // Less than the window when the snapshot before was late.
    if (before !== undefined) assert.ok(atMs - before.atMs > windowMs / 3, `${atMs - before.atMs}`);
  }
});

/** Members that are not known are absent in JSON. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutUndefined(member)]));
}

for (const depth of ['cheap', 'full'] as const) {
  test(`a ${depth} snapshot is plain JSON`, async (t) => {
    const examiner = createExaminer({
      stores: [createFakeStoreProbe()],
      engines: [createFakeEngineProbe()],
      clock: systemClock,
      readHost: createHostReader({ role: 'service', clock: systemClock }),
      readService: async () => serviceWith(),
    });
    t.after(examiner.close);
    const snapshot = await examiner.snapshot(depth);
    assert.deepEqual(JSON.parse(JSON.stringify(snapshot)), withoutUndefined(snapshot));
    const [node] = known(snapshot.stores[0]?.nodes ?? assert.fail()) ?? [];
    assert.equal(known(node?.info ?? assert.fail())?.['redis_version'], '7.0.15');
    assert.equal(snapshot.service?.processId, serviceWith().processId);
    assert.equal(snapshot.depth, depth);
    assert.equal(snapshot.loopMaxMs === undefined, depth === 'cheap');
  });
}

test('without a service a snapshot has no figures of one', async () => {
  const examiner = createExaminer({ stores: [], engines: [], readHost, clock: systemClock });
  assert.equal((await examiner.snapshot('cheap')).service, undefined);
});

test('the host names of stores are resolved from the first look on, and those of engines from the second', async () => {
  const asked: (readonly string[])[] = [];
  const settings = { ...engineWith().settings, hostName: 'search.internal' };
  const examiner = createExaminer({
    stores: [createFakeStoreProbe({ hostNames: ['redis.internal'] })],
    engines: [createFakeEngineProbe(() => engineWith({ settings }))],
    readHost: async (_depth, names) => {
      asked.push(names);
      return hostWith();
    },
    clock: systemClock,
  });
  await examiner.snapshot('cheap');
  await examiner.snapshot('cheap');
  await examiner.snapshot('cheap');
  const both = ['redis.internal', 'search.internal'];
  assert.deepEqual(asked, [['redis.internal'], both, both]);
});

test('close ends a series that waits for its next snapshot, and closes every probe', async () => {
  const [store, engine] = [createFakeStoreProbe({ nodes: { known: [] } }), createFakeEngineProbe()];
  const examiner = createExaminer({ stores: [store], engines: [engine], readHost, clock: systemClock });
  const series = examiner.series(LONGEST_WINDOW_MS);
  const ended = assert.rejects(series, { name: 'AbortError' });
  await examiner.snapshot('cheap');
  await examiner.close();
  await ended;
  assert.ok(store.isClosed() && engine.isClosed());
  await assert.rejects(examiner.series(1), { name: 'AbortError' });
});
