import { endOfCode } from './drill-end.ts';
import { metricOf, SEEN_OUTCOMES, type SeenOutcome } from './outcome.ts';
import { holdOf, type Step } from './step.ts';
import { type Stint, stintsOf } from './stint.ts';
import type { CheckSummary, GeneratorSummary, Latency, StepSummary } from './summary.ts';
import { judgeStep } from './verdict.ts';

/** What k6 gives to `handleSummary`, as far as it is read here. */
export interface K6Summary {
  readonly metrics: Readonly<Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>>;
  readonly state: { readonly testRunDurationMs: number };
  readonly root_group: { readonly checks?: readonly CheckSummary[] };
}

export interface StepSummariesOptions {
  readonly k6: K6Summary;
  readonly steps: readonly Step[];
  /** How long load was sent: shorter than planned when the run was aborted. */
  readonly elapsedSeconds: number;
  /** Whether engine calls could be asked for. */
  readonly watched: boolean;
  readonly vusOf: (stint: Stint) => number;
}

export function stepSummaries(options: StepSummariesOptions): readonly StepSummary[] {
  const { k6, steps, elapsedSeconds, watched, vusOf } = options;
  const stints = stintsOf(steps);
  return steps.map((step) => {
    const stint = stints.find((one) => one.steps.includes(step)) ?? { name: step.name, steps: [step] };
    const on = (metric: string, value: string): number | undefined =>
      k6.metrics[`${metric}{step:${step.name}}`]?.values[value];
    const answered = on('searches', 'count') ?? 0;
    // A request that hangs until its stint is over is cut off, and k6 counts it nowhere.
    const cut = Math.max(0, (on('sent', 'count') ?? 0) - answered);
    const searches = answered + cut;
    const of = (metric: string): number => (on(metric, 'rate') ?? 0) * answered;
    const [from, to] = holdOf(step);
    const latency = answered > 0 ? latencyOf((value) => on('search_duration', value)) : undefined;
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
      ...(latency === undefined ? {} : { latencyMs: latency }),
      ...(searches > 0 ? { errorRate: (of('errors') + cut) / searches, hitRatio: of('hits') / searches } : {}),
      dishonest: on('dishonest', 'count') ?? 0,
      ...(watched ? { engineCalls: on('engine_calls', 'count') ?? 0 } : {}),
      connectionsOpened: on('connections_opened', 'count') ?? 0,
      ...(step.limits?.drillPasses === true ? { drill: endOfCode(on('drill_end', 'value')) } : {}),
      ...droppedIn(k6, stint, step),
      vusCap: vusOf(stint),
    };
    return { ...figures, ...judgeStep(figures) };
  });
}

/** k6 tells them by stint: those of several steps stand at the first, with the name of all. */
function droppedIn(k6: K6Summary, { name, steps }: Stint, step: Step): Pick<StepSummary, 'dropped' | 'droppedOver'> {
  const last = steps[steps.length - 1];
  if (step !== steps[0] || last === undefined) return { dropped: 0 };
  const dropped = k6.metrics[`dropped_iterations{scenario:${name}}`]?.values['count'] ?? 0;
  return last === step ? { dropped } : { dropped, droppedOver: `${step.name} to ${last.name}` };
}

function latencyOf(value: (name: string) => number | undefined): Latency {
  return {
    p50: value('med') ?? 0,
    p90: value('p(90)') ?? 0,
    p95: value('p(95)') ?? 0,
    p99: value('p(99)') ?? 0,
    max: value('max') ?? 0,
  };
}

export interface GeneratorOptions {
  readonly k6: K6Summary;
  readonly steps: readonly StepSummary[];
  /** Virtual users that do something else, one iteration each. */
  readonly beside: number;
  /** Of the step that had most. */
  readonly vusCap: number;
  /** What has to be found in answers, where any were looked at. */
  readonly looked: readonly string[];
}

export function generatorSummary({ k6, steps, beside, vusCap, looked }: GeneratorOptions): GeneratorSummary {
  const judged = steps.filter(({ step, seconds }) => step.limits !== undefined && seconds > 0);
  return {
    requests: Math.max(0, (k6.metrics['iterations']?.values['count'] ?? 0) - beside),
    dropped: k6.metrics['dropped_iterations']?.values['count'] ?? 0,
    vusUsed: Math.max(0, (k6.metrics['vus']?.values['max'] ?? 0) - beside),
    vusCap,
    scriptFaults: k6.metrics['script_faults']?.values['count'] ?? 0,
    emptyThresholds: [
      ...judged.flatMap(({ step, searches }) => (searches === 0 ? [`errors{step:${step.name}}`] : [])),
      ...looked.filter((name) => !isCounted(k6, name)).map((name) => `checks{check:${name}}`),
    ],
  };
}

function isCounted(k6: K6Summary, name: string): boolean {
  return (k6.root_group.checks ?? []).some((check) => check.name === name && check.passes + check.fails > 0);
}
