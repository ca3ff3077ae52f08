import type { RunEvent, RunRecord, Second } from '../../loadtest/judge/record.ts';
import { SEEN_OUTCOMES, type SeenOutcome } from '../../loadtest/k6/kit/outcome.ts';
import { holdOf, inTurn, type Step, type StepLimits, type StepWish } from '../../loadtest/k6/kit/step.ts';
import type { StepSummary } from '../../loadtest/k6/kit/summary.ts';
import { judgeStep, verdictOf } from '../../loadtest/k6/kit/verdict.ts';
import { callsOf, type Deployment, type Moment, samplesOf, secondOf, wobble } from './load-samples.ts';

/** The properties of a fake run. Everything has a default: an x-load whose five rungs hold. */
export interface FakeRunOptions {
  readonly script?: 'x-load' | 'flush-survival';
  readonly stack?: 'local' | 'none';
  /** No replica could be asked for /metrics: no samples, no engine calls. */
  readonly isBlind?: boolean;
  readonly baseRps?: number;
  readonly replicas?: number;
  readonly rampSeconds?: number;
  readonly holdSeconds?: number;
  /** At this multiple of the base rate and above, one search in five is shed and the answers are slow. */
  readonly breaksAt?: number;
  /** The run ends some seconds after a rung broke. */
  readonly isAborted?: boolean;
  /** At this multiple of the base rate and above, the generator cannot begin a tenth of the requests. */
  readonly starvedAt?: number;
  /** flush-survival: time constant of the hit ratio's recovery; Infinity: no recovery. */
  readonly refillSeconds?: number;
  readonly startedAtMs?: number;
  /** Replaces whole fields of the record. */
  readonly record?: Partial<RunRecord>;
}

const LIMITS: StepLimits = {
  maxErrorRate: 0.001,
  abortErrorRate: 0.05,
  maxP99Ms: 150,
  minHitRatio: 0.8,
  shedsAllowed: false,
};
const SURVIVAL: StepLimits = { maxErrorRate: 0.01, abortErrorRate: 0.2, maxP99Ms: 400, shedsAllowed: true };
const STEADY_RATIO = 0.91;
const ABORTED_AFTER_SECONDS = 6;
const STARTED_AT_MS = Date.UTC(2026, 10, 21, 10, 20, 30);

/** A plausible run record, the same every time, for the tests of verdicts and reports. */
export function runOf(options: FakeRunOptions = {}): RunRecord {
  const { script = 'x-load', stack = 'local', baseRps = 750, replicas = 1, isBlind = false } = options;
  const startedAtMs = options.startedAtMs ?? STARTED_AT_MS;
  const steps = script === 'x-load' ? ladder(options, baseRps) : survival(options, baseRps);
  const events = script === 'x-load' ? [] : lossesOf(steps, startedAtMs);
  const deployment: Deployment = { replicas, cores: 4, vusCap: 600, isLocal: stack === 'local' };
  const moments = momentsOf(steps, events, startedAtMs, options);
  const seconds = moments.map((moment) => secondOf(moment, deployment));
  const samples = isBlind ? [] : samplesOf(moments, deployment);
  const summaries = steps.map((step) => summaryOf(step, seconds, moments, startedAtMs, isBlind));
  const generator = {
    requests: seconds.reduce((sum, second) => sum + second.searches, 0),
    dropped: seconds.reduce((sum, second) => sum + second.dropped, 0),
    vusUsed: Math.max(0, ...seconds.map(({ vus }) => vus)),
    vusCap: deployment.vusCap,
    scriptFaults: 0,
    emptyThresholds: [],
  };
  const verdict = verdictOf({ steps: summaries, generator });
  const stamp = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(':', '-');
  return {
    version: 1,
    id: `${stamp}-${script}`,
    command: `npm run loadtest -- ${script} --stack ${stack}`,
    stack,
    machine: {
      cores: deployment.cores,
      memoryBytes: 8 * 2 ** 30,
      system: 'Linux 6.1, x64',
      k6: 'v1.8.1',
      generatorCpus: stack === 'local' ? '3' : undefined,
      serviceCpus: stack === 'local' ? '0-2' : undefined,
    },
    summary: {
      script,
      purpose:
        script === 'x-load'
          ? 'Whether the service holds from x1 to x5 of the base rate.'
          : 'Whether the service survives the loss of its cache in stages.',
      startedAtMs,
      durationMs: moments.length * 1000,
      target: {
        baseUrls: ['http://127.0.0.1:8080'],
        adminUrls: isBlind ? [] : Array.from({ length: replicas }, (_, at) => `http://127.0.0.1:${8081 + at * 10}`),
      },
      queries: {
        file: 'data/queries.ndjson',
        count: 20_000,
        domains: ['goods', 'packages'],
        exponent: 1,
        offset: 2.7,
        onceShare: 0.05,
        seed: 1,
      },
      baseRps,
      steps: summaries,
      generator,
      checks: [{ name: 'says how it was answered', passes: generator.requests, fails: 0 }],
      verdict,
    },
    seconds,
    samples,
    events,
    base: {
      rps: baseRps,
      from: 'measured',
      saturationRps: baseRps * 8,
      saturated: 'A core of serpcache was full at 6,000 searches/s.',
    },
    verdict,
    exitCode: verdict.kind === 'passed' ? 0 : 1,
    ...options.record,
  };
}

function ladder({ rampSeconds = 4, holdSeconds = 20 }: FakeRunOptions, baseRps: number): readonly Step[] {
  const rungs = [1, 2, 3, 4, 5].map((multiplier): StepWish => {
    const ratePerSecond = baseRps * multiplier;
    return {
      name: `x${multiplier}`,
      goesOn: true,
      title: `${multiplier} × the base rate`,
      rampSeconds,
      holdSeconds,
      ratePerSecond,
      multiplier,
      limits: LIMITS,
    };
  });
  return inTurn([
    { name: 'warm-up', title: 'Fills the caches', rampSeconds, holdSeconds, ratePerSecond: baseRps },
    ...rungs,
  ]);
}

