import { endOfCode } from './drill-plan.ts';
import { metricOf, SEEN_OUTCOMES, type SeenOutcome } from './outcome.ts';
import { ALWAYS } from './page.ts';
import type { Mix } from './queries.ts';
import { holdOf, type Segment, type Step, segmentsOf } from './step.ts';
import type { CheckSummary, GeneratorSummary, Latency, ScriptSummary, StepSummary, TargetSummary } from './summary.ts';
import { judgeStep, verdictOf } from './verdict.ts';

/** The part of the argument of `handleSummary` that is read here. */
export interface K6Summary {
  readonly metrics: Readonly<Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>>;
  readonly state: { readonly testRunDurationMs: number };
  readonly root_group: { readonly checks?: readonly CheckSummary[] };
}

/** The result of `setup`, which k6 passes to every other function. */
export interface SetupResult {
  readonly startedAtMs: number;
  /** Duration of `setup`, which k6 counts to the run. */
  readonly setUpMs: number;
  readonly seed: number;
  readonly domains: readonly string[];
}

interface SummaryOptions extends Pick<ScriptSummary, 'script' | 'purpose' | 'baseRps'> {
  readonly k6: K6Summary;
  readonly begun: SetupResult;
  readonly target: TargetSummary;
  readonly mix: Mix;
  readonly steps: readonly Step[];
  /** Number of virtual users that send no load. Each has one iteration. */
  readonly beside: number;
  readonly isEndless: boolean;
  readonly sample: number;
  readonly queryFile: string;
  readonly queryCount: number;
  readonly vusOf: (segment: Segment) => number;
}

