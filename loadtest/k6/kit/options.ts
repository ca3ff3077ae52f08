import type { Options, Scenario, Threshold } from 'k6/options';
import { ALWAYS } from './checks.ts';
import { codeOfEnd } from './drill-end.ts';
import { metricOf, SEEN_OUTCOMES } from './outcome.ts';
import type { Step } from './step.ts';
import { type Stint, stintsOf } from './stint.ts';

export interface OptionsPlan {
  readonly steps: readonly Step[];
  /** Of each stint; absent: what its rate needs while answers take `slowSeconds`. */
  readonly maxVus?: number;
  readonly slowSeconds: number;
  /** Scenarios beside the load: one that watches, one that acts as an operator. By the name of what they run. */
  readonly beside: Readonly<Record<string, Scenario>>;
  /** Instead of arrivals: so many virtual users, each asking again as soon as it was answered. */
  readonly closedVus?: number;
  /** A ladder that goes on until something gives: what the generator loses then is no fault of the run. */
  readonly isEndless: boolean;
}

const LEAST_VUS = 20;
/** Each is an interpreter with a megabyte or two. */
const MOST_VUS = 2000;
/** Without new arrivals, at the end of a stint: shorter than the break to the next. What is not answered by then is lost. */
const DRAIN = '1s';
/** An abort wants more than the first unlucky searches of a step. */
const ABORT_AFTER = '5s';

/** One scenario per stint, open model: requests begin when they are due, whether or not earlier ones were answered. */
export function optionsOf({ steps, maxVus, slowSeconds, closedVus, beside, isEndless }: OptionsPlan): Options {
  const scenarios: Record<string, Scenario> = {};
  let before = 0;
  for (const stint of stintsOf(steps)) {
    scenarios[stint.name] =
      closedVus === undefined
        ? arrivals(stint, before, maxVus ?? vusFor(stint, slowSeconds))
        : askingAgain(stint, closedVus);
    before = stint.steps.at(-1)?.ratePerSecond ?? 0;
  }
  return {
    scenarios: { ...scenarios, ...beside },
    thresholds: thresholdsOf(steps, isEndless),
    // Each tag makes series of its own, and they cost the generator. Without the last two k6 does not tell checks by name.
    systemTags: ['scenario', 'check', 'group'],
    summaryTrendStats: ['med', 'p(90)', 'p(95)', 'p(99)', 'max', 'count'],
    setupTimeout: '120s',
    teardownTimeout: '60s',
    discardResponseBodies: true,
    noConnectionReuse: false,
    userAgent: 'serpcache-loadtest',
  };
}

function arrivals({ steps }: Stint, before: number, vus: number): Scenario {
  return {
    executor: 'ramping-arrival-rate',
    startTime: `${steps[0]?.startSeconds ?? 0}s`,
    startRate: perMinute(before),
    timeUnit: '1m',
    preAllocatedVUs: vus,
    maxVUs: vus,
    // A grace would overlap with the next stint, and k6 would make virtual users for both.
    gracefulStop: '0s',
    stages: [
      ...steps.flatMap(({ ratePerSecond, rampSeconds, holdSeconds }) => [
        // Without a ramp the rate is there at once.
        { target: perMinute(ratePerSecond), duration: `${rampSeconds}s` },
        { target: perMinute(ratePerSecond), duration: `${holdSeconds}s` },
      ]),
      { target: 0, duration: '0s' },
      { target: 0, duration: DRAIN },
    ],
  };
}

/** k6 takes whole numbers only, and batches of 50 may come less often than once a second. */
function perMinute(ratePerSecond: number): number {
  return Math.round(ratePerSecond * 60);
}

function askingAgain({ steps }: Stint, vus: number): Scenario {
  return {
    executor: 'constant-vus',
    startTime: `${steps[0]?.startSeconds ?? 0}s`,
    vus,
    duration: `${steps.reduce((sum, { holdSeconds }) => sum + holdSeconds, 0)}s`,
    gracefulStop: DRAIN,
  };
}

/** Little's law, with answers that take as long as they may before it is called trouble. */
export function vusFor({ steps }: Stint, slowSeconds: number): number {
  const most = Math.max(...steps.map(({ ratePerSecond }) => ratePerSecond));
  return Math.min(MOST_VUS, Math.max(LEAST_VUS, Math.ceil(most * slowSeconds)));
}

/** What has no limit has a threshold that always holds: without one, k6 sums nothing up by step. */
function thresholdsOf(steps: readonly Step[], isEndless: boolean): Record<string, Threshold[]> {
  const all: Record<string, Threshold[]> = isEndless ? {} : { dropped_iterations: ['count==0'] };
  all['script_faults'] = ['count==0'];
  for (const name of ALWAYS) all[`checks{check:${name}}`] = ['rate==1'];
  for (const { name } of stintsOf(steps)) all[`dropped_iterations{scenario:${name}}`] = ['count>=0'];
  for (const { name, limits } of steps) {
    const on = (metric: string): string => `${metric}{step:${name}}`;
    // Nothing at all is no success, though k6 takes a threshold without samples for passed.
    all[on('searches')] = [limits === undefined || isEndless ? 'count>=0' : 'count>0'];
    all[on('sent')] = ['count>=0'];
    all[on('engine_calls')] = ['count>=0'];
    for (const outcome of SEEN_OUTCOMES) all[on(metricOf(outcome))] = ['count>=0'];
    all[on('connections_opened')] = ['count>=0'];
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
