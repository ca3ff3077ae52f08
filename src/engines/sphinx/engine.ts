import { setTimeout as sleep } from 'node:timers/promises';
import { createRetryBudget } from '../../resilience/load-balancer.ts';
import { SearchError } from '../../resilience/search-error.ts';
import type { Clock } from '../../runtime.ts';
import type { SearchRequest } from '../../search/domain.ts';
import { type Engine, probeOf, type ResultPage } from '../../search/engine.ts';
import type { ConnectionOptions } from './connection.ts';
import { type ConnectionEvent, createConnections } from './connection-pool.ts';
import { isAgentFault } from './errors.ts';
import { type MatchText, matchText, relaxedMatchText } from './match.ts';
import { emptyPage, pageOf } from './reply.ts';
import { createMarks, createStatements, type StatementOptions } from './statement.ts';

export interface SphinxOptions extends Omit<StatementOptions, 'marks'>, Omit<ConnectionOptions, 'onClose'> {
  readonly hardDeadlineMs: number;
  /** The sum of all processes and domains must stay below searchd's max_children (Manticore: max_connections). */
  readonly maxConnections: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe?: (event: SphinxEvent) => void;
}

/** Events of the adapter, for metrics, logs and tests. `target` is `host:port/index`. */
export type SphinxEvent =
  | ConnectionEvent
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
const RETRY_SHARE = 0.1;
const RETRY_BURST = 10;
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
  const statementFor = createStatements({ ...options, marks });
  const { monotonicMs } = clock;
  const connections = createConnections({ ...options, target, monotonicMs, observe, idleMs: IDLE_MS });
  const budget = createRetryBudget({ share: RETRY_SHARE, burst: RETRY_BURST });

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
    const first = await settled(ask(asked, text));
    const fault = first.page === undefined ? first.error.message : first.page.partial;
    if (fault === undefined || !isAgentFault(fault)) return unwrap(first);
    if (!budget.withdraw()) {
      observe({ kind: 'retry', target, result: 'spent', detail: fault });
      return unwrap(first);
    }
    // Ends early when the signal aborts; the second attempt then rejects.
    await sleep(RETRY_AFTER_MS, undefined, { signal: asked.signal }).catch(() => undefined);
    const second = await settled(ask(asked, text));
    const result = second.page === undefined ? 'failed' : second.page.partial === undefined ? 'whole' : 'partial';
    observe({ kind: 'retry', target, result, detail: fault });
    // A partial page of the first attempt is better than an error of the second.
    return unwrap(second.page === undefined && first.page !== undefined ? first : second);
  };

  const probe = probeOf(options.domain);
  const probeText: MatchText = { match: probe.text, words: probe.text };

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
    },
    close: async () => connections.close(),
    // Nothing cancels a query in searchd: it goes on after the client has disconnected.
    abortEndsWork: false,
  };
}

/** One search with all its attempts. */
interface Asked {
  readonly request: SearchRequest;
  readonly signal: AbortSignal;
  readonly hardDeadlineAtMs: number;
  readonly traceparent?: string | undefined;
}

type Settled = { readonly page: ResultPage } | { readonly page?: undefined; readonly error: SearchError };

async function settled(page: Promise<ResultPage>): Promise<Settled> {
  try {
    return { page: await page };
  } catch (error) {
    if (error instanceof SearchError) return { error };
    throw error;
  }
}

function unwrap(result: Settled): ResultPage {
  if (result.page === undefined) throw result.error;
  return result.page;
}
