import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MAX_ACKNOWLEDGEMENT_BYTES } from '../../../src/operations/doctor/acknowledge.ts';
import { isCheap } from '../../../src/operations/doctor/check.ts';
import { CHECKS } from '../../../src/operations/doctor/checks/checks.ts';
import { createDoctor, createExaminer, ENABLES, type Examiner } from '../../../src/operations/doctor/create-doctor.ts';
import type { DoctorEvent, StoreProbe } from '../../../src/operations/doctor/doctor.ts';
import type { EngineFacts, Snapshot } from '../../../src/operations/doctor/facts.ts';
import { ENABLE_NAMES } from '../../../src/operations/doctor/report.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { temporaryFolder } from '../../folder.ts';
import { pluck, rowsOf } from '../../pluck.ts';
import { createFakeEngineProbe, createFakeStoreProbe, silentEngine } from './fake-probes.ts';
import { engineWith, hostWith } from './harness.ts';

const INTERVAL_MS = 15_000;
const MAX_HISTORY = 500;
const SUBJECT = '127.0.0.1:9306 (engine of goods)';
const ACCEPTED = '- { check: engine-unreachable, reason: it is being replaced, until: 2027-01-01 }';

/** A doctor whose timers and clock a test moves, over engines that are silent or not. */
function openDoctor(
  t: TestContext,
  options: {
    readonly intervalMs?: number;
    readonly acknowledged?: string;
    readonly stores?: readonly StoreProbe[];
    /** The answers of each engine; a healthy one unless given. */
    readonly engines?: readonly (() => EngineFacts | Promise<EngineFacts>)[];
    readonly random?: number;
    readonly examiner?: Examiner;
  } = {},
) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { intervalMs = INTERVAL_MS, acknowledged, stores = [], engines = [engineWith], random = 0 } = options;
  const clock = createFakeClock();
  const probes = engines.map((facts) => createFakeEngineProbe(facts));
  const readHost = async () => hostWith({ wallMs: clock.wallMs() });
  const examiner = options.examiner ?? createExaminer({ stores, engines: probes, readHost, clock });
  const events: DoctorEvent[] = [];
  const snapshots: Snapshot[] = [];
  const doctor = createDoctor({
    examiner: {
      ...examiner,
      snapshot: async (depth) => {
        const snapshot = await examiner.snapshot(depth);
        snapshots.push(snapshot);
        return snapshot;
      },
    },
    stores,
    intervalMs,
    acknowledged,
    clock,
    random: () => random,
    observe: (event) => events.push(event),
  });
  t.after(doctor.close);
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    t.mock.timers.tick(ms);
    await settled();
  };
  /** Looks once, or again and again. */
  const look = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) await advance(INTERVAL_MS);
  };
  const told = (): readonly string[] =>
    events.flatMap((event) => (event.kind === 'doctor-finding' ? [`${event.line.change} ${event.line.check}`] : []));
  /** The metric after each window. */
  const counts = (check: string): readonly (number | undefined)[] =>
    events.flatMap((event) =>
      event.kind === 'doctor-window' ? [event.findings.find((one) => one.check === check)?.count] : [],
    );
  return { doctor, clock, probes, events, snapshots, advance, look, told, counts };
}