export function summaryOf(options: SummaryOptions): ScriptSummary {
  const { k6, begun, script, purpose, target, mix, baseRps, isEndless, vusOf } = options;
  const { startedAtMs, setUpMs, seed, domains } = begun;
  // k6 counts teardown to the run too, and teardown may wait for a drill.
  const endedAtMs = k6.metrics['ended_at']?.values['value'] ?? Number.POSITIVE_INFINITY;
  const durationMs = Math.min(k6.state.testRunDurationMs - setUpMs, endedAtMs - startedAtMs);
  const steps = stepSummaries(options, durationMs / 1000, countOf(k6, 'watched') > 0);
  const hadPages = steps.some(({ outcomes }) => outcomes['hit-l1'] + outcomes.engine > 0);
  const looked = options.sample > 0 && hadPages ? ALWAYS : [];
  const vusCap = Math.max(...segmentsOf(options.steps).map(vusOf));
  const generator = generatorSummary(options, steps, vusCap, looked);
  const checks = (k6.root_group.checks ?? []).map(({ name, passes, fails }) => ({ name, passes, fails }));
  return {
    script,
    purpose,
    startedAtMs,
    durationMs,
    target: { baseUrls: target.baseUrls, adminUrls: target.adminUrls },
    queries: {
      file: options.queryFile.replace(/^.*\//, ''),
      count: options.queryCount,
      domains,
      exponent: mix.exponent,
      offset: mix.offset,
      onceShare: mix.onceShare,
      seed,
    },
    baseRps,
    steps,
    generator,
    checks,
    verdict: verdictOf({ steps, generator, checks, isEndless }),
  };
}

/**
 * @param elapsedSeconds duration of the load: shorter than planned if the run was aborted.
 * @param isWatched whether engine calls were measured.
 */
export function stepSummaries(
  { k6, steps, vusOf }: Pick<SummaryOptions, 'k6' | 'steps' | 'vusOf'>,
  elapsedSeconds: number,
  isWatched: boolean,
): readonly StepSummary[] {
  return segmentsOf(steps).flatMap((segment) =>
    segment.steps.map((step) => {
      const on = (metric: string, value: string): number | undefined =>
        k6.metrics[`${metric}{step:${step.name}}`]?.values[value];
      const answered = on('searches', 'count') ?? 0;
      // A request that hangs until its segment ends is cut off, and no k6 metric counts it.
      const cut = Math.max(0, (on('sent', 'count') ?? 0) - answered);
      const searches = answered + cut;
      const answeredWith = (metric: string): number => (on(metric, 'rate') ?? 0) * answered;
      const [from, to] = holdOf(step);
      const figures = {
        step,
        searches,
        seconds: Math.max(0, Math.min(to, elapsedSeconds) - from),
        outcomes: Object.fromEntries(
          SEEN_OUTCOMES.map((outcome) => [
            outcome,
            (on(metricOf(outcome), 'count') ?? 0) + (outcome === 'unanswered' ? cut : 0),
          ]),
        ) as Record<SeenOutcome, number>,
        latencyMs: answered > 0 ? latencyOf((value) => on('search_duration', value) ?? 0) : undefined,
        errorRate: searches > 0 ? (answeredWith('errors') + cut) / searches : undefined,
        hitRatio: searches > 0 ? answeredWith('hits') / searches : undefined,
        dishonest: on('dishonest', 'count') ?? 0,
        engineCalls: isWatched ? (on('engine_calls', 'count') ?? 0) : undefined,
        connectionsOpened: on('connections_opened', 'count') ?? 0,
        drill: step.limits?.drillPasses === true ? endOfCode(on('drill_end', 'value')) : undefined,
        ...droppedIn(k6, segment, step),
        vusCap: vusOf(segment),
      };
      return { ...figures, ...judgeStep(figures) };
    }),
  );
}

/** k6 counts dropped requests by segment: those of several steps are given to the first, with the names of all. */
function droppedIn(k6: K6Summary, { name, steps }: Segment, step: Step): Pick<StepSummary, 'dropped' | 'droppedOver'> {
  if (step !== steps[0]) return { dropped: 0 };
  const dropped = countOf(k6, `dropped_iterations{scenario:${name}}`);
  return steps.length === 1 ? { dropped } : { dropped, droppedOver: `${step.name} to ${steps.at(-1)?.name}` };
}

function latencyOf(value: (name: string) => number): Latency {
  return { p50: value('med'), p90: value('p(90)'), p95: value('p(95)'), p99: value('p(99)'), max: value('max') };
}

/**
 * @param vusCap the maximum of the step that has the highest.
 * @param looked the checks that need a result, if any answer was checked.
 */
export function generatorSummary(
  { k6, beside }: Pick<SummaryOptions, 'k6' | 'beside'>,
  steps: readonly StepSummary[],
  vusCap: number,
  looked: readonly string[],
): GeneratorSummary {
  const silent = steps.filter(
    ({ step, seconds, searches }) => step.limits !== undefined && seconds > 0 && searches === 0,
  );
  const counted = (k6.root_group.checks ?? []).filter(({ passes, fails }) => passes + fails > 0);
  const missing = looked.filter((name) => counted.every((check) => check.name !== name));
  return {
    requests: Math.max(0, countOf(k6, 'iterations') - beside),
    dropped: countOf(k6, 'dropped_iterations'),
    vusUsed: Math.max(0, (k6.metrics['vus']?.values['max'] ?? 0) - beside),
    vusCap,
    scriptFaults: countOf(k6, 'script_faults'),
    emptyThresholds: [
      ...silent.map(({ step }) => `errors{step:${step.name}}`),
      ...missing.map((name) => `checks{check:${name}}`),
    ],
  };
}

function countOf(k6: K6Summary, metric: string): number {
  return k6.metrics[metric]?.values['count'] ?? 0;
}

/** The result of a run as text, for k6 without the runner, which draws a report. */
export function summaryText({ script, verdict, steps, generator }: ScriptSummary): string {
  const lines = [
    '',
    `${script}: ${verdict.kind.toUpperCase()}. ${verdict.detail}`,
    ...(verdict.kind === 'invalid' ? verdict.reasons.map((reason) => `  - ${reason}`) : []),
    ...steps.map(stepLine),
    `generator: ${generator.requests} requests, ${generator.dropped} dropped, ${generator.vusUsed} of ${generator.vusCap} virtual users`,
    '',
  ];
  return lines.join('\n');
}

function stepLine(summary: StepSummary): string {
  const { step, result, broken, searches, seconds, latencyMs, errorRate, hitRatio, connectionsOpened } = summary;
  if (searches === 0) return `  ${step.name}: ${result}`;
  const figures = [
    `${(searches / Math.max(seconds, 1)).toFixed(0)} searches/s`,
    latencyMs === undefined ? '' : `p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms`,
    `errors ${((errorRate ?? 0) * 100).toFixed(2)} %`,
    `hits ${((hitRatio ?? 0) * 100).toFixed(1)} %`,
    connectionsOpened === undefined ? '' : `${connectionsOpened} connections opened`,
  ];
  const why = broken.length > 0 ? ` (${broken.join('; ')})` : '';
  return `  ${step.name}: ${result}${why}: ${figures.filter(Boolean).join(', ')}`;
}
