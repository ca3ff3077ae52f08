import type { Report as DoctorReport } from '../../../operations/doctor/report.ts';
import type { DrillPreview, DrillSummary } from '../../../operations/drills/drills.ts';
import type { FlushPreview, FlushRequest } from '../../../operations/flush/flush.ts';
import type { DomainLook } from '../../../operations/operations.ts';
import type { ShadowStatus, ShadowSummary } from '../../../operations/shadow/shadow.ts';
import type { ApiProblem, FeedValues, LiveLine } from './api.ts';

export interface Model {
  readonly address: ConsoleAddress;
  readonly connection: StreamState;
  readonly live?: LiveLine;
  /** When it was received, by `performance.now()`. */
  readonly receivedMs?: number;
  /** `performance.now()` of this drawing. */
  readonly nowMs: number;
  readonly hasToken: boolean;
  /** The service has no token set, so it refuses every change. */
  readonly readOnly: boolean;
  readonly feeds: { readonly [K in keyof FeedValues]?: FeedState<FeedValues[K]> };
  /** The id of the drill that is shown. */
  readonly watched?: string;
  /** The time that the verdict on a shadow covers; undefined for the service's own choice. */
  readonly verdictSeconds?: number;
  /** The last one that the operator asked for. */
  readonly examination?: { readonly report: DoctorReport };
  readonly drillDryRun?: { readonly plan: string; readonly domains: readonly string[]; readonly preview: DrillPreview };
  readonly flushDryRun?: { readonly request: FlushBody; readonly preview: FlushPreview };
  /** The result of the last action, by the slot that shows it. */
  readonly feedback: Readonly<Record<string, Feedback>>;
  readonly busy: readonly string[];
}

export interface ConsoleAddress {
  /** Undefined for the first. */
  readonly domain: string | undefined;
  readonly view: View;
  /** In the audit: the cursor where an older page begins. */
  readonly before?: string;
}

/** `wasLive`: it was live before. `retryAtMs`: by `performance.now()`. */
export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly why: string; readonly wasLive: boolean; readonly retryAtMs: number };

export type Feedback = { readonly kind: 'done' | 'refused'; readonly text: string };

export type FlushBody = FlushRequest & { readonly domain: string; readonly reason?: string };

export interface FeedState<T = unknown> {
  readonly path: string;
  /** The last one read; undefined before the first. */
  readonly value?: T;
  /** When it was read, by `performance.now()`. */
  readonly receivedMs?: number;
  readonly problem?: ApiProblem;
}

/** Lines come one a second: after two missing ones the figures are shown as stale. */
const STALE_MS = 3000;

const VIEWS = ['live', 'drills', 'shadow', 'doctor', 'changes', 'popular', 'audit'] as const;
export type View = (typeof VIEWS)[number];

/** @param hash `#/goods/drills`, `#/goods/audit/0a1b2c3d4e5f-1234` */
export function consoleAddress(hash: string): ConsoleAddress {
  const [, domain = '', name = '', before = ''] = hash.split('/');
  const address = { domain: decoded(domain), view: VIEWS.find((view) => view === name) ?? 'live' };
  return address.view === 'audit' && /^[0-9a-f-]+$/.test(before) ? { ...address, before } : address;
}

export function consoleHref(domain: string, view: View, before?: string) {
  return `#/${encodeURIComponent(domain)}/${view}${before === undefined ? '' : `/${before}`}`;
}

/** @returns The figures shown are of the past. */
export function isStale(model: Model): boolean {
  return model.receivedMs === undefined || model.nowMs - model.receivedMs > STALE_MS;
}

/** The domain that the address names, or the first. */
export function currentDomain({ live, address }: Model): DomainLook | undefined {
  return live?.domains.find(({ domain }) => domain === address.domain) ?? live?.domains[0];
}

export function runningDrills({ live }: Model): readonly DrillSummary[] {
  return live?.drills.filter(({ running }) => running) ?? [];
}

export function isHalted({ live }: Model): boolean | undefined {
  return live?.domains.some(({ control }) => control.halted);
}

/**
 * The stores of a domain that has a choice of them: candidates, a shadow, or a cut-over. Undefined for other domains.
 */
export function shadowSummary({ feeds }: Model, domain: string | undefined): ShadowSummary | undefined {
  const summary = feeds.shadows?.value?.domains.find((each) => each.domain === domain);
  if (summary === undefined) return undefined;
  const { candidates, shadow, placement } = summary;
  return candidates.length > 0 || shadow !== undefined || placement !== undefined ? summary : undefined;
}

/** The stores of the current domain as the shadow view shows them. */
export function shadowStatus(model: Model): ShadowStatus | undefined {
  const status = model.feeds.shadowStatus?.value;
  return status?.domain === currentDomain(model)?.domain ? status : undefined;
}

/** Standing findings of the doctor that need a change; none before its first window. */
export function graveFindings({ feeds }: Model) {
  const { critical = 0, warning = 0 } = feeds.doctor?.value?.standing?.counts ?? {};
  return { critical, all: critical + warning };
}

function decoded(text: string) {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
