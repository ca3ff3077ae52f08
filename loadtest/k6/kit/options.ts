import type { Options, Scenario, Threshold } from 'k6/options';
import { codeOfEnd } from './drill-plan.ts';
import { metricOf, SEEN_OUTCOMES } from './outcome.ts';
import { ALWAYS } from './page.ts';
import { type Segment, type Step, segmentsOf } from './step.ts';

interface OptionsPlan {
  readonly steps: readonly Step[];
  readonly vusOf: (segment: Segment) => number;
  /** Scenarios without load, by name: one watches the engine, one acts as an operator. */
  readonly beside: Readonly<Record<string, Scenario>>;
  /** Each virtual user sends its next request after the answer to the last. */
  readonly isClosedLoop: boolean;
  /** A ladder that goes on until the service breaks: requests that the generator drops do not fail the run. */
  readonly isEndless: boolean;
}

const MIN_VUS = 20;
/** Each VU is an interpreter of one or two megabytes. */
const MAX_VUS = 2000;
/** Time without new requests at the end of a segment, shorter than the break. Requests unanswered after it are lost. */
const DRAIN = '1s';
/** A few unlucky searches at the start of a step must not abort the run. */
const ABORT_AFTER = '5s';

/** One scenario per segment, as an open model: requests begin when they are due, even if earlier ones have no answer. */
export function optionsOf({ steps, vusOf, isClosedLoop, beside, isEndless }: OptionsPlan): Options {
  const scenarios: Record<string, Scenario> = {};
  let rateBefore = 0;
  for (const segment of segmentsOf(steps)) {
    const vus = vusOf(segment);
    scenarios[segment.name] = isClosedLoop ? closedLoop(segment, vus) : openLoop(segment, rateBefore, vus);
    rateBefore = segment.steps.at(-1)?.ratePerSecond ?? 0;
  }
  return {
    scenarios: { ...scenarios, ...beside },
    thresholds: thresholdsOf(steps, isEndless),
    // Each tag makes more series, which cost the generator time. The last two are needed to count checks by name.
    systemTags: ['scenario', 'check', 'group'],
    summaryTrendStats: ['med', 'p(90)', 'p(95)', 'p(99)', 'max', 'count'],
    setupTimeout: '120s',
    teardownTimeout: '60s',
    discardResponseBodies: true,
    noConnectionReuse: false,
    userAgent: 'serpcache-loadtest',
  };
}

function openLoop({ steps }: Segment, rateBefore: number, vus: number): Scenario {
  return {
    executor: 'ramping-arrival-rate',
    startTime: `${steps[0]?.startSeconds ?? 0}s`,
    startRate: perMinute(rateBefore),
    timeUnit: '1m',
    preAllocatedVUs: vus,
    maxVUs: vus,
    // With a grace period the segments would overlap, and k6 would make virtual users for both.
    gracefulStop: '0s',
    stages: [
      ...steps.flatMap(({ ratePerSecond, rampSeconds, holdSeconds }) => [
        // A duration of 0 changes the rate at once.
        { target: perMinute(ratePerSecond), duration: `${rampSeconds}s` },
        { target: perMinute(ratePerSecond), duration: `${holdSeconds}s` },
      ]),
      { target: 0, duration: '0s' },
      { target: 0, duration: DRAIN },
    ],
  };
}

/** k6 accepts whole numbers only, and batches of 50 can be rarer than one a second. */
function perMinute(ratePerSecond: number): number {
  return Math.round(ratePerSecond * 60);
}

function closedLoop({ steps }: Segment, vus: number): Scenario {
  return {
    executor: 'constant-vus',
    startTime: `${steps[0]?.startSeconds ?? 0}s`,
    vus,
    duration: `${steps.reduce((sum, { holdSeconds }) => sum + holdSeconds, 0)}s`,
    gracefulStop: DRAIN,
  };
}

/** Little's law, with the longest time that an answer may normally take. */
export function vusFor({ steps }: Segment, slowSeconds: number): number {
  const rate = Math.max(...steps.map(({ ratePerSecond }) => ratePerSecond));
  return Math.min(MAX_VUS, Math.max(MIN_VUS, Math.ceil(rate * slowSeconds)));
}

/** k6 sums a metric up by step only for a threshold, so figures without a limit have one that always holds. */
function thresholdsOf(steps: readonly Step[], isEndless: boolean): Record<string, Threshold[]> {
  const all: Record<string, Threshold[]> = isEndless ? {} : { dropped_iterations: ['count==0'] };
  all['script_faults'] = ['count==0'];
  for (const name of ALWAYS) all[`checks{check:${name}}`] = ['rate==1'];
  for (const { name } of segmentsOf(steps)) all[`dropped_iterations{scenario:${name}}`] = ['count>=0'];
  for (const { name, limits } of steps) {
    const on = (metric: string): string => `${metric}{step:${name}}`;
    // k6 counts a threshold without samples as passed, but a step without a search is no success.
    all[on('searches')] = [limits === undefined || isEndless ? 'count>=0' : 'count>0'];
    const shown = ['sent', 'engine_calls', 'connections_opened', ...SEEN_OUTCOMES.map(metricOf)];
    for (const metric of shown) all[on(metric)] = ['count>=0'];
    if (limits?.drillPasses === true) all[on('drill_end')] = [`value==${codeOfEnd('passed')}`];
    all[on('dishonest')] = [limits === undefined || isEndless ? 'count>=0' : 'count==0'];
    all[on('search_duration')] = [limits?.maxP99Ms === undefined || isEndless ? 'max>=0' : `p(99)<${limits.maxP99Ms}`];
    all[on('hits')] = [limits?.minHitRatio === undefined ? 'rate>=0' : `rate>=${limits.minHitRatio}`];
    all[on('errors')] =
      limits === undefined
        ? ['rate>=0']
        : [
            ...(isEndless ? [] : [`rate<=${limits.maxErrorRate}`]),
            { threshold: `rate<${limits.abortErrorRate}`, abortOnFail: true, delayAbortEval: ABORT_AFTER },
          ];
  }
  return all;
}
