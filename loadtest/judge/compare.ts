import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { countText, percentText, perSecondText } from '../../src/report/format.ts';
import { plannedRate } from '../k6/kit/step.ts';
import { CannotRun, type RunRecord } from './record.ts';
import { type StepFigures, stepFigures } from './step-figures.ts';

export type Comparison = ReturnType<typeof compareRuns>;
export type StepComparison = ReturnType<typeof stepComparison>;

export type FigureComparison = StepComparison['figures'][number];

/** One run against one earlier run, without a statement about further runs. */
export function compareRuns(now: RunRecord, earlier: RunRecord) {
  const before = new Map(stepFigures(earlier).map((step) => [step.summary.step.name, step]));
  // Steps that both runs have, in the order of the current one.
  const steps = stepFigures(now).flatMap((step) => {
    const other = before.get(step.summary.step.name);
    return other === undefined ? [] : [stepComparison(step, other)];
  });
  const notes = differencesOf(now, earlier);
  const comparable = steps.filter(({ isComparable }) => isComparable).length;
  const words = [
    `One run against one run: ${comparable} of ${steps.length} steps of the same name ran at the same rate in both.`,
    ...(notes.length === 0 ? [] : ['More than the service was different, so a difference may be of either.']),
    'Two runs do not tell a change from chance.',
  ];
  return { now: now.id, earlier: earlier.id, notes, steps, words: words.join(' ') };
}

function stepComparison(now: StepFigures, earlier: StepFigures) {
  type Unit = 'perSecond' | 'ms' | 'share' | 'cores';
  const figure = (name: string, unit: Unit, read: (step: StepFigures) => number | undefined) => {
    const [one, other] = [read(now), read(earlier)];
    /** Undefined where one is unknown or the earlier is 0. */
    const ratio = one === undefined || other === undefined || other === 0 ? undefined : one / other;
    return { name, unit, now: one, earlier: other, ratio };
  };
  return {
    name: now.summary.step.name,
    /** Planned at the same rate, and executed in both. */
    isComparable:
      ran(now) && ran(earlier) && isSameRate(plannedRate(now.summary.step), plannedRate(earlier.summary.step)),
    figures: [
      figure('searches', 'perSecond', (step) => (ran(step) ? step.searchesPerSecond : undefined)),
      figure('p50', 'ms', ({ summary }) => summary.latencyMs?.p50),
      figure('p99', 'ms', ({ summary }) => summary.latencyMs?.p99),
      figure('error rate', 'share', ({ summary }) => summary.errorRate),
      figure('hit ratio', 'share', ({ summary }) => summary.hitRatio),
      figure('engine calls', 'perSecond', ({ engineCallsPerSecond }) => engineCallsPerSecond),
      figure('serpcache', 'cores', ({ serviceCores }) => serviceCores),
    ],
  };
}

function ran({ summary }: StepFigures): boolean {
  return summary.searches > 0;
}

/** Rates that differ by a smaller share were meant to be equal. */
const SAME_RATE = 0.05;

function isSameRate(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_RATE * Math.max(one, other);
}

/** Differences other than the service, the most important first, as sentences. Empty: the runs can be compared. */
function differencesOf(now: RunRecord, earlier: RunRecord): readonly string[] {
  const differ = (what: string, read: (run: RunRecord) => string): readonly string[] =>
    read(now) === read(earlier) ? [] : [`${what}: ${read(now)}, earlier ${read(earlier)}.`];
  const [one, other] = [now.summary.baseRps, earlier.summary.baseRps];
  return [
    ...differ('Script', ({ summary }) => summary.script),
    ...[now, earlier].flatMap(({ verdict }, at) =>
      verdict.kind === 'invalid'
        ? [`${at === 0 ? 'This' : 'The earlier'} run is invalid because of its generator.`]
        : [],
    ),
    ...(isSameRate(one, other) ? [] : [`Base rate: ${perSecondText(one)}, earlier ${perSecondText(other)}.`]),
    ...differ('Cores of the machine', ({ machine }) => countText(machine.cores)),
    ...differ('Processors of the generator', ({ machine }) => machine.generatorCpus ?? 'any'),
    ...differ('Processors of the service', ({ machine }) => machine.serviceCpus ?? 'any'),
    ...differ('k6', ({ machine }) => machine.k6),
    ...differ('Stack', ({ stack }) => stack),
    ...differ('Queries', ({ summary: { queries } }) => `${countText(queries.count)} of ${queries.domains.join(', ')}`),
    ...differ('Zipf–Mandelbrot exponent', ({ summary: { queries } }) => String(queries.exponent)),
    ...differ('Zipf–Mandelbrot offset', ({ summary: { queries } }) => String(queries.offset)),
    ...differ('Searches that never repeat', ({ summary: { queries } }) => percentText(queries.onceShare)),
  ];
}

/**
 * The run to compare with. `latest` is the last valid run of this script; undefined when there is none.
 * @throws CannotRun when a folder was named and holds no run of this script.
 */
export async function earlierRun(against: string, out: string, script: string): Promise<RunRecord | undefined> {
  if (against !== 'latest') {
    const record = await readRecord(resolve(against));
    if (record === undefined) throw new CannotRun(`--against ${against}: no run.json of this version is there`);
    if (record.summary.script === script) return record;
    throw new CannotRun(`--against ${against}: that was ${record.summary.script}, this is ${script}`);
  }
  const names = await readdir(out).catch(() => []);
  const own = names.filter((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/.test(name) && name.slice(20) === script);
  for (const name of own.sort().toReversed()) {
    const record = await readRecord(join(out, name));
    if (record !== undefined && record.verdict.kind !== 'invalid') return record;
  }
  return undefined;
}

async function readRecord(folder: string): Promise<RunRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as RunRecord;
    if (record.version !== 1) return undefined;
    // A damaged record must show before any load is sent.
    compareRuns(record, record);
    return record;
  } catch {
    return undefined;
  }
}
