import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { createHostReader } from '../../../../src/operations/doctor/collect/host.ts';
import { type Figure, type HostFacts, known } from '../../../../src/operations/doctor/facts.ts';
import { folderWith } from '../../../folder.ts';

const CLOCK = { wallMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };
const COSTLY = ['qdiscs', 'intrinsic', 'dns', 'servers'] as const;

/** Missing figures with their reasons. */
function missing(host: HostFacts, names: readonly (keyof HostFacts)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const figure = host[name] as Figure<unknown>;
      return 'skipped' in figure ? [[name, figure.skipped]] : [];
    }),
  );
}

function readerAt(t: TestContext, files: Readonly<Record<string, string>>) {
  return createHostReader({ role: 'service', clock: CLOCK, root: folderWith(t, files), tc: ['no-such-program'] });
}

test('a cheap reading of this machine has every figure that costs only files', async () => {
  const host = await createHostReader({ role: 'service', clock: CLOCK })('cheap', ['localhost']);
  assert.deepEqual([host.name, host.role, host.wallMs], [hostname(), 'service', CLOCK.wallMs()]);
  assert.ok(host.addresses.includes('127.0.0.1'));
  assert.ok((known(host.memory)?.swappedIn ?? -1) >= 0);
  assert.deepEqual(missing(host, COSTLY), Object.fromEntries(COSTLY.map((name) => [name, 'cheap'])));
});

test('a full reading of this machine measures its timers and its names', async () => {
  const host = await createHostReader({ role: 'part', clock: CLOCK })('full', ['localhost']);
  const { qdiscs, intrinsic, ...others } = missing(host, COSTLY);
  assert.ok(qdiscs === undefined || /tc/.test(qdiscs), `${qdiscs}`);
  assert.deepEqual(others, {});
  // A machine with much else to do may be too slow for it.
  if (intrinsic === undefined) {
    const { medianMs = -1, maxMs = -1, samples = 0 } = known(host.intrinsic) ?? {};
    assert.ok(medianMs >= 0 && maxMs >= medianMs && samples >= 50, `${medianMs} ${maxMs} ${samples}`);
  } else {
    assert.equal(intrinsic, 'its thread did not end in time');
  }
  const [localhost] = known(host.dns) ?? [];
  assert.equal(localhost?.name, 'localhost');
  assert.ok(localhost.problem === undefined && localhost.addresses.length > 0);
  assert.doesNotThrow(() => JSON.parse(JSON.stringify(host)));
});

test('a machine without /proc skips each figure with a reason, and its reading does not fail', async (t) => {
  const host = await readerAt(t, {})('full', []);
  assert.deepEqual(missing(host, ['memory', 'qdiscs', 'dns', 'servers']), {
    memory: 'a figure is missing in /proc/vmstat',
    qdiscs: 'the program tc is missing (package iproute2)',
  });
  assert.deepEqual([known(host.dns), known(host.servers)], [[], []]);
});

test('swapped pages are those of /proc/vmstat, and one that is missing is never a 0', async (t) => {
  const whole = await readerAt(t, { 'proc/vmstat': 'xpswpin 1\npswpin 11\npswpout 22\n' })('cheap', []);
  assert.deepEqual(known(whole.memory), { swappedIn: 11, swappedOut: 22 });
  const half = await readerAt(t, { 'proc/vmstat': 'pswpin 11\n' })('cheap', []);
  assert.deepEqual(half.memory, { skipped: 'a figure is missing in /proc/vmstat' });
});