/** The fakes answer without timers: a turn of the event loop ends every look. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const fileWith = (t: TestContext, text: string): string =>
  join(temporaryFolder(t, { 'acknowledged.yaml': text }), 'acknowledged.yaml');

test('a finding is told once when it is raised and once when it is cleared, and its metric falls to 0', async (t) => {
  let isSilent = false;
  const { doctor, look, told, counts } = openDoctor(t, { engines: [() => (isSilent ? silentEngine() : engineWith())] });
  await look(2);
  assert.deepEqual(doctor.standing()?.findings, []);
  isSilent = true;
  await look(4);
  assert.deepEqual(told(), ['raised engine-unreachable']);
  assert.deepEqual(doctor.standing()?.counts, { critical: 1, warning: 0, info: 0 });
  assert.equal(doctor.standing()?.findings[0]?.subject, SUBJECT);
  isSilent = false;
  await look(4);
  assert.deepEqual(told(), ['raised engine-unreachable', 'cleared engine-unreachable']);
  assert.deepEqual(doctor.standing()?.findings, []);
  assert.deepEqual(counts('engine-unreachable'), [0, 0, 1, 1, 1, 1, 0, 0, 0]);
  assert.deepEqual(rowsOf(doctor.history(), 'change', 'check', 'severity', 'subject'), [
    ['raised', 'engine-unreachable', 'critical', SUBJECT],
    ['cleared', 'engine-unreachable', 'critical', SUBJECT],
  ]);
});

test('each window tells the count of every cheap check, zeroes included', async (t) => {
  const { events, look } = openDoctor(t);
  await look(2);
  const windows = events.flatMap((event) => (event.kind === 'doctor-window' ? [event.findings] : []));
  const zeroes = CHECKS.filter(isCheap).map(({ id, severity }) => ({ check: id, severity, count: 0 }));
  assert.deepEqual(windows, [zeroes]);
});

test('the first look is at a random moment of the first second, and the others an interval after the last', async (t) => {
  const { doctor, snapshots, advance } = openDoctor(t, { random: 0.5 });
  await advance(499);
  assert.equal(snapshots.length, 0);
  await advance(1);
  assert.equal(snapshots.length, 1);
  assert.equal(doctor.standing(), undefined, 'one snapshot is no window');
  await advance(INTERVAL_MS - 1);
  assert.equal(snapshots.length, 1);
  await advance(1);
  assert.deepEqual(pluck(snapshots, 'depth'), ['cheap', 'cheap']);
  assert.deepEqual(doctor.standing()?.counts, { critical: 0, warning: 0, info: 0 });
});

test('an accepted finding is left out of the counts and the metric, and stands apart', async (t) => {
  const acknowledged = fileWith(t, ACCEPTED);
  const { doctor, look, counts } = openDoctor(t, { acknowledged, engines: [silentEngine] });
  await look(3);
  assert.deepEqual(doctor.standing()?.findings, []);
  assert.deepEqual(doctor.standing()?.counts, { critical: 0, warning: 0, info: 0 });
  assert.equal(doctor.standing()?.acknowledged[0]?.acknowledged?.reason, 'it is being replaced');
  assert.deepEqual(counts('engine-unreachable'), [0, 0]);
  // The file is read again at each window.
  writeFileSync(acknowledged, '');
  await look();
  assert.equal(doctor.standing()?.counts.critical, 1);
});

test('the history keeps the newest 500 lines', async (t) => {
  let isSilent = false;
  const engines = Array.from({ length: 120 }, (_, at) => () => {
    const change = { endpoint: `10.0.0.1:${9000 + at}` };
    return isSilent ? silentEngine(change) : engineWith(change);
  });
  const { doctor, look, told } = openDoctor(t, { engines });
  for (let time = 0; time < 6; time += 1) {
    isSilent = time % 2 === 0;
    await look(3);
  }
  assert.ok(told().length > MAX_HISTORY, `${told().length} lines`);
  assert.equal(doctor.history().length, MAX_HISTORY);
  assert.deepEqual(
    doctor.history().map(({ change, check }) => `${change} ${check}`),
    told().slice(-MAX_HISTORY),
  );
});

test('an interval of 0 never looks', async (t) => {
  const { doctor, probes, advance } = openDoctor(t, { intervalMs: 0 });
  await advance(3_600_000);
  assert.deepEqual(probes[0]?.depths, []);
  assert.equal(doctor.standing(), undefined);
});

test('close ends the looks and closes every probe', async (t) => {
  const store = createFakeStoreProbe({ nodes: { known: [] } });
  const { doctor, probes, look } = openDoctor(t, { stores: [store] });
  await look(2);
  assert.equal(probes[0]?.depths.length, 2);
  await doctor.close();
  assert.ok(store.isClosed() && probes[0]?.isClosed());
  await look(3);
  assert.equal(probes[0]?.depths.length, 2);
});

test('a look that is in progress at the close tells nothing, and no other follows', async (t) => {
  let answer: (() => void) | undefined;
  const held = async (): Promise<EngineFacts> => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return silentEngine();
  };
  let isHeld = false;
  const { doctor, events, probes, look } = openDoctor(t, { engines: [() => (isHeld ? held() : silentEngine())] });
  await look(2);
  isHeld = true;
  await look();
  await doctor.close();
  const before = events.length;
  answer?.();
  await settled();
  await look(2);
  assert.equal(events.length, before);
  assert.equal(probes[0]?.depths.length, 3);
});

/** Gives the series of a test, each second of which is one window. */
function scripted(clock: { readonly nowMs: () => number }, engine: () => EngineFacts) {
  const asked: (number | undefined)[] = [];
  const examiner: Examiner = {
    snapshot: () => assert.fail('no cheap look'),
    series: async (windowMs) => {
      asked.push(windowMs);
      const begunMs = clock.nowMs();
      return Array.from({ length: 4 }, (_, at): Snapshot => {
        const time = { atMs: begunMs + 1000 * at, wallMs: begunMs + 1000 * at };
        return { ...time, depth: 'full', stores: [], engines: [engine()], hosts: [] };
      });
    },
    close: async () => {},
  };
  return { examiner, asked };
}

test('an examination judges three windows, and callers at the same time share it', async (t) => {
  const { examiner, asked } = scripted({ nowMs: () => 0 }, silentEngine);
  const { doctor } = openDoctor(t, { intervalMs: 0, examiner });
  const [one, other] = await Promise.all([doctor.examine({ windowMs: 700 }), doctor.examine()]);
  assert.equal(one, other);
  assert.deepEqual(asked, [700]);
  const { report, snapshots } = one;
  assert.equal(snapshots.length, 4);
  assert.deepEqual([report.windows, report.windowSeconds], [3, 1]);
  assert.deepEqual(
    report.findings.map(({ check, seen }) => `${check}: ${seen}`),
    ['engine-unreachable: 3 of 3 windows of 1.0 s'],
  );
  assert.notEqual(await doctor.examine(), one);
});

