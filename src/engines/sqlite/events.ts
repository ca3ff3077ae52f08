/** What the worker threads of an index say happened, once; metrics, logs and tests read it. */
export type SqliteEvent =
  | { readonly kind: 'worker'; readonly state: 'ready' | 'ended' }
  /** It ended by itself or could not start; the next start is tried after `restartMs`. */
  | { readonly kind: 'worker'; readonly state: 'crashed'; readonly detail: string; readonly restartMs: number };
