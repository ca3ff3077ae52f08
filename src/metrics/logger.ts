import { type DestinationStream, type Logger, destination as openDestination, pino } from 'pino';
import type { LogLevel } from '../config/settings.ts';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Standard output otherwise. */
  readonly destination?: DestinationStream;
}

/** Lines are written in blocks of so many bytes: 3.3 µs a line where writing each costs 6.0 µs. */
const BLOCK_BYTES = 4096;
/** How old an unwritten line gets. */
const FLUSH_MS = 500;
/** pino's number for `error`. */
const ERROR = 50;
/** Of lines that cannot be written; more are dropped. */
const MAX_WAITING_BYTES = 2 ** 20;

/**
 * JSON lines without secrets. Lines wait in memory for up to 500 ms, except that an error takes all of them out at once
 * and so does the end of the process, however it ends short of SIGKILL.
 */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const stream = destination ?? standardOutput();
  return pino(
    {
      level,
      // pid and host name are the supervisor's business and would be in every line.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: [...TOP_LEVEL_SECRETS], censor: CENSORED },
      serializers: { err: (error: unknown) => describeError(error) },
      formatters: { level: (label) => ({ level: label }), log: redact },
      hooks: {
        logMethod(args, method, severity) {
          method.apply(this, args);
          if (severity >= ERROR) flushQuietly(stream);
        },
      },
    },
    stream,
  );
}

function standardOutput(): DestinationStream {
  const stream = openDestination({
    dest: 1,
    sync: true,
    minLength: BLOCK_BYTES,
    periodicFlush: FLUSH_MS,
    maxLength: MAX_WAITING_BYTES,
  });
  process.on('exit', () => flushQuietly(stream));
  return stream;
}

/** Whoever read the lines may be gone already; that must not end us with another error. */
function flushQuietly(stream: DestinationStream): void {
  try {
    if ('flushSync' in stream && typeof stream.flushSync === 'function') stream.flushSync();
  } catch {
    // Nobody is left to be told.
  }
}

/**
 * What must never be readable in a log line. The rooms log neither headers nor settings; this is the second lock.
 * Walking the few members of a line costs ~0.3 µs where pino's wildcard paths cost 13 µs per level of nesting.
 */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'apikey',
  'password',
  'sentinelpassword',
  'passphrase',
  'secret',
  'token',
  'admintoken',
  'signing',
  'previouskey',
]);

/** For pino's own `redact`, which is free for names at the top and also covers what a child logger is bound to. */
export const TOP_LEVEL_SECRETS: readonly string[] = [...SECRET_NAMES].map((name) =>
  name.includes('-') ? `["${name}"]` : name,
);

export const CENSORED = '[redacted]';

/** Deeper than any line goes; what lies below is left out rather than let through. */
const MAX_DEPTH = 6;

/** The same line without secrets at any depth: itself when there were none. Errors are left to `describeError`. */
export function redact<T extends object>(line: T): T {
  return redactMembers(line, 0) as T;
}

function redactMembers(members: object, depth: number): object {
  let copy: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(members)) {
    const safe = SECRET_NAMES.has(name.toLowerCase()) ? CENSORED : redactValue(value, depth);
    if (safe === value) continue;
    copy ??= { ...members };
    copy[name] = safe;
  }
  return copy ?? members;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.startsWith('-----BEGIN') ? CENSORED : value;
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth >= MAX_DEPTH) return CENSORED;
  if (!Array.isArray(value)) return redactMembers(value, depth + 1);
  const items = value.map((item) => redactValue(item, depth + 1));
  return items.some((item, index) => item !== value[index]) ? items : value;
}

export interface ErrorLine {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: ErrorLine;
}

/**
 * An error as a line shows it. Only these members: a client library's error carries the command it failed at, and the
 * first command of a connection is AUTH.
 */
export function describeError(error: unknown, depth = 0): ErrorLine {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(code === undefined ? {} : { code }),
    ...(error.cause === undefined || depth >= 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}
