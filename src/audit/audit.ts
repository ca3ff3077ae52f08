/** One line per mutation asked for, done or refused, in an append-only file and in the log. */
export interface Audit {
  readonly record: (entry: AuditEntry) => void;
  /** The newest lines that can be read back, newest first, at most `n` and at most 1,000; none from a disk that hangs. */
  readonly newest: (n: number) => Promise<readonly RecordedEntry[]>;
  /** Waits until all lines are on disk. */
  readonly close: () => Promise<void>;
}

export interface AuditEntry {
  /** `flush`, `purge`, `suppress`, `drill-start`, `drill-abort`, `drill-ended`, `halt`, …; of a refused request without one, its route. */
  readonly action: string;
  readonly domain?: string;
  /** What the request named beside it: a drill or a warm-up. */
  readonly target?: string;
  /** Who asked: a name given with the token and the address it came from; `serpcache` for what a process did by itself. */
  readonly by: string;
  readonly reason?: string;
  /** `done`, or the code it was refused with. */
  readonly result: string;
  /** What was changed, as it was and as it is: small. */
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface RecordedEntry extends AuditEntry {
  /** Wall time. */
  readonly atMs: number;
}
