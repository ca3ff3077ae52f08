import type { Snapshot } from './facts.ts';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The part of the system that a check is about; `pattern` joins several. */
export const CHECK_AREAS = ['store', 'engine', 'network', 'host', 'service', 'pattern'] as const;
export type Area = (typeof CHECK_AREAS)[number];

/** The figures that a check reads. Those of `CHEAP_NEEDS` are collected every 15 seconds inside the service. */
export const NEEDS = [
  'info',
  'rtt',
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
  'dns',
  'intrinsic',
  'servers',
] as const;
export type Need = (typeof NEEDS)[number];
const CHEAP_NEEDS: ReadonlySet<Need> = new Set(['info', 'rtt', 'engine-status', 'host', 'service', 'fleet']);

/** The time between two snapshots of the same things. */
export interface Window {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly seconds: number;
}

/** The result of one check at one subject in one window. */
export type CheckResult =
  /** `hold`: below the threshold that raises, above the one that clears: a raised finding stays, none begins. */
  | (Evidence & { readonly state: 'raise' | 'hold' })
  | { readonly subject: string; readonly state: 'fine' }
  /** The figures are missing, or too few. */
  | { readonly subject: string; readonly state: 'skipped'; readonly reason: string };

/** Figures of a finding, without those that are not known. */
export function knownFigures(figures: Readonly<Record<string, number | string | undefined>>): Details['figures'] {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined)) as Details['figures'];
}

/** A finding without its subject. */
export interface Details {
  /** One sentence with the measured figures. */
  readonly evidence: string;
  /** The same figures for programs; durations in milliseconds, sizes in bytes, shares 0–1. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** The way to mend it: each a command to paste or a line of configuration, with the reason before it if it needs one. */
  readonly advice: readonly string[];
}

export interface Evidence extends Details {
  /** `127.0.0.1:6379 (store of goods)`, `engine of goods`, `host web-1`, `domain goods`. */
  readonly subject: string;
}

/** One entry of a file of checks. Its area is the first word of its id. */
export interface CheckRule {
  /** `store-evictions`. */
  readonly id: string;
  readonly severity: Severity;
  /** `keys are evicted`: the finding in a few words. */
  readonly title: string;
  readonly needs: readonly Need[];
  /** The least figures for a judgement: `1,000 look-ups in the window`. Absent: none, as for a setting. */
  readonly minimum?: string;
  /** When it fires; made from the same constants as `look`. */
  readonly raises: string;
  /** When a raised finding counts as gone in a window: the hysteresis. Absent: when it does not fire. */
  readonly clears?: string;
  readonly why: string;
  /** Where the threshold comes from: documentation by name, a measurement, a paper. */
  readonly source: string;
  /** Pure: the same window gives the same results, one for each subject that it looked at, fine ones included. */
  readonly look: (window: Window) => readonly CheckResult[];
}

/** One check: a line of the table in README.md, which is made from these members. */
export interface Check extends Required<CheckRule> {
  readonly area: Area;
}

export function checkOf({ minimum = 'none', clears = 'otherwise', ...rule }: CheckRule): Check {
  const area = CHECK_AREAS.find((name) => rule.id.startsWith(`${name}-`)) ?? 'pattern';
  return { ...rule, area, minimum, clears };
}

/** Runs inside the service at intervals. */
export function isCheap({ needs }: Pick<Check, 'needs'>): boolean {
  return needs.every((need) => CHEAP_NEEDS.has(need));
}
