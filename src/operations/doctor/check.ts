import type { Snapshot } from './facts.ts';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The part of the system that a check is about; `pattern` joins several. */
export const AREAS = ['store', 'engine', 'network', 'host', 'service', 'pattern'] as const;
export type Area = (typeof AREAS)[number];

/** The figures that a check reads. Those of `CHEAP_NEEDS` are collected every 15 seconds inside the service. */
export const NEEDS = [
  'info',
  'rtt',
  'clock',
  'engine-status',
  'host',
  'service',
  'fleet',
  'config',
  'slowlog',
  'latency',
  'memory',
  'clients',
  'keys',
  'cluster',
  'engine-index',
  'tc',
  'sockets',
  'dns',
  'intrinsic',
  'servers',
] as const;
export type Need = (typeof NEEDS)[number];
const CHEAP_NEEDS: ReadonlySet<Need> = new Set(['info', 'rtt', 'clock', 'engine-status', 'host', 'service', 'fleet']);

/** The time between two snapshots of the same things. */
export interface Window {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly seconds: number;
}

/** The result of one check at one subject in one window. */
export type Observation =
  /** `hold`: below the threshold that raises, above the one that clears: a raised finding stays, none begins. */
  | (Evidence & { readonly state: 'raise' | 'hold' })
  | { readonly subject: string; readonly state: 'fine' }
  /** The figures are missing, or too few. */
  | { readonly subject: string; readonly state: 'skipped'; readonly reason: string };

export interface Evidence {
  /** `127.0.0.1:6379 (store of goods)`, `engine of goods`, `host web-1`, `domain goods`. */
  readonly subject: string;
  /** One sentence with the measured figures. */
  readonly evidence: string;
  /** The same figures for programs; durations in milliseconds, sizes in bytes, shares 0–1. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** The way to mend it: each a command to paste or a line of configuration, with the reason before it if it needs one. */
  readonly advice: readonly string[];
}

/**
 * One check: an entry of the table in README.md, which is made from these members. It is pure: the same window gives the
 * same observations, one for each subject that it looked at, fine ones included.
 */
export interface Check {
  /** `store-evictions`; begins with its area. */
  readonly id: string;
  readonly area: Area;
  readonly severity: Severity;
  /** `keys are evicted`: the finding in a few words. */
  readonly title: string;
  readonly needs: readonly Need[];
  /** The least figures for a judgement: `1,000 look-ups in the window`; `none` for a setting. */
  readonly minimum: string;
  /** When it fires; made from the same constants as `look`. */
  readonly raises: string;
  /** When a raised finding counts as gone in a window: the hysteresis; `otherwise` for a setting. */
  readonly clears: string;
  readonly why: string;
  /** Where the threshold comes from: documentation by name, a measurement, a paper. */
  readonly source: string;
  readonly look: (window: Window) => readonly Observation[];
}

/** Runs inside the service at intervals. */
export function isCheap({ needs }: Pick<Check, 'needs'>): boolean {
  return needs.every((need) => CHEAP_NEEDS.has(need));
}
