import { PATIENCE_MS } from './configuration.ts';
import { PHASES, type Report } from './report.ts';
import { BOUNDS, type Bounds, type Judgement } from './row.ts';

/** One attempt of a row and its findings. */
export interface Attempt {
  readonly seed: number;
  /** Undefined when the attempt ended before its stream began. */
  readonly report: Report | undefined;
  /** Wrong, hung and dishonest answers: they count even in an invalid attempt. */
  readonly harm: readonly string[];
  /** Other broken promises: they count only in a valid attempt. */
  readonly broken: readonly string[];
  /** Why the attempt is invalid. */
  readonly invalid?: string;
}

/** The result of all attempts of a row. */
export interface RowVerdict {
  readonly name: string;
  readonly attempts: readonly Attempt[];
  /** Report of the last attempt that has one. */
  readonly report: Report | undefined;
  /** The broken promises of all attempts that count. */
  readonly broken: readonly string[];
  /** Why the last attempt is invalid. */
  readonly invalid?: string;
}

/** An invalid attempt is repeated, because the machine may be less busy then. */
export const MAX_ATTEMPTS = 3;
/** Each attempt has another seed, so it asks other searches in another order. */
const SEED_STEP = 1000;

/** Below these floors a ratio depends more on the machine than on the service. */
const P95_FLOOR_MS = 40;
const RSS_FLOOR_BYTES = 150 * 2 ** 20;
/** Maximum p99 lateness of the generator. Above it the load was not the open loop that the row needs. */
const MAX_LAG_MS = 150;
/** Only a machine that is too busy for the read deadline makes the control miss more than this. */
const MIN_CONTROL_HITS = 0.96;

/** The maximum p95 that counts as normal. A busy machine slows the control as well, which raises the limit. */
export function calmBoundMs(
  beforeMs: number,
  controlMs: number,
  ratio = BOUNDS.p95Ratio,
  floorMs = P95_FLOOR_MS,
): number {
  return Math.max(floorMs, ratio * Math.max(beforeMs, controlMs));
}

/** Why an attempt is invalid: it was aborted, its fault did not happen, or the generator, the control or the time before failed. */
export function invalidReason(report: Report): string | undefined {
  if (report.failure !== undefined) return `the row could not be run: ${report.failure}`;
  if (Number.isNaN(report.generatorLagP99Ms)) return 'the generator sent nothing';
  if (report.generatorLagP99Ms > MAX_LAG_MS) {
    return `the generator lagged: p99 ${Math.round(report.generatorLagP99Ms)} ms`;
  }
  const held = PHASES.map((phase) => report.control[phase].knownHitRatio);
  if (held.some(Number.isNaN)) return 'the control was not asked in every phase';
  const control = Math.min(...held);
  if (control < MIN_CONTROL_HITS) return `the control missed, too: it held ${percent(control)} of what it had`;
  const { unanswered } = report.subject.before;
  if (unanswered > 0) return `the machine is too busy: ${percent(unanswered)} were refused before the fault`;
  // After the faults of the machine, under which a fault may reach nothing.
  if (!report.trace.found) return `the fault left no trace: ${report.trace.evidence}`;
  return report.controlFaults[0] === undefined ? undefined : `the control: ${report.controlFaults[0]}`;
}

/** Wrong, hung and dishonest answers. Nothing excuses them, so they count in an invalid attempt as well. */
export function harmOf({ wrong, hung, dishonest }: Pick<Report, 'wrong' | 'hung' | 'dishonest'>): readonly string[] {
  const harm: string[] = [];
  if (wrong.length > 0) harm.push(`${wrong.length} wrong answers, such as ${wrong[0]}`);
  if (hung > 0) harm.push(`${hung} hung requests`);
  if (dishonest.length > 0)
    harm.push(`${dishonest.length} answers that a client cannot act on, such as ${dishonest[0]}`);
  return harm;
}

