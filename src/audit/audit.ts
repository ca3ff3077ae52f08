/** One line per mutation asked for, done or refused, in an append-only file and in the log. */
export interface Audit {
  readonly record: (entry: AuditEntry) => void;
  /** Waits until all lines are on disk. */
  readonly close: () => Promise<void>;
}

export interface AuditEntry {
  /** `flush`, `purge`, `suppress`, `drill-start`, `drill-abort`, `drill-ended`, `halt`, …; of a refused request without one, its route. */
  readonly action: string;
  readonly domain?: string;
  /** Who asked: a name given with the token and the address it came from; `serpcache` for what a process did by itself. */
  readonly by: string;
  readonly reason?: string;
  /** `done`, or the code it was refused with. */
  readonly result: string;
  /** What was changed, as it was and as it is: small. */
  readonly before?: unknown;
  readonly after?: unknown;
}
