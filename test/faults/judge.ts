import { ENGINE_DEADLINE_MS } from './configuration.ts';
import type { Report } from './report.ts';
import { BOUNDS, type Bounds } from './row.ts';
import { PHASES } from './samples.ts';

/** Below these a ratio says more of the machine than of the service. */
const P95_FLOOR_MS = 40;
const RSS_FLOOR_BYTES = 150 * 2 ** 20;
/** A generator later than this was not the open loop the row is about. */
const MAX_LAG_MS = 150;
/** Nobody disturbs the control but a machine that is too busy for its read deadline. */
const MIN_CONTROL_HITS = 0.96;

/** The p95 that counts as back to normal: a machine that is busy with something else slows the control as well. */
export function calmBoundMs(beforeMs: number, controlMs: number, ratio = BOUNDS.p95Ratio): number {
  return Math.max(P95_FLOOR_MS, ratio * Math.max(beforeMs, controlMs));
}

/** Why a row says nothing: its own instruments failed. */
export function invalidity(report: Report): string | undefined {
  if (report.generatorLagP99Ms > MAX_LAG_MS) {
    return `the generator lagged: p99 ${Math.round(report.generatorLagP99Ms)} ms`;
  }
  const control = Math.min(...PHASES.map((phase) => report.control[phase].knownHitRatio).filter((ratio) => ratio >= 0));
  if (control < MIN_CONTROL_HITS) return `the control missed, too: it held ${percent(control)} of what it had`;
  return report.controlFaults[0] === undefined ? undefined : `the control: ${report.controlFaults[0]}`;
}

/** @returns every broken promise, in words. */
export function brokenPromises(report: Report, bounds: Bounds): readonly string[] {
  const { fault, after, steady, before } = report.subject;
  const broken: string[] = [];
  const atMost = (what: string, value: number, bound: number, show: (value: number) => string = plain): void => {
    // NaN is a share of nothing.
    if (value > bound) broken.push(`${what}: ${show(value)}, at most ${show(bound)}`);
  };

  if (report.wrong.length > 0) broken.push(`${report.wrong.length} wrong answers, such as ${report.wrong[0]}`);
  if (report.hung > 0) broken.push(`${report.hung} hung requests`);
  if (report.dishonest.length > 0) {
    broken.push(`${report.dishonest.length} answers nobody can act on, such as ${report.dishonest[0]}`);
  }
  const refused = new Set(report.samples.flatMap(({ verdict }) => (verdict.kind === 'shed' ? [verdict.code] : [])));
  const unexpected = [...refused].filter((code) => !bounds.refusals.includes(code));
  if (unexpected.length > 0) broken.push(`refused with ${unexpected.join(', ')}`);
  const total = fault.requests + after.requests + steady.requests + before.requests;
  const example = report.broken[0] === undefined ? '' : `, such as ${report.broken[0]}`;
  atMost(`broken connections${example}`, report.broken.length / total, bounds.brokenConnections, percent);

  atMost('unanswered before the fault', before.unanswered, 0, percent);
  atMost('unanswered during', fault.unanswered, bounds.unansweredDuring, percent);
  atMost('unanswered during, of searches asked before', fault.knownUnanswered, bounds.knownUnansweredDuring, percent);
  atMost('unanswered after', after.unanswered, bounds.unansweredAfter, percent);
  atMost('unanswered once recovered', steady.unanswered, 0, percent);
  const hits = fault.hitRatio / report.control.fault.hitRatio;
  if (hits < bounds.hitRatioDuring) {
    broken.push(`hit ratio during: ${percent(hits)} of the control's, at least ${percent(bounds.hitRatioDuring)}`);
  }
  // Nobody who asks waits past what the engine's deadline promises, whatever the fault.
  const slowest = Math.max(fault.maxMs || 0, after.maxMs || 0);
  atMost('slowest answer', slowest, ENGINE_DEADLINE_MS + SLACK_MS, milliseconds);

  const recovered = report.recoveredAfterMs;
  if (recovered === undefined) broken.push(`not recovered within ${bounds.recoverySeconds} s`);
  else {
    atMost('recovery', recovered / 1000, bounds.recoverySeconds, seconds);
    const bound = calmBoundMs(before.p95Ms, report.control.steady.p95Ms, bounds.p95Ratio);
    atMost('p95 once recovered', steady.p95Ms, bound, milliseconds);
  }
  atMost('engine searches per text', report.engine.searches / report.engine.distinct, bounds.searchesPerKey);
  const rssBound = Math.max(bounds.peakRssRatio * report.rssBeforeBytes, report.rssBeforeBytes + RSS_FLOOR_BYTES);
  atMost('peak memory', report.peakRssBytes, rssBound, mebibytes);
  atMost('connections opened', report.connectionsOpened ?? 0, bounds.connectionsOpened);
  return broken;
}

/** On a busy machine a timer is late. */
const SLACK_MS = 700;

const plain = (value: number): string => `${Math.round(value * 100) / 100}`;
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;
const milliseconds = (value: number): string => `${Math.round(value)} ms`;
const seconds = (value: number): string => `${value.toFixed(1)} s`;
const mebibytes = (value: number): string => `${Math.round(value / 2 ** 20)} MiB`;
