import { setTimeout as sleep } from 'node:timers/promises';
import { createRetryBudget } from '../../resilience/endpoints.ts';
import { SearchError } from '../../resilience/search-error.ts';
import type { Clock } from '../../runtime.ts';
import type { SearchRequest } from '../../search/domain.ts';
import { type Engine, probeOf, type ResultPage } from '../../search/engine.ts';
import {
  type Connection,
  type ConnectionEnd,
  type ConnectionOptions,
  openConnection,
  type ResultSets,
} from './connection.ts';
import { isAgentFault } from './errors.ts';
import { createRotationWatch } from './rotation.ts';
import { createMarks, emptyPage, pageOf } from './rows.ts';
import {
  createSphinxStatements,
  type MatchText,
  matchText,
  relaxedMatchText,
  type StatementOptions,
} from './statement.ts';

export interface SphinxOptions extends Omit<StatementOptions, 'marks'>, Omit<ConnectionOptions, 'onClose'> {
  readonly hardDeadlineMs: number;
  /** The sum of all processes and domains must stay below searchd's max_children (Manticore: max_connections). */
  readonly maxConnections: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe?: (event: SphinxEvent) => void;
  /** A probe has seen that a plain index was replaced since the probe before. */
  readonly onReplaced?: (() => void) | undefined;
}

/** Events of the adapter, for metrics, logs and tests. `target` is `host:port/index`. */
export type SphinxEvent =
  | EngineConnectionEvent
  | {
      readonly kind: 'retry';
      readonly target: string;
      /** `spent`: the retry budget was used up. */
      readonly result: 'whole' | 'partial' | 'failed' | 'spent';
      readonly detail: string;
    }
  | { readonly kind: 'relaxed'; readonly target: string; readonly found: boolean };

/** Part of every key. Raise it when the same request may get a different page. */
export const SPHINX_REVISION = 3;

/** searchd closes idle connections after 300 s at the earliest. */
const IDLE_MS = 60_000;
/** Enough time for searchd to mark a dead mirror and ask the other one. */
const RETRY_AFTER_MS = 50;
/** max_query_time is this share of the time to the hard deadline: a slow query then gives a partial page instead of none. */
const QUERY_TIME_SHARE = 0.9;

/**
 * The engine port over SphinxQL, for searchd 2.2.11 and Manticore.
 * @throws when a configured name is not allowed in a statement.
 */
export function createSphinxEngine(options: SphinxOptions): Engine {
  const { clock, random } = options;
  const observe = options.observe ?? (() => {});
  const target = `${options.host}:${options.port}/${options.index}`;
  const marks = createMarks(random);
  const statementFor = createSphinxStatements({ ...options, marks });
  const { monotonicMs } = clock;
  const connections = createConnections({ ...options, target, monotonicMs, observe, idleMs: IDLE_MS });
  const budget = createRetryBudget();

  const ask = async (asked: Asked, text: MatchText): Promise<ResultPage> => {
    const { request, signal, hardDeadlineAtMs, traceparent } = asked;
    const maxQueryTimeMs = (hardDeadlineAtMs - clock.monotonicMs()) * QUERY_TIME_SHARE;
    const statement = statementFor(request, text, { maxQueryTimeMs, traceparent });
    if (statement === undefined) return emptyPage(request);
    return pageOf(await connections.ask(statement, signal), request, { ...options, marks });
  };

  /** Sphinx 2.2.11 answers without a dead agent's part instead of asking the agent's mirror, so we try a second time. */
  const askTwice = async (asked: Asked, text: MatchText): Promise<ResultPage> => {
    budget.deposit();
    const [first] = await Promise.allSettled([ask(asked, text)]);
    const fault: string | undefined = first.status === 'rejected' ? first.reason.message : first.value.partial;
    if (fault === undefined || !isAgentFault(fault)) return unwrap(first);
    if (!budget.withdraw()) {
      observe({ kind: 'retry', target, result: 'spent', detail: fault });
      return unwrap(first);
    }
    // Ends early when the signal aborts; the second attempt then rejects.
    await sleep(RETRY_AFTER_MS, undefined, { signal: asked.signal }).catch(() => undefined);
    const [second] = await Promise.allSettled([ask(asked, text)]);
    const result = second.status === 'rejected' ? 'failed' : second.value.partial === undefined ? 'whole' : 'partial';
    observe({ kind: 'retry', target, result, detail: fault });
    // A partial page of the first attempt is better than an error of the second.
    return unwrap(second.status === 'rejected' && first.status === 'fulfilled' ? first : second);
  };

  const probe = probeOf(options.domain);
  const probeText: MatchText = { match: probe.text, words: probe.text };
  const { onReplaced } = options;
  const readRotation = onReplaced === undefined ? undefined : createRotationWatch(options, onReplaced);

  const search: Engine['search'] = async (request, signal, traceparent) => {
    if (signal.aborted) throw new SearchError('engine-timeout', 'aborted before it was asked');
    const text = matchText(request.text);
    if (text === undefined) return emptyPage(request);
    const asked = { request, signal, hardDeadlineAtMs: clock.monotonicMs() + options.hardDeadlineMs, traceparent };
    const page = await askTwice(asked, text);
    const relaxed = page.total === 0 && page.partial === undefined ? relaxedMatchText(request.text) : undefined;
    if (relaxed === undefined) return page;
    const second = await askTwice(asked, relaxed);
    observe({ kind: 'relaxed', target, found: second.total > 0 });
    return second;
  };

  return {
    search,
    probe: async (signal) => {
      if (signal.aborted) throw new SearchError('engine-timeout', 'aborted before it was asked');
      await ask({ request: probe, signal, hardDeadlineAtMs: clock.monotonicMs() + options.hardDeadlineMs }, probeText);
      // The engine has answered. Figures that are refused or late are read by the next probe.
      await readRotation?.((sql) => connections.ask(sql, signal)).catch(() => undefined);
    },
    close: async () => connections.close(),
    // Nothing cancels a query in searchd: it goes on after the client has disconnected.
    abortEndsWork: false,
  };
}