/** Checks every bound. */
export function judge(report: Report, bounds: Bounds): Judgement {
  const { fault, after, steady, before } = report.subject;
  const broken: string[] = [];
  const unmeasured: string[] = [];
  const measured = (what: string, value: number, holds: boolean, told: string): void => {
    if (Number.isNaN(value)) unmeasured.push(what);
    else if (!holds) broken.push(`${what}: ${told}`);
  };
  const atMost = (what: string, value: number, bound: number, show: (value: number) => string = plain): void =>
    measured(what, value, !(value > bound), `${show(value)}, at most ${show(bound)}`);

  if (!report.samples.some(({ verdict }) => verdict.kind === 'page' && !verdict.degraded)) {
    unmeasured.push('wrong answers');
  }
  const refused = new Set(report.samples.flatMap(({ verdict }) => (verdict.kind === 'shed' ? [verdict.code] : [])));
  const unexpected = [...refused].filter((code) => !bounds.refusals.includes(code));
  if (unexpected.length > 0) broken.push(`refused with ${unexpected.join(', ')}`);
  const total = fault.requests + after.requests + steady.requests + before.requests;
  const example = report.brokenConnections[0] === undefined ? '' : `, such as ${report.brokenConnections[0]}`;
  atMost(`broken connections${example}`, report.brokenConnections.length / total, bounds.brokenConnections, percent);

  atMost('unanswered before the fault', before.unanswered, 0, percent);
  atMost('unanswered during', fault.unanswered, bounds.unansweredDuring, percent);
  atMost('unanswered during, of searches asked before', fault.knownUnanswered, bounds.knownUnansweredDuring, percent);
  atMost('unanswered after', after.unanswered, bounds.unansweredAfter, percent);
  atMost('unanswered once recovered', steady.unanswered, 0, percent);
  const hits = fault.hitRatio / report.control.fault.hitRatio;
  const least = bounds.hitRatioDuring;
  measured('hit ratio during', hits, !(hits < least), `${percent(hits)} of the control's, at least ${percent(least)}`);
  if (Number.isFinite(bounds.refusedWithinMs)) {
    const bound = calmBoundMs(before.p95Ms, report.control.fault.p95Ms, bounds.p95Ratio, bounds.refusedWithinMs);
    atMost('p95 of the refusals', fault.shedP95Ms, bound, milliseconds);
  }
  // No client waits longer than the patience under any fault.
  atMost('slowest answer', Math.max(fault.maxMs, after.maxMs), PATIENCE_MS + SLACK_MS, milliseconds);

  const recovered = report.recoveredAfterMs;
  if (recovered === undefined) broken.push(`not recovered within ${bounds.recoverySeconds} s`);
  else {
    atMost('recovery', recovered / 1000, bounds.recoverySeconds, seconds);
    const bound = calmBoundMs(before.p95Ms, report.control.steady.p95Ms, bounds.p95Ratio);
    if (Number.isNaN(bound)) unmeasured.push('p95 once recovered');
    else atMost('p95 once recovered', steady.p95Ms, bound, milliseconds);
  }
  atMost('engine searches per text', report.engine.searches / report.engine.distinct, bounds.searchesPerKey);
  const rssBound = Math.max(bounds.peakRssRatio * report.rssBeforeBytes, report.rssBeforeBytes + RSS_FLOOR_BYTES);
  if (Number.isNaN(rssBound)) unmeasured.push('peak memory');
  else atMost('peak memory', report.peakRssBytes, rssBound, mebibytes);
  // Only stores behind a proxy count connections; rows with other stores set no limit.
  if (Number.isFinite(bounds.connectionsOpened)) {
    atMost('connections opened', report.connectionsOpened ?? Number.NaN, bounds.connectionsOpened);
  }
  return { broken, unmeasured };
}

/** Extra time for late timers on a busy machine. */
const SLACK_MS = 700;

const plain = (value: number): string => `${Math.round(value * 100) / 100}`;
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;
const milliseconds = (value: number): string => `${Math.round(value)} ms`;
const seconds = (value: number): string => `${value.toFixed(1)} s`;
const mebibytes = (value: number): string => `${Math.round(value / 2 ** 20)} MiB`;

/** Runs attempts until one is valid. A later attempt does not cancel the harm of an earlier one. */
export async function runAttempts(
  name: string,
  seed: number,
  run: (seed: number) => Promise<Attempt>,
  maximum = MAX_ATTEMPTS,
): Promise<RowVerdict> {
  const attempts: Attempt[] = [];
  do attempts.push(await run(seed + attempts.length * SEED_STEP));
  while (attempts.length < maximum && attempts.at(-1)?.invalid !== undefined);
  const invalid = attempts.at(-1)?.invalid;
  return {
    name,
    attempts,
    report: attempts.findLast(({ report }) => report !== undefined)?.report,
    broken: attempts.flatMap((one, at) =>
      counted(one).map((each) => (attempts.length > 1 ? `try ${at + 1}: ${each}` : each)),
    ),
    invalid,
  };
}

const counted = ({ harm, broken, invalid }: Attempt): readonly string[] => [
  ...harm,
  ...(invalid === undefined ? broken : []),
];

export function outcomeOf({ broken, invalid }: Pick<RowVerdict, 'broken' | 'invalid'>): 'red' | 'invalid' | 'green' {
  if (broken.length > 0) return 'red';
  return invalid === undefined ? 'green' : 'invalid';
}

/** The findings of each attempt as lines; none for a row whose first attempt was green. */
export function attemptLines(verdict: RowVerdict): readonly string[] {
  if (verdict.attempts.length === 1 && outcomeOf(verdict) === 'green') return [];
  return verdict.attempts.flatMap((one, at) => [
    `    try ${at + 1} (seed ${one.seed}): ${outcomeOf({ ...one, broken: counted(one) })}`,
    ...counted(one).map((each) => `      broken: ${each}`),
    ...(one.invalid === undefined ? [] : [`      says nothing: ${one.invalid}`]),
    ...(one.invalid === undefined ? [] : one.broken.map((each) => `      not counted: ${each}`)),
  ]);
}
