import type { StoreEvent } from '../cache/store.ts';
import type { ChangeEvent } from '../changes/feed.ts';
import type { ControlEvent } from '../control/control.ts';
import { PLACEMENT_PHASES } from '../control/document.ts';
import type { SphinxEvent } from '../engines/sphinx/engine.ts';
import type { SqliteEvent } from '../engines/sqlite/pool.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import { reasonsBy } from '../resilience/search-error.ts';
import type { SearchEvent } from '../search/events.ts';

export { AGREED as AGREEMENTS } from '../operations/shadow/figures.ts';
export { COPY_RESULTS as SHADOW_COPY_RESULTS } from '../operations/shadow/shadow.ts';
export { BREAKER_STATES } from '../resilience/endpoints.ts';

/** All values of a union: a new one does not compile until it is listed here and so has its series. */
function values<T extends string>(all: Readonly<Record<T, true>>): readonly T[] {
  return Object.keys(all) as T[];
}

type Of<E, K extends string> = Extract<E, { readonly kind: K }>;

/** The engine gave no page. */
const ENGINE_REASONS = reasonsBy('engine');

const STORE_FAILURES = {
  refused: true,
  'node-open': true,
  'store-down': true,
  'store-saturated': true,
  'store-slow': true,
} as const;

export const ENGINE_RESULTS: readonly Of<SearchEvent, 'engine'>['result'][] = [
  'whole',
  'empty',
  'partial',
  ...ENGINE_REASONS,
];

/** `busy` is said by http, before a load. */
export const REFRESH_RESULTS = values<Exclude<Of<SearchEvent, 'refresh'>['result'], 'busy'>>({
  'from-store': true,
  'from-engine': true,
  leased: true,
  'over-budget': true,
  overloaded: true,
  'engine-open': true,
  'engine-deadline': true,
  'engine-unavailable': true,
  'engine-rejected': true,
});

export const LIFEBOAT_RESULTS: readonly Of<SearchEvent, 'lifeboat'>['result'][] = [
  'whole',
  'empty',
  'shed',
  ...ENGINE_REASONS,
];

export const LEASE_RESULTS = values<Of<SearchEvent, 'lease'>['result']>({
  taken: true,
  waited: true,
  passed: true,
  open: true,
  crowded: true,
  fenced: true,
  left: true,
});

export const FAILOVER_RESULTS = values<Of<GuardEvent, 'retry'>['result']>({
  answered: true,
  failed: true,
  spent: true,
});

export const NOT_STORED_REASONS = values<Of<SearchEvent, 'not-stored'>['why']>({
  'too-large': true,
  degraded: true,
  fenced: true,
  ...STORE_FAILURES,
});

export const STORE_OPERATIONS = values<Of<StoreEvent, 'command'>['operation']>({
  read: true,
  write: true,
  lease: true,
  fleet: true,
  control: true,
  changes: true,
  content: true,
  counters: true,
});

export const COMMAND_RESULTS = values<Of<StoreEvent, 'command'>['result']>({
  value: true,
  absent: true,
  stored: true,
  answered: true,
  ...STORE_FAILURES,
});

export const PIPELINE_TYPES = values<Of<StoreEvent, 'pipeline'>['type']>({ read: true, write: true });

export const CONNECTION_STATES = values<Of<StoreEvent, 'connection'>['state']>({
  open: true,
  closed: true,
  failed: true,
});

export const ENGINE_CONNECTION_STATES = values<Of<SphinxEvent, 'connection'>['state']>({
  open: true,
  closed: true,
  failed: true,
  discarded: true,
});

export const RETRY_RESULTS = values<Of<SphinxEvent, 'retry'>['result']>({
  whole: true,
  partial: true,
  failed: true,
  spent: true,
});

export const WORKER_STATES = values<Of<SqliteEvent, 'worker'>['state']>({
  ready: true,
  ended: true,
  crashed: true,
  reopened: true,
  kept: true,
});

type DrillState = Of<ControlEvent, 'overlay'>['state'];

export const CONTROL_EVENTS = values<Exclude<ControlEvent['kind'], 'overlay'> | `drill-${DrillState}`>({
  'control-changed': true,
  'control-away': true,
  'control-back': true,
  'control-restored': true,
  'control-corrupt': true,
  'control-unsigned': true,
  'control-reports-refused': true,
  'drill-live': true,
  'drill-ended': true,
  'drill-void': true,
});

export const STALE_REASONS = values<Exclude<Of<SearchEvent, 'audit'>['result'], 'equal'>>({
  changed: true,
  left: true,
  entered: true,
  facet: true,
  unknown: true,
});

export const GAP_REASONS = values<Of<ChangeEvent, 'changes-gap'>['why']>({
  trimmed: true,
  replaced: true,
  source: true,
  corrupt: true,
  index: true,
  lag: true,
});

export const PAGE_CHANGES = values<Of<ChangeEvent, 'page-changed'>['why']>({
  deleted: true,
  changed: true,
  entered: true,
  unknown: true,
});

export const SHADOW_COPY_TYPES = values<Of<ShadowEvent, 'shadow-copy'>['type']>({ read: true, write: true });

/** `configured`: the control document has no placement. */
export const PLACEMENTS = ['configured', ...PLACEMENT_PHASES] as const;

export const STATUSES = [200, 304, 400, 404, 405, 412, 413, 414, 415, 429, 431, 499, 500, 502, 503, 504].map(String);
