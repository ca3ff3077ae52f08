/**
 * `npm run doctor:rehearsal`: real stores, a search engine and a service under load; faults one by one and in pairs, and a
 * healthy stack at x1 and x5. Prints what the doctor found and what it should have; exit status 1 when one is missed or a
 * finding is untrue. Loopback and a network namespace only; ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { columns } from '../../src/commands/terminal.ts';
import { CHECKS } from '../../src/operations/doctor/checks/checks.ts';
import type { Finding as DoctorFinding, Report } from '../../src/operations/doctor/report.ts';
import { FAULTS, type Fault, PAIRS } from './doctor-faults.ts';
import { type DoctorHarness, startDoctorHarness } from './doctor-harness.ts';
import { farLimiter, inReverse } from './doctor-provoke.ts';
import { chosenNames, type Figures, findingOf, originHere, publishMeasured, say } from './rehearse.ts';

const PAGE = 'src/operations/doctor/README.md';
const X1 = 100;
/** More than x1, so that every store is read often enough to be judged within a second. */
const FAULTS_RATE = 300;
const HEALTHY_EXAMINATIONS = 8;
/** Time to see a fault, and to see its end. */
const LIMIT_MS = 40_000;
const WARM_MS = 8000;

const PARTS = [...Object.keys(FAULTS), 'far-limiter', 'pairs', 'healthy'];

const PROGRAM: Program = {
  command: 'npm run doctor:rehearsal --',
  usage: '[options]',
  about: [
    `Provokes ${Object.keys(FAULTS).length} faults on real servers, ${PAIRS.length} pairs of them, and looks at the healthy stack at x1 and x5; about 12 minutes.`,
  ],
  options: [
    { name: 'only', takes: 'A,B', about: `some of ${PARTS.join(', ')}` },
    { name: 'healthy', takes: 'N', about: 'looks at the healthy stack alone: N times at x1 and N times at x5' },
    { name: 'publish', about: 'write the table into the page of the room; not with --only or --healthy' },
  ],
  takes: { min: 0, max: 0 },
};

interface Row {
  readonly part: 'fault' | 'pair' | 'healthy';
  readonly what: string;
  readonly expected: string;
  readonly found: string;
  readonly seenSeconds?: number;
  readonly clearedSeconds?: number;
  readonly untrue: readonly string[];
  readonly met: boolean;
}

process.exitCode = await runProgram(PROGRAM, rehearse);

async function rehearse(words: ParsedArguments): Promise<number> {
  const healthyOnly = words.number('healthy', { least: 1, most: 1000, whole: true });
  const names = chosenNames(PARTS, words.text('only'));
  const publish = words.has('publish');
  if (publish && (words.text('only') !== undefined || healthyOnly !== undefined)) {
    throw new UsageError('a page shows the whole rehearsal, not --only or --healthy');
  }
  const origin = await originHere('redis-server', 'valkey-server');
  const harness = await startDoctorHarness(say);
  const rows: Row[] = [];
  const add = (row: Row): void => {
    rows.push(row);
    const untrue = row.untrue.length > 0 ? `; UNTRUE ${row.untrue.join('; ')}` : '';
    say(`${row.met ? 'ok  ' : 'MISS'} ${row.what}: ${row.found}${untrue}`);
  };
  const includes = (name: string): boolean => healthyOnly === undefined && names.has(name);
  try {
    let load = harness.load(FAULTS_RATE);
    await sleep(WARM_MS);
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (includes(name)) add(await provoked(harness, 'fault', [fault]));
    }
    if (includes('far-limiter')) add(await mergedPart(harness));
    for (const pair of includes('pairs') ? PAIRS : []) {
      const faults = pair.flatMap((name) => FAULTS[name] ?? []);
      add(await provoked(harness, 'pair', faults));
    }
    if (healthyOnly !== undefined || includes('healthy')) {
      const count = healthyOnly ?? HEALTHY_EXAMINATIONS;
      for (const times of [1, 5]) {
        load.stop();
        load = harness.load(times * X1);
        await sleep(WARM_MS);
        add(await healthy(harness, times, count));
      }
    }
    load.stop();
  } finally {
    await harness.stop();
  }
  console.log(`\n${textOf(rows)}`);
  const figures = rows.map(figureOf);
  if (publish) {
    const finding = findingOf(figures, {
      title: 'The rehearsal: faults on real servers',
      sentence:
        'The doctor names each fault and each of a pair, says nothing untrue, and is silent about a healthy stack.',
      notes: [
        `A Redis cluster of three, a Valkey server with a replica, a Redis server behind a virtual network, searchd and serpcache on the same processors; ${FAULTS_RATE} searches a second during the faults, ${X1} (x1) and ${5 * X1} (x5) without any.`,
        'Seen: from the fault to the end of the examination that names it; an examination takes three seconds. Cleared: from its end.',
        'Untrue: a finding above info that is neither expected at that server nor a consequence that the rehearsal lists for the fault.',
      ],
    });
    publishMeasured(finding, 'npm run doctor:rehearsal', origin, PAGE);
  }
  return rows.every(({ met }) => met) ? 0 : 1;
}

