import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { Clock } from '../../runtime.ts';
import { type Decoded, wallTime } from '../../schema/fields.ts';
import { appendLines, type LogPage, type PageRequest, type Rotation, readBack } from './log-file.ts';

/**
 * One line per requested change, in append-only files and in the log: every change that was made or refused to an
 * operator, and a sample of the requests without the right token, with the count of the others.
 */
export type Audit = ReturnType<typeof createAudit>;

/** One line. Actions: `flush`, `purge`, `drill-start`, `drill-ended`, `halt` … `before` and `after` must be small. */
export const AUDIT_ENTRY = Type.Object({
  atMs: wallTime(),
  action: Type.String({ description: 'For a refused request that names no action: its method and path.' }),
  domain: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: 'The drill or warm-up that the request named.' })),
  // `serpcache` for actions of a process itself.
  by: Type.String({ description: 'A name and an address; without the right token only the address.' }),
  reason: Type.Optional(Type.String()),
  result: Type.String({
    description:
      '`done`; the code of the refusal; `cut-off` when the client closed the connection; `omitted` for refusals without a line of their own.',
  }),
  // See `createRefusalSampler` in http/admin/audit.ts.
  omitted: Type.Optional(
    Type.Integer({
      description:
        'Number of earlier requests of the same address that were refused for lack of the token and got no line.',
    }),
  ),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});
export type RecordedEntry = Decoded<typeof AUDIT_ENTRY>;
export type AuditEntry = Omit<RecordedEntry, 'atMs'>;

type AuditPage = LogPage<RecordedEntry>;

export interface AuditOptions extends Rotation {
  /** NDJSON. The file and its directory are created, readable by their owner only. Full files are kept beside it. */
  readonly file: string;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Maximum bytes of lines that wait for a slow disk. Further lines are in the log only, and counted. */
  readonly maxWaitingBytes?: number;
  /** Interval between attempts while the file cannot be written. */
  readonly retryMs?: number;
}

const MAX_WAITING_BYTES = 2 ** 20;
const MAX_LINE_BYTES = 16 * 1024;
const RETRY_MS = 1000;
/** Maximum number of entries in one page. */
const MAX_PAGE = 1000;
/** Maximum number of reads by other readers that one reader waits for. */
const MAX_TURNS = 64;
const EMPTY_PAGE: AuditPage = { entries: [] };
/** Maximum wait for the disk, so that a disk that hangs delays neither the end of the process nor a reader. */
const MAX_WAIT_MS = 1000;

/** A line is in the log at once, and in the file as soon as it can be written. No method blocks, rejects or throws. */
export function createAudit(options: AuditOptions) {
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
    // In the same turn as the check of `waiting`, so that a line recorded later starts a new write.
    writing = undefined;
  };

  /** Shows readers of the file that lines are missing, and where. */
  const reportLoss = (): void => {
    const gap = { action: 'audit-gap', by: 'serpcache', result: 'done', after: { lost } };
    if (enqueue(lineOf({ atMs: clock.wallMs(), ...gap }))) lost = 0;
  };

  const read = async (wanted: PageRequest): Promise<AuditPage | undefined> => {
    try {
      return await readBack(file, wanted, isRecorded);
    } catch (error) {
      log.warn({ file, err: error }, 'the audit file cannot be read');
      return EMPTY_PAGE;
    } finally {
      reading = undefined;
    }
  };

  const waitFor = <T>(work: Promise<T> | undefined): Promise<T | undefined> =>
    Promise.race([work, sleep(MAX_WAIT_MS, undefined, { ref: false })]);

  return {
    record: (entry: AuditEntry) => {
      log.info({ audit: entry }, 'audit');
      if (!enqueue(lineOf({ atMs: clock.wallMs(), ...entry }))) {
        if (lost === 0) log.error({ file }, 'the audit file takes no more lines: they are in this log only');
        lost += 1;
      }
      if (waiting.length > 0) writing ??= write();
    },
    /**
     * Recorded lines, newest first, at most 1,000; none from a disk that hangs. Undefined: the cursor is invalid, or its file
     * is gone, removed by rotation or moved away.
     */
    page: async ({ limit, before }: PageRequest): Promise<AuditPage | undefined> => {
      const wanted = { limit: Math.min(limit, MAX_PAGE), before };
      await waitFor(writing);
      // One read at a time: on a slow disk each read can block one of the few threads of the thread pool.
      for (let waited = 0; waited < MAX_TURNS; waited += 1) {
        reading ??= { wanted: JSON.stringify(wanted), page: read(wanted) };
        const { wanted: underWay, page } = reading;
        const done = await waitFor(page.then((value) => ({ value })));
        if (done === undefined) return EMPTY_PAGE;
        if (underWay === JSON.stringify(wanted)) return done.value;
      }
      return EMPTY_PAGE;
    },
    /** Waits until all lines are on disk, for one second at most. */
    close: async () => {
      ending.abort();
      await waitFor(writing);
      const missing = waiting.length + lost;
      if (missing > 0) log.error({ file, lost: missing }, 'audit lines are in this log only');
    },
  };
}

/** One line; without `before` and `after` if they are too large or not JSON. */
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

const shape = Compile(AUDIT_ENTRY);
const isRecorded = (value: unknown): value is RecordedEntry => shape.Check(value);
