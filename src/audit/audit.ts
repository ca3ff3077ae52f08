/**
 * One line per mutation asked for, in append-only files and in the log: each that was done or refused to an operator, and
 * of those refused for lack of the token a sample with the count of the rest.
 */
export interface Audit {
  readonly record: (entry: AuditEntry) => void;
  /**
   * Lines that can be read back, newest first; none from a disk that hangs. Undefined: the cursor is none of this audit's,
   * or its file has gone, removed by rotation or moved away.
   */
  readonly page: (wanted: AuditPageWish) => Promise<AuditPage | undefined>;
  /** Waits until all lines are on disk. */
  readonly close: () => Promise<void>;
}

export interface AuditEntry {
  /** `flush`, `purge`, `suppress`, `drill-start`, `drill-abort`, `drill-ended`, `halt`, …; of a refused request without one, its route. */
  readonly action: string;
  readonly domain?: string;
  /** What the request named beside it: a drill or a warm-up. */
  readonly target?: string;
  /**
   * Who asked. With the right token: the name that the caller gave, and the caller's address; without it: the address
   * alone. `serpcache` for what a process did by itself.
   */
  readonly by: string;
  readonly reason?: string;
  /** `done`, the code it was refused with, `cut-off`, or `held-back` for refusals that got no line of their own. */
  readonly result: string;
  /** Refusals of the same address since its last line that got none; see `http/admin/refusal-lines.ts`. */
  readonly heldBack?: number;
  /** What was changed, as it was and as it is: small. */
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface RecordedEntry extends AuditEntry {
  /** Wall time. */
  readonly atMs: number;
}

export interface AuditPageWish {
  /** 1–1,000. */
  readonly limit: number;
  /** The `next` of the page before; absent: the newest lines. */
  readonly before?: string;
}

export interface AuditPage {
  readonly entries: readonly RecordedEntry[];
  /** Where older lines begin. Absent: there are none. A page may have no entries and older lines all the same. */
  readonly next?: string;
}