function survival({ rampSeconds = 4, holdSeconds = 20 }: FakeRunOptions, baseRps: number): readonly Step[] {
  const ratePerSecond = baseRps * 3;
  const part = (name: string, title: string, times: number, limits?: StepLimits): StepWish => ({
    name,
    title,
    rampSeconds: name === 'warm-up' ? rampSeconds : 0,
    goesOn: name === 'warm-up' ? undefined : (true as const),
    holdSeconds: holdSeconds * times,
    ratePerSecond,
    limits,
  });
  return inTurn([
    part('warm-up', 'Fills the caches', 1),
    part('steady', 'Before anything is lost', 1, LIMITS),
    part('flush', 'Three stages of a drill', 3, SURVIVAL),
    part('recovery', 'Until it is as before', 2, SURVIVAL),
  ]);
}

const STAGES = ['1 % of the keys', '10 % of the keys', 'all keys'];
const LOST = [0.01, 0.1, 0.95];

function lossesOf(steps: readonly Step[], startedAtMs: number): readonly RunEvent[] {
  const flush = steps.find(({ name }) => name === 'flush');
  if (flush === undefined) return [];
  const [fromSeconds, toSeconds] = holdOf(flush);
  const drill = 'goods-20261121-102114';
  const at = (seconds: number): number => startedAtMs + seconds * 1000;
  const each = (toSeconds - fromSeconds) / STAGES.length;
  return [
    { atMs: at(fromSeconds), kind: 'drill-started', text: 'Drill canary on goods', drill },
    ...STAGES.map((text, stage) => ({ atMs: at(fromSeconds + 1 + stage * each), kind: 'drill-stage', text, drill })),
    { atMs: at(toSeconds + 10), kind: 'drill-ended', text: 'The drill passed', drill },
  ];
}

function momentsOf(
  steps: readonly Step[],
  events: readonly RunEvent[],
  startedAtMs: number,
  { breaksAt = Infinity, starvedAt = Infinity, isAborted = false, refillSeconds = 4 }: FakeRunOptions,
): readonly Moment[] {
  const losses = events
    .filter(({ kind }) => kind === 'drill-stage')
    .map(({ atMs }, stage) => ({ atMs, lost: LOST[stage] ?? 1 }));
  const moments: Moment[] = [];
  let before = 0;
  for (const step of steps) {
    const [holdsFrom, to] = holdOf(step);
    for (let second = step.startSeconds; second < to; second += 1) {
      const isBroken = (step.multiplier ?? 0) >= breaksAt && second >= holdsFrom;
      if (isAborted && isBroken && second >= holdsFrom + ABORTED_AFTER_SECONDS) return moments;
      const ramped = Math.min(1, (second + 1 - step.startSeconds) / (step.rampSeconds + 1));
      const wanted = Math.round(before + (step.ratePerSecond - before) * ramped);
      const atMs = startedAtMs + (second + 1) * 1000;
      const last = losses.findLast((loss) => loss.atMs < atMs);
      const missing = last === undefined ? 0 : last.lost * Math.exp(-(atMs - last.atMs) / 1000 / refillSeconds);
      const warming = 0.6 * Math.exp(-second / 5);
      const dropped = (step.multiplier ?? 0) >= starvedAt && second >= holdsFrom ? Math.round(wanted / 10) : 0;
      moments.push({
        atMs,
        rate: wanted - dropped,
        hitRatio: STEADY_RATIO * (1 - missing) * (1 - warming) * wobble(second, 0.004),
        shedShare: isBroken ? 0.2 : 0,
        p99Ms: (isBroken ? 420 : 8 + 4 * (step.multiplier ?? 1) + 120 * missing) * wobble(second, 0.1),
        dropped,
      });
    }
    before = step.ratePerSecond;
  }
  return moments;
}

function summaryOf(
  step: Step,
  seconds: readonly Second[],
  moments: readonly Moment[],
  startedAtMs: number,
  isBlind: boolean,
): StepSummary {
  const [from, to] = holdOf(step);
  const inside = ({ atMs }: { readonly atMs: number }): boolean =>
    atMs > startedAtMs + from * 1000 && atMs <= startedAtMs + to * 1000;
  const own = seconds.filter(inside);
  const sum = (read: (second: Second) => number): number => own.reduce((total, second) => total + read(second), 0);
  const searches = sum((second) => second.searches);
  const outcomes = Object.fromEntries(
    SEEN_OUTCOMES.map((outcome) => [outcome, sum((second) => second.outcomes[outcome] ?? 0)]),
  ) as Record<SeenOutcome, number>;
  const errors = sum((second) => second.errors);
  const calls = moments.filter(inside).reduce((total, moment) => total + callsOf(moment), 0);
  const p99 = Math.max(0, ...own.map(({ latencyMs }) => latencyMs?.p99 ?? 0));
  const measured = {
    step,
    searches,
    seconds: own.length,
    outcomes,
    latencyMs: searches === 0 ? undefined : { p50: 0.6, p90: p99 / 3, p95: p99 / 2, p99, max: p99 * 1.8 },
    errorRate: searches === 0 ? undefined : step.limits?.shedsAllowed === true ? 0 : errors / searches,
    hitRatio: searches === 0 ? undefined : (outcomes['hit-l1'] + outcomes['hit-l2']) / searches,
    dishonest: 0,
    engineCalls: isBlind ? undefined : Math.round(calls),
    dropped: sum((second) => second.dropped),
  };
  return { ...measured, ...judgeStep(measured) };
}