/** Begins the faults at once, waits for their findings, ends them, and waits until the findings are gone. */
async function provoked(harness: DoctorHarness, part: Row['part'], faults: readonly Fault[]): Promise<Row> {
  const { patients } = harness;
  const before = new Set((await harness.examine()).findings.map(({ check }) => check));
  const allowed = new Set([...before, ...faults.flatMap(({ allows = [] }) => allows)]);
  /** An expected finding about another server than the faulty one is untrue. */
  const isTrue = ({ check, subject }: DoctorFinding): boolean =>
    allowed.has(check) ||
    faults.some(({ expects, at }) => expects.includes(check) && subject.includes(at(patients, check)));
  const untrue = new Set<string>();
  const isSeen = ({ findings }: Report): boolean =>
    faults.every((fault) =>
      fault.expects.every((check) =>
        findings.some((finding) => finding.check === check && finding.subject.includes(fault.at(patients, check))),
      ),
    );
  const note = ({ findings }: Report): void => {
    for (const finding of findings) {
      const { check, severity, subject, evidence } = finding;
      if (severity !== 'info' && !isTrue(finding)) untrue.add(`${check} at ${subject}: ${evidence}`);
    }
  };
  const watch = async (holds: (report: Report) => boolean): Promise<{ seconds?: number; last: Report }> => {
    const beganMs = performance.now();
    for (;;) {
      const last = await harness.examine();
      note(last);
      const tookMs = performance.now() - beganMs;
      if (holds(last)) return { seconds: tookMs / 1000, last };
      if (tookMs > LIMIT_MS) return { last };
    }
  };
  const ends: (() => Promise<void>)[] = [];
  for (const fault of faults) ends.push(await fault.begin(patients));
  const expected = faults.flatMap(({ expects }) => expects);
  let seen: Awaited<ReturnType<typeof watch>>;
  try {
    seen = await watch(isSeen);
  } finally {
    await inReverse(...ends)();
  }
  const cleared = await watch((report) =>
    report.findings.every(
      ({ check, severity }) => before.has(check) || (severity === 'info' && !expected.includes(check)),
    ),
  );
  const missed = expected.filter((check) => !seen.last.findings.some((finding) => finding.check === check));
  return {
    part,
    what: faults.map(({ title }) => title).join(' + '),
    expected: expected.join(', '),
    found:
      seen.seconds === undefined
        ? `not found: ${missed.join(', ') || 'the subject is another one'}`
        : cleared.seconds === undefined
          ? `not cleared: ${graveOf(cleared.last)
              .map(({ check, subject }) => `${check} at ${subject}`)
              .join(', ')}`
          : `found after ${seen.seconds.toFixed(0)} s, gone after ${cleared.seconds.toFixed(0)} s`,
    seenSeconds: seen.seconds,
    clearedSeconds: cleared.seconds,
    untrue: [...untrue],
    met: seen.seconds !== undefined && cleared.seconds !== undefined && untrue.size === 0,
  };
}

/** A fault that only the part of another host shows. */
async function mergedPart(harness: DoctorHarness): Promise<Row> {
  const host = harness.patients.cars.address.replace(/:\d+$/, '');
  const { alone, merged, seconds } = await farLimiter(harness);
  const finds = ({ findings }: Report): boolean => findings.some(({ check }) => check === 'network-limiter');
  const isNamed = alone.looked.unseen.includes(host) && !merged.looked.unseen.includes(host);
  const met = !finds(alone) && isNamed && finds(merged);
  return {
    part: 'fault',
    what: 'tc: the same limiter on the host of the store, which the service cannot see (doctor --host, --merge)',
    expected: 'network-limiter',
    found: met
      ? 'the host is named as not seen, and its part shows it'
      : `seen without the part: ${finds(alone)}; the host is named: ${isNamed}; seen with it: ${finds(merged)}`,
    seenSeconds: met ? seconds : undefined,
    untrue: [],
    met,
  };
}

async function healthy(harness: DoctorHarness, times: number, count: number): Promise<Row> {
  const untrue = new Set<string>();
  for (let at = 0; at < count; at += 1) {
    for (const { check, subject, evidence } of graveOf(await harness.examine())) {
      untrue.add(`${check} at ${subject}: ${evidence}`);
    }
  }
  return {
    part: 'healthy',
    what: `healthy at x${times}, ${count} examinations`,
    expected: 'nothing above info',
    found: untrue.size === 0 ? 'nothing above info' : `${untrue.size} findings`,
    untrue: [...untrue],
    met: untrue.size === 0,
  };
}

function graveOf({ findings }: Report): readonly DoctorFinding[] {
  return findings.filter(({ severity }) => severity !== 'info');
}

function figureOf(row: Row): Figures[number] {
  const { part, what, expected, seenSeconds, clearedSeconds, untrue, met, found } = row;
  const cleared = clearedSeconds === undefined ? '' : `, cleared in ${clearedSeconds.toFixed(0)} s`;
  const times = met && seenSeconds !== undefined ? `seen in ${seenSeconds.toFixed(0)} s${cleared}` : found;
  const scenario = { fault: 'one fault at a time', pair: 'two faults at once', healthy: 'no fault' }[part];
  return [scenario, what, `${times}, ${untrue.length} untrue`, expected, met];
}

function textOf(rows: readonly Row[]): string {
  const seconds = (value: number | undefined): string => (value === undefined ? '–' : `${value.toFixed(0)} s`);
  const cells = rows.map(({ what, expected, seenSeconds, clearedSeconds, untrue, met }) => [
    ...[what, expected, seconds(seenSeconds), seconds(clearedSeconds), String(untrue.length), met ? 'yes' : 'NO'],
  ]);
  const table = columns(cells, ['fault', 'finding', 'seen', 'cleared', 'untrue', 'met']);
  const untrue = rows.flatMap((row) => row.untrue.map((finding) => `untrue during “${row.what}”: ${finding}`));
  const provokedChecks = new Set(rows.flatMap(({ expected }) => expected.split(', ')));
  const own = CHECKS.filter(({ id }) => provokedChecks.has(id)).length;
  return [table, ...untrue, `${own} of ${CHECKS.length} checks were provoked`].join('\n');
}
