import { ALWAYS } from './checks.ts';
import type { Mix } from './queries.ts';

import type { Step } from './step.ts';
import { type Stint, stintsOf } from './stint.ts';
import { generatorSummary, type K6Summary, stepSummaries } from './summarize.ts';
import type { ScriptSummary } from './summary.ts';
import type { Target } from './target.ts';
import { verdictOf } from './verdict.ts';

export interface SummaryOptions {
  readonly k6: K6Summary;
  readonly begun: Begun;
  readonly name: string;
  readonly purpose: string;
  readonly target: Target;
  readonly mix: Mix;
  readonly baseRps: number;
  readonly steps: readonly Step[];
  /** Virtual users that do something else. */
  readonly beside: number;
  readonly isEndless: boolean;
  /** Share of the answers whose bodies are looked at. */
  readonly sample: number;
  /** Its path. */
  readonly queryFile: string;
  readonly queryCount: number;
  readonly vusOf: (stint: Stint) => number;
}

/** What a script says of its run, from what k6 has counted. */
export function summaryOf(options: SummaryOptions): ScriptSummary {
  const { k6, begun, name, purpose, target, mix, baseRps, beside, isEndless, vusOf } = options;
  const endedAtMs = k6.metrics['ended_at']?.values['value'];
  const wholeMs = k6.state.testRunDurationMs - begun.setUpMs;
  // Tear-down is counted to the run as well, and may wait for a drill.
  const elapsedSeconds = Math.min(wholeMs, (endedAtMs ?? Number.POSITIVE_INFINITY) - begun.startedAtMs) / 1000;
  const watched = (k6.metrics['watched']?.values['count'] ?? 0) > 0;
  const steps = stepSummaries({ k6, steps: options.steps, elapsedSeconds, watched, vusOf });
  const looked =
    options.sample > 0 && steps.some(({ outcomes }) => outcomes['hit-l1'] + outcomes.engine > 0) ? ALWAYS : [];
  const generator = generatorSummary({
    k6,
    steps,
    beside,
    vusCap: Math.max(...stintsOf(options.steps).map(vusOf)),
    looked,
  });
  const checks = (k6.root_group.checks ?? []).map(({ name: check, passes, fails }) => ({ name: check, passes, fails }));
  return {
    script: name,
    purpose,
    startedAtMs: begun.startedAtMs,
    durationMs: elapsedSeconds * 1000,
    target: { baseUrls: target.baseUrls, adminUrls: target.adminUrls },
    queries: {
      file: options.queryFile.replace(/^.*\//, ''),
      count: options.queryCount,
      domains: begun.domains,
      ...{ exponent: mix.exponent, offset: mix.offset, onceShare: mix.onceShare, seed: begun.seed },
    },
    baseRps,
    steps,
    generator,
    checks,
    verdict: verdictOf({ steps, generator, checks, isEndless }),
  };
}

/** The result of `setup`, which k6 passes to every other function. */
export interface Begun {
  readonly startedAtMs: number;
  /** How long that took: k6 counts it to the run. */
  readonly setUpMs: number;
  readonly seed: number;
  readonly domains: readonly string[];
}
