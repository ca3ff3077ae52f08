import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../runtime.ts';
import { appendLines, type Rotation, readBack } from './log-file.ts';

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

export interface AuditOptions extends Rotation {
  /** NDJSON; it and its directory are made, readable by their owner alone. Full ones stand beside it, see rotation.ts. */
  readonly file: string;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Of lines that wait for a slow disk. Further ones are in the log only, and counted. */
  readonly maxWaitingBytes?: number;
  /** Between attempts while the disk takes nothing. */
  readonly retryMs?: number;
}

const MAX_WAITING_BYTES = 2 ** 20;
const MAX_LINE_BYTES = 16 * 1024;
const RETRY_MS = 1000;
/** Entries of one page. */
const MAX_PAGE = 1000;
/** Other readers' pages that one waits for. */
const MAX_TURNS = 64;
const NOTHING: AuditPage = { entries: [] };
/** A disk that hangs must hold up neither the end of the process nor a reader. */
const PATIENCE_MS = 1000;

/** The line is in the log at once and in the file as soon as the disk takes it. Nothing here blocks, rejects or throws. */
export function createAudit(options: AuditOptions): Audit {
  const { file, log, clock, maxBytes, keep, maxWaitingBytes = MAX_WAITING_BYTES, retryMs = RETRY_MS } = options;
  const rotation: Rotation = { maxBytes, keep };
  const ending = new AbortController();
  const waiting: string[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let writing: Promise<void> | undefined;
  let reading: { readonly wanted: string; readonly page: Promise<AuditPage | undefined> } | undefined;
  let cannotRotate = false;

  /** False when there is no room. */
  const enqueue = (line: string): boolean => {
    const bytes = Buffer.byteLength(line);
    if (waitingBytes + bytes > maxWaitingBytes) return false;
    waiting.push(line);
    waitingBytes += bytes;
    return true;
  };

  const write = async (): Promise<void> => {
    let isFailing = false;
    while (waiting.length > 0) {
      const { written, fault, rotationFault } = await appendLines(file, rotation, [...waiting]);
      for (const line of waiting.splice(0, written)) waitingBytes -= Buffer.byteLength(line);
      if (waiting.length === 0 && lost > 0) reportLoss();
      if (fault !== undefined && !isFailing) log.error({ file, err: fault }, 'the audit file cannot be written');
      if (fault === undefined && isFailing) log.info({ file }, 'the audit file is written again');
      if (rotationFault !== undefined && !cannotRotate) {
        log.error({ file, err: rotationFault }, 'the audit file is full and cannot be rotated: it grows on');
      }
      if (written > 0) cannotRotate = rotationFault !== undefined;
      isFailing = fault !== undefined;
      if (!isFailing) continue;
      if (ending.signal.aborted) break;
      await sleep(retryMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
    }
    // In the same turn as the last look at what waits, so that no line ever waits for nobody.
    writing = undefined;
  };

  /** Whoever reads the file alone must see that something is missing, and where. */
  const reportLoss = (): void => {
    const gap = { action: 'audit-gap', by: 'serpcache', result: 'done', after: { lost } };
    if (enqueue(lineOf({ atMs: clock.wallMs(), ...gap }))) lost = 0;
  };

  const read = async (wanted: AuditPageWish): Promise<AuditPage | undefined> => {
    try {
      return await readBack(file, wanted);
    } catch (error) {
      log.warn({ file, err: error }, 'the audit file cannot be read');
      return NOTHING;
    } finally {
      reading = undefined;
    }
  };

  const patiently = <T>(work: Promise<T> | undefined): Promise<T | undefined> =>
    Promise.race([work, sleep(PATIENCE_MS, undefined, { ref: false })]);

  return {
    record: (entry) => {
      log.info({ audit: entry }, 'audit');
      if (!enqueue(lineOf({ atMs: clock.wallMs(), ...entry }))) {
        if (lost === 0) log.error({ file }, 'the audit file takes no more lines: they are in this log only');
        lost += 1;
      }
      if (waiting.length > 0) writing ??= write();
    },
    page: async ({ limit, before }) => {
      const wanted = { limit: Math.min(limit, MAX_PAGE), ...(before === undefined ? {} : { before }) };
      await patiently(writing);
      // One at a time: each may hold one of the few threads that files share with all else, for as long as the disk likes.
      for (let waited = 0; waited < MAX_TURNS; waited += 1) {
        reading ??= { wanted: JSON.stringify(wanted), page: read(wanted) };
        const { wanted: underWay, page } = reading;
        const done = await patiently(page.then((value) => ({ value })));
        if (done === undefined) return NOTHING;
        if (underWay === JSON.stringify(wanted)) return done.value;
      }
      return NOTHING;
    },
    close: async () => {
      ending.abort();
      await patiently(writing);
      const missing = waiting.length + lost;
      if (missing > 0) log.error({ file, lost: missing }, 'audit lines are in this log only');
    },
  };
}

/** One line, however large what was changed: without it then. */
function lineOf(entry: RecordedEntry): string {
  const line = jsonOf(entry);
  if (line !== undefined && Buffer.byteLength(line) <= MAX_LINE_BYTES) return line;
  const { before: _before, after: _after, ...rest } = entry;
  return JSON.stringify({ ...rest, after: { omitted: line === undefined ? 'not JSON' : 'too large' } });
}

function jsonOf(entry: AuditEntry): string | undefined {
  try {
    return JSON.stringify(entry);
  } catch {
    return undefined;
  }
}