interface Asked {
  readonly request: SearchRequest;
  readonly signal: AbortSignal;
  readonly hardDeadlineAtMs: number;
  readonly traceparent?: string | undefined;
}

function unwrap(result: PromiseSettledResult<ResultPage>): ResultPage {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

export interface EngineConnectionEvent {
  readonly kind: 'connection';
  readonly target: string;
  /** `discarded`: closed during a query, which searchd does not stop. `failed`: never opened. */
  readonly state: 'open' | 'closed' | 'failed' | 'discarded';
  readonly detail?: string;
}

interface ConnectionsOptions extends Omit<ConnectionOptions, 'onClose'> {
  readonly maxConnections: number;
  /** Below 300 s, after which searchd may close an idle connection. Each connection counts toward its max_children. */
  readonly idleMs: number;
  readonly target: string;
  readonly monotonicMs: () => number;
  readonly observe: (event: EngineConnectionEvent) => void;
}

/**
 * A bounded set of connections. A concurrency limiter stands before it, so a connection is nearly always free. At most
 * `maxConnections` calls wait for one.
 */
export function createConnections(options: ConnectionsOptions) {
  const { maxConnections, idleMs, target, monotonicMs, observe } = options;
  /** The most recently used connection is last and is taken first, so that surplus ones stay idle and are closed. */
  const idle: { readonly connection: Connection; readonly sinceMs: number }[] = [];
  let idleTimer: NodeJS.Timeout | undefined;
  const all = new Set<Connection>();
  const waiting: (() => void)[] = [];
  const doubt = createDoubt({ monotonicMs, onLate: () => wakeAll() });
  /** Number of connections that are open or being opened. */
  let held = 0;
  let closed = false;

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };

  const open = async (signal: AbortSignal): Promise<Connection> => {
    held += 1;
    let connection: Connection | undefined;
    const onClose = ({ detail, isLoss }: ConnectionEnd): void => {
      const at = idle.findIndex((entry) => entry.connection === connection);
      if (at >= 0) idle.splice(at, 1);
      if (connection !== undefined) all.delete(connection);
      observe({ kind: 'connection', target, state: connection === undefined ? 'failed' : 'closed', detail });
      if (isLoss) doubt.begin();
      held -= 1;
      waiting.shift()?.();
    };
    connection = await openConnection({ ...options, onClose }, signal);
    doubt.end();
    all.add(connection);
    observe({ kind: 'connection', target, state: 'open' });
    if (closed) connection.destroy();
    return connection;
  };

  const take = async (signal: AbortSignal): Promise<Connection> => {
    for (;;) {
      if (closed) throw new SearchError('engine-unavailable', 'the engine is closed');
      if (signal.aborted) throw timeout();
      const entry = idle.pop();
      if (entry?.connection.isOpen()) return entry.connection;
      if (entry !== undefined) continue;
      if (doubt.isLate()) throw noGreeting();
      if (held < maxConnections) return doubt.orLeave(open, signal, giveBack);
      if (waiting.length >= maxConnections) {
        throw new SearchError('engine-overloaded', `all ${maxConnections} connections are busy, and so is their queue`);
      }
      await wait(signal);
    }
  };

  /** Waits until a connection may be idle or may be opened, or the signal aborts. */
  const wait = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        const at = waiting.indexOf(wake);
        if (at >= 0) waiting.splice(at, 1);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.push(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  const giveBack = (connection: Connection): void => {
    if (!connection.isOpen()) return;
    if (closed) {
      connection.destroy();
      return;
    }
    idle.push({ connection, sinceMs: monotonicMs() });
    idleTimer ??= setTimeout(closeIdle, idleMs).unref();
    waiting.shift()?.();
  };

  /** One timer for all connections, so that a search sets none. The longest idle one is first. */
  const closeIdle = (): void => {
    idleTimer = undefined;
    const untilMs = monotonicMs() - idleMs;
    while (idle[0] !== undefined && idle[0].sinceMs <= untilMs) idle.shift()?.connection.destroy();
    if (idle[0] !== undefined) idleTimer = setTimeout(closeIdle, Math.max(1, idle[0].sinceMs - untilMs)).unref();
  };

  /** @throws SearchError; `engine-timeout` as soon as `signal` aborts. */
  const ask = async (sql: string, signal: AbortSignal): Promise<ResultSets> => {
    const connection = await take(signal);
    if (signal.aborted) {
      giveBack(connection);
      throw timeout();
    }
    // searchd goes on with an aborted query and would delay the next one: such a connection is never used again.
    let aborted = false;
    const abort = (): void => {
      aborted = true;
      observe({ kind: 'connection', target, state: 'discarded' });
      connection.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await connection.send(sql);
    } catch (error) {
      throw aborted ? timeout() : error;
    } finally {
      signal.removeEventListener('abort', abort);
      giveBack(connection);
    }
  };

  return {
    ask,
    counts: () => ({ open: all.size, idle: idle.length, waiting: waiting.length }),
    /** Ends all connections; later asks are `engine-unavailable`. */
    close: (): void => {
      closed = true;
      clearTimeout(idleTimer);
      for (const connection of all) connection.destroy();
      wakeAll();
    },
  };
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * Wait for a connection to a server in doubt, as a multiple of the time that the last one took, and its bounds. A searchd that
 * is well and near opens one within a few milliseconds; one that is far, or a busy machine, takes longer every time.
 */
const DOUBTED = { timesUsual: 4, leastMs: 25, mostMs: 250 };
/** Time that an attempt has after its caller has left. The server may have lost it, and would greet a new one. */
const LEFT_MS = 2000;

/**
 * Doubt begins when the server ends a connection or lets one wait for its greeting, and ends with the next one that opens.
 * A searchd that was told to end (SIGTERM) closes each connection at its next statement, but goes on listening until the
 * last client has left, for three seconds at most: a new connection is accepted and never greeted. Its caller does not
 * wait for it, nor do others; the attempt goes on for a while and shows that the server is back.
 */
function createDoubt({ monotonicMs, onLate }: { readonly monotonicMs: () => number; readonly onLate: () => void }) {
  const attempts = new Set<() => void>();
  let doubted = false;
  /** Time that the last connection took to open. */
  let usualMs = 0;
  /** Number of attempts that their callers have left. */
  let late = 0;

  return {
    begin: (): void => {
      doubted = true;
      for (const hurry of attempts) hurry();
    },
    end: (): void => {
      doubted = false;
    },
    /** A caller has left an attempt, which has not ended: a further one would wait like it. */
    isLate: (): boolean => doubted && late > 0,
    /** Opens a connection. Its caller leaves while the server is in doubt; `giveBack` then gets the connection. */
    orLeave: (
      open: (signal: AbortSignal) => Promise<Connection>,
      signal: AbortSignal,
      giveBack: (connection: Connection) => void,
    ): Promise<Connection> =>
      new Promise((resolve, reject) => {
        const ends = new AbortController();
        let timer: NodeJS.Timeout | undefined;
        let turn: NodeJS.Immediate | undefined;
        let isLate = false;
        const leave = (): void => {
          timer = undefined;
          if (!doubted) return;
          isLate = true;
          late += 1;
          timer = setTimeout(() => ends.abort(), LEFT_MS);
          reject(noGreeting());
          onLate();
        };
        const hurry = (): void => {
          if (isLate) return;
          // One more turn: after a blocked event loop the greeting may be in the socket already.
          const waitMs = Math.min(DOUBTED.mostMs, Math.max(DOUBTED.leastMs, DOUBTED.timesUsual * usualMs));
          timer ??= setTimeout(() => {
            turn = setImmediate(leave);
          }, waitMs);
        };
        const sinceMs = monotonicMs();
        const settle = (): void => {
          attempts.delete(hurry);
          clearTimeout(timer);
          clearImmediate(turn);
          if (isLate) late -= 1;
        };
        attempts.add(hurry);
        if (doubted) hurry();
        open(AbortSignal.any([signal, ends.signal])).then(
          (connection) => {
            settle();
            usualMs = monotonicMs() - sinceMs;
            if (isLate) giveBack(connection);
            else resolve(connection);
          },
          (error: unknown) => {
            settle();
            reject(error);
          },
        );
      }),
  };
}

function noGreeting(): SearchError {
  return new SearchError('engine-unavailable', 'the server ends or hangs: it accepts connections and does not greet');
}

function timeout(): SearchError {
  return new SearchError('engine-timeout', 'no reply before the hard deadline');
}