test('an examination within a minute of the last one keeps its findings by their lower thresholds', async (t) => {
  let rttMs = 300;
  let nowMs = 0;
  const { examiner } = scripted({ nowMs: () => nowMs }, () => engineWith({ rttMs: { known: rttMs } }));
  const { doctor, clock } = openDoctor(t, { intervalMs: 0, examiner });
  const examine = async (afterMs: number): Promise<readonly string[]> => {
    clock.advance(afterMs);
    nowMs += afterMs;
    return (await doctor.examine()).report.findings.map(({ check }) => check);
  };
  assert.deepEqual(await examine(0), ['engine-latency']);
  // Below the threshold that raises, above the one that clears.
  rttMs = 150;
  assert.deepEqual(await examine(30_000), ['engine-latency']);
  assert.deepEqual(await examine(61_000), []);
});

test('a file of acknowledgements that is missing, too large or wrong is a remark, and accepts nothing', async (t) => {
  const faults: readonly (readonly [string, RegExp])[] = [
    [join(tmpdir(), 'serpcache-no-such-folder', 'acknowledged.yaml'), /cannot be read: ENOENT/],
    [tmpdir(), /cannot be read: EISDIR|is larger than/],
    [fileWith(t, `${ACCEPTED}\n${'#'.repeat(MAX_ACKNOWLEDGEMENT_BYTES)}`), /is larger than 65536 bytes/],
    [fileWith(t, '- ['), /no YAML/],
  ];
  for (const [acknowledged, remark] of faults) {
    const { examiner } = scripted({ nowMs: () => 0 }, silentEngine);
    const clock = createFakeClock();
    const options = { examiner, stores: [], intervalMs: 0, acknowledged, clock, random: () => 0, observe: () => {} };
    const { report } = await createDoctor(options).examine();
    assert.equal(report.remarks.length, 1);
    assert.match(report.remarks[0] ?? '', remark);
    assert.equal(report.findings.length, 1);
  }
});

const ADDRESSES = { master: '10.0.0.1:6379', replica: '10.0.0.2:6379', sentinel: '10.0.0.3:26379' };
const NODES = (['master', 'replica', 'sentinel'] as const).map((role) => ({ role, address: ADDRESSES[role] }));
const COMMANDS = {
  slowlog: ['CONFIG SET slowlog-log-slower-than 10000', 'CONFIG SET slowlog-max-len 512'],
  'latency-monitor': ['CONFIG SET latency-monitor-threshold 50'],
  reset: ['SLOWLOG RESET', 'LATENCY RESET'],
};

for (const name of ENABLE_NAMES) {
  test(`enable ${name} sends its commands to masters and replicas, and nothing else`, async (t) => {
    const store = createFakeStoreProbe({ nodes: { known: NODES } });
    const { doctor } = openDoctor(t, { intervalMs: 0, stores: [store] });
    const commands = COMMANDS[name];
    const data = [ADDRESSES.master, ADDRESSES.replica];
    assert.deepEqual(await doctor.enable(name), { name, nodes: data.map((node) => ({ node, commands })) });
    assert.deepEqual(
      store.changes.toSorted(),
      data.flatMap((node) => commands.map((one) => `${node}: ${one}`)).toSorted(),
    );
    assert.deepEqual(
      ENABLES[name].map((command) => command.join(' ')),
      commands,
    );
  });
}

test('a node that refuses is told with its words, gets no further command, and the others are changed', async (t) => {
  const refusing = { [ADDRESSES.master]: 'NOPERM this user has no permissions' };
  const store = createFakeStoreProbe({ nodes: { known: NODES }, refusing });
  const away = createFakeStoreProbe({ name: 'control store', nodes: { skipped: 'no node answered' } });
  const { doctor } = openDoctor(t, { intervalMs: 0, stores: [store, away] });
  const commands = COMMANDS.reset;
  assert.deepEqual((await doctor.enable('reset')).nodes, [
    { node: ADDRESSES.master, commands, refused: 'NOPERM this user has no permissions' },
    { node: ADDRESSES.replica, commands },
    { node: 'control store', commands, refused: 'no node answered' },
  ]);
  assert.deepEqual(away.changes, []);
  assert.deepEqual(
    store.changes.filter((change) => change.startsWith(ADDRESSES.master)),
    [`${ADDRESSES.master}: SLOWLOG RESET`],
  );
});

test('a look that fails is told, and the next look comes', async (t) => {
  let looks = 0;
  const examiner: Examiner = {
    snapshot: () => {
      looks += 1;
      return Promise.reject(new Error('no file descriptor is left'));
    },
    series: () => Promise.reject(new Error('not asked')),
    close: async () => {},
  };
  const { look, events } = openDoctor(t, { examiner });
  await look(2);
  assert.ok(looks >= 2, `${looks} looks`);
  assert.deepEqual(events[0], { kind: 'doctor-failed', detail: 'Error: no file descriptor is left' });
});
