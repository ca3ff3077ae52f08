import { MISS_REASONS } from '../cache/events.ts';
import type { StoreEvent } from '../cache/store.ts';
import type { ChangeEvent } from '../changes/feed.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { RequestEvent } from '../http/events.ts';
import { CONNECTION_EVENTS, type ConnectionEvent, TOKEN_RESULTS, type TokenEvent } from '../http/transport/events.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import { reasonsBy } from '../resilience/search-error.ts';
import type { SearchEvent } from '../search/events.ts';
import { OUTCOMES } from '../search/outcome.ts';
import type { TracingEvent } from '../tracing/delivery.ts';
import type { Observers } from './events.ts';
import * as values from './label-values.ts';
import { type Buckets, countBy, type MetricKit, type Table, together } from './series.ts';

/** Bounds of the sizes of pipelines, from one command. */
const COMMANDS: Buckets = { bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], perUnit: 1 };

const TIERS = ['l1', 'l2'];
const BACKFILL_RESULTS = ['stored', 'kept', 'dropped'] as const;
const uncounted = (): void => {};

/**
 * The counters of searches, of all that they run through, and of the other rooms: for each kind of event the metric, its help, its labels with
 * all their values, and the members of the event that are the values.
 * @param domain configured names: the only values of a `domain` label, beside `none` and `other`.
 */
export function createCounters(
  { counter, sparse, histogram, summary }: MetricKit,
  domain: readonly string[],
): Omit<Observers, Uncounted | 'observeDoctor'> {
  // `none`: refused before the domain was known.
  const domainOrNone = [...domain, 'none'];
  const countRequest = counter<RequestEvent>(
    'serpcache_requests_total',
    'Searches by outcome; every search has exactly one. With a page: hit-l1 (memory), hit-l2 (store), stale (an expired page), collapsed (the page of another search for the same key), engine, lifeboat (the fallback engine). Without: shed (refused because of load), failed, rejected (a fault of the client), aborted (the client left).',
    { domain: domainOrNone, outcome: OUTCOMES, route: ['search', 'msearch'] },
    (add) => (event) => add(1, event.domain, event.outcome, event.route),
  );
  const countStatus = sparse<RequestEvent>(
    'serpcache_responses_total',
    'Searches by HTTP status; each item of a batch is a search. 499: the client closed the connection before the answer.',
    { status: values.STATUSES },
    (add) => (event) => add(1, String(event.status)),
  );
  const observeDuration = histogram<RequestEvent>(
    'serpcache_request_duration_seconds',
    'Time from receiving a search to its answer, by outcome.',
    { domain: domainOrNone, outcome: OUTCOMES },
    (observe) => (event) => observe(event.durationMs, event.domain, event.outcome, event.traceId),
  );

  const search: Table<SearchEvent> = {
    miss: counter(
      'serpcache_misses_total',
      'Searches not answered from the cache, by the first reason that applied. unseen and expired are normal; node-open, store-down, store-slow and store-saturated mean a faulty store; flushed and suppressed follow from operators, deleted and changed from the feed of changes; corrupt, oversized and unsigned mean damaged or foreign entries.',
      { domain, reason: MISS_REASONS },
      (add) => (event) => add(1, event.domain, event.reason),
    ),
    engine: together(
      counter(
        'serpcache_engine_calls_total',
        'Calls to the engine, by result. whole, empty and partial are answers; the others failed. Divided by the searches it is the load that the cache does not take away.',
        { domain, outcome: values.ENGINE_RESULTS },
        (add) => (event) => add(1, event.domain, event.result),
      ),
      counter(
        'serpcache_engine_late_replies_total',
        'Engine calls that ended after the deadline of the search: it was answered without them. They held a permit all that time.',
        { domain },
        (add) => (event) => add(event.late ? 1 : 0, event.domain),
      ),
      histogram(
        'serpcache_engine_duration_seconds',
        'Duration of a call to the engine, without the wait for its permit. A rising duration comes before failures.',
        { domain },
        (observe) => (event) => observe(event.durationMs, event.domain),
      ),
    ),
    stored: together(
      counter(
        'serpcache_stored_total',
        'Entries written to the tier: l1 is the memory of the process, l2 the store.',
        { domain, tier: TIERS },
        (add) => (event) => add(1, event.domain, event.tier),
      ),
      counter(
        'serpcache_stored_bytes_total',
        'Bytes of the entries written to the tier, compressed as they are stored.',
        { domain, tier: TIERS },
        (add) => (event) => add(event.bytes, event.domain, event.tier),
      ),
    ),
    'not-stored': sparse(
      'serpcache_not_stored_total',
      'Pages answered but not written to the tier. node-open, store-down, store-slow, store-saturated and refused mean a store that takes no writes: these searches will miss again. fenced: another process had the right to write it. degraded: partial pages are not stored.',
      { domain, tier: TIERS, reason: values.NOT_STORED_REASONS },
      (add) => (event) => add(1, event.domain, event.tier, event.why),
    ),
    refresh: counter(
      'serpcache_refreshes_total',
      'Loads in the background for pages that were answered stale. from-store and from-engine renewed the page, leased left it to another process; the others did not, and the page stays stale.',
      { domain, outcome: values.REFRESH_RESULTS },
      (add) => (event) => add(1, event.domain, event.result),
    ),
    lease: counter(
      'serpcache_leases_total',
      'Requests for the lease, the right of one process of the fleet to ask the engine for a key. taken: asked the engine. waited: got the page of another process. open: no lease, because the store failed. crowded: too many searches waited. fenced: lost before the page came. passed: the page cannot be stored. left: the search ended first.',
      { domain, outcome: values.LEASE_RESULTS },
      (add) => (event) => add(1, event.domain, event.result),
    ),
    lifeboat: counter(
      'serpcache_lifeboat_calls_total',
      'Searches sent to the lifeboat, the second engine that answers while the first cannot. Above 0 the first engine is in trouble; shed: the lifeboat is full too.',
      { domain, outcome: values.LIFEBOAT_RESULTS },
      (add) => (event) => add(1, event.domain, event.result),
    ),
    audit: together(
      counter(
        'serpcache_audited_answers_total',
        'Hits that the audit compared with the answer of the engine at that moment, on permits that no client needed.',
        { domain },
        (add) => (event) => add(1, event.domain),
      ),
      counter(
        'serpcache_stale_answers_total',
        'Audited hits that the engine would have answered otherwise, though the feed of changes did not say so. changed: a document has other members. left, entered: a document went or came. facet: totals or facets. unknown: the order. Divide by serpcache_audited_answers_total.',
        { domain, reason: values.STALE_REASONS },
        (add) => (event) => {
          if (event.result !== 'equal') add(1, event.domain, event.result);
        },
      ),
    ),
    backfill: counter(
      'serpcache_backfilled_total',
      'Entries written back from memory to a store node that had lost its data. kept: the node had the entry again. dropped: given up. Any rise means that a node was restarted or flushed.',
      { domain, outcome: BACKFILL_RESULTS },
      (add) => (event) => {
        for (const outcome of BACKFILL_RESULTS) add(event[outcome], event.domain, outcome);
      },
    ),
  };

  // Events of all nodes are counted together; only gauges have a node label.
  const store: Table<StoreEvent> = {
    command: together(
      sparse(
        'serpcache_store_commands_total',
        'Commands sent to the store, by result. value: found. absent: not found. node-open: not sent, because the breaker of the node is open. store-down: no connection. store-saturated: not sent, because too many are in flight. store-slow: no reply before the deadline. refused: an error reply.',
        { domain, operation: values.STORE_OPERATIONS, outcome: values.COMMAND_RESULTS },
        (add) => (event, name) => add(1, name, event.operation, event.result),
      ),
      histogram(
        'serpcache_store_command_duration_seconds',
        'Time until a store command was answered or given up; the deadline of reads bounds it.',
        { domain, operation: values.STORE_OPERATIONS },
        (observe) => (event, name) => observe(event.durationMs, name, event.operation),
      ),
    ),
    pipeline: together(
      summary(
        'redis_pipeline_batch_size_summary',
        'Commands per pipeline. The quantiles are of the last minute and this process, and cannot be added; see serpcache_store_pipeline_commands.',
        values.PIPELINE_TYPES,
        (event) => event.size,
      ),
      summary(
        'redis_pipeline_duration_seconds',
        'Time from sending a pipeline to its last reply. The quantiles are of the last minute and this process, and cannot be added; see serpcache_store_pipeline_duration_seconds.',
        values.PIPELINE_TYPES,
        (event) => event.durationMs / 1000,
      ),
      // The first name was published without the conventional suffix of counters, so both names are kept.
      ...['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total'].map((name) =>
        counter<Extract<StoreEvent, { kind: 'pipeline' }>>(
          name,
          'Pipelines in which at least one command failed. Its searches miss and go to the engine.',
          { type: values.PIPELINE_TYPES },
          (add) => (event) => add(event.failed === 0 ? 0 : 1, event.type),
        ),
      ),
      counter(
        'serpcache_store_pipeline_failed_replies_total',
        'Commands that failed in a pipeline. Each failed read is a miss of its own.',
        { type: values.PIPELINE_TYPES },
        (add) => (event) => add(event.failed, event.type),
      ),
      histogram(
        'serpcache_store_pipeline_commands',
        'Commands per pipeline, by type of batch. Rising sizes mean larger batches of searches, not trouble.',
        { type: values.PIPELINE_TYPES },
        (observe) => (event) => observe(event.size, event.type),
        COMMANDS,
      ),
      histogram(
        'serpcache_store_pipeline_duration_seconds',
        'Time from sending a pipeline to its last reply or its deadline, by type of batch. Rising times mean a slow node or network.',
        { type: values.PIPELINE_TYPES },
        (observe) => (event) => observe(event.durationMs, event.type),
      ),
    ),
    late: counter(
      'serpcache_store_late_replies_total',
      'Replies that came after their deadline. Each is a page that was there and not used (hit) or not there (miss): the node or the network is slow.',
      { domain, outcome: ['hit', 'miss'] },
      (add) => (event, name) => add(1, name, event.hit ? 'hit' : 'miss'),
    ),
    breaker: counter(
      'serpcache_store_breaker_transitions_total',
      'State changes of the circuit breakers before store nodes, by new state. open: the keys of the node miss at once, without waiting.',
      { domain, state: values.BREAKER_STATES },
      (add) => (event, name) => add(1, name, event.state),
    ),
    connection: counter(
      'serpcache_store_connections_total',
      'Connections to store nodes that were opened, closed, or could not be opened (failed). A steady rate of opened and closed ones is churn.',
      { domain, state: values.CONNECTION_STATES },
      (add) => (event, name) => add(1, name, event.state),
    ),
    topology: counter(
      'serpcache_store_topology_changes_total',
      'Changes of the topology of a store: nodes that joined or left, slots or masters that moved.',
      { domain },
      (add) => (_event, name) => add(1, name),
    ),
  };

  /** The guard before the engine. */
  const guard: Table<GuardEvent> = {
    breaker: counter(
      'serpcache_engine_breaker_transitions_total',
      'State changes of the circuit breakers before the engine endpoints, by new state. open: the endpoint failed too often and is not asked.',
      { domain, state: values.BREAKER_STATES },
      (add) => (event, name) => add(1, name, event.state),
    ),
    shed: counter(
      'serpcache_shed_total',
      'Searches refused before the engine. breaker-open: the engine fails. stalled: calls past their deadline hold all permits. queue-full, queue-expired: more searches than the engine can answer in time.',
      { domain, reason: reasonsBy('guard') },
      (add) => (event, name) => add(1, name, event.why),
    ),
    permit: histogram(
      'serpcache_permit_wait_seconds',
      'Time that a search waited for a permit, the right to one of the concurrent engine calls. Rising waits mean that the engine is at its limit; then shed_total rises.',
      { domain },
      (observe) => (event, name) => observe(event.queuedMs, name),
    ),
    retry: counter(
      'serpcache_engine_failovers_total',
      'Engine calls that lost their connection and could go to another endpoint. answered and failed: it was asked. spent: it was not, because the retry budget was used up.',
      { domain, outcome: values.FAILOVER_RESULTS },
      (add) => (event, name) => add(1, name, event.result),
    ),
  };

  /** The adapters of engines, beside the searches themselves. */
  const engine: Table<EngineEvent> = {
    connection: counter(
      'serpcache_engine_connections_total',
      'Connections to the engine that were opened, closed, not opened (failed), or closed because their state was not certain (discarded).',
      { domain, state: values.ENGINE_CONNECTION_STATES },
      (add) => (event, name) => add(1, name, event.state),
    ),
    retry: counter(
      'serpcache_engine_retries_total',
      'Second attempts after an agent of a distributed index failed, by result. spent: not made, because the retry budget was used up.',
      { domain, outcome: values.RETRY_RESULTS },
      (add) => (event, name) => add(1, name, event.result),
    ),
    relaxed: counter(
      'serpcache_engine_relaxed_total',
      'Searches that found nothing and were repeated with a less strict query: found or nothing.',
      { domain, outcome: ['found', 'nothing'] },
      (add) => (event, name) => add(1, name, event.found ? 'found' : 'nothing'),
    ),
    worker: counter(
      'serpcache_engine_workers_total',
      'Worker threads of embedded engines that became ready, were ended, crashed, or found their file replaced. reopened: by a new index. kept: by a file that cannot be used.',
      { domain, state: values.WORKER_STATES },
      (add) => (event, name) => add(1, name, event.state),
    ),
  };

  // Beside searches. Flushes, warm-ups and drills have no counters.
  const connection = counter<ConnectionEvent>(
    'serpcache_client_connections_cut_total',
    'Client connections refused or closed because of a limit. refused: above maxConnections. crowded: idle, closed to make room. ran-ahead: too many pipelined requests. held: too many bytes buffered for it. slow: its request took too long. share: its address has too many.',
    { reason: CONNECTION_EVENTS },
    (add) => (event) => add(1, event.what),
  );
  // `ignored` is of the public listener, the others are of the admin listener.
  const token = counter<TokenEvent>(
    'serpcache_http_refused_tokens_total',
    'Bearer tokens that gave no access. wrong: compared, not equal. throttled: not compared, because the address sent too many wrong ones: somebody guesses. ignored: sent to the public listener, which takes none.',
    { reason: TOKEN_RESULTS },
    (add) => (event) => add(1, event.result),
  );
  const control = sparse<ControlEvent>(
    'serpcache_control_events_total',
    'Events of the control document, which holds the decisions of operators. control-away: its store stopped answering. control-restored: it was lost and written back. control-corrupt, control-unsigned: the stored one is not believed. drill-void: a drill ended because its process is not heard.',
    { domain, event: values.CONTROL_EVENTS },
    (add) => (event) => add(1, event.domain, event.kind === 'overlay' ? `drill-${event.state}` : event.kind),
  );
  const changes: Table<ChangeEvent> = {
    'changes-applied': together(
      sparse(
        'serpcache_changes_total',
        'Changes of documents that came through the feed and are in force in this process.',
        { domain },
        (add) => (event) => add(event.changes, event.domain),
      ),
      histogram(
        'serpcache_changes_lag_seconds',
        'Time from adding a change to the stream until it was in force in this process, by the clock of the stream.',
        { domain },
        (observe) => (event) => event.lagMs !== undefined && observe(event.lagMs, event.domain),
      ),
    ),
    'changes-gap': sparse(
      'serpcache_changes_gaps_total',
      'Moments after which every older page counts as changed. trimmed, replaced: the process lost its place in the stream. source: entries of the source are gone. corrupt: a batch cannot be read. index: the engine has another index. lag: too many changes within the lag of the engine.',
      { domain, reason: values.GAP_REASONS },
      (add) => (event) => add(1, event.domain, event.why),
    ),
    'page-changed': sparse(
      'serpcache_pages_changed_total',
      'Pages that the feed made stale, each counted when it was asked for. deleted, changed: a document on it. entered: a document may have entered or left it. unknown: the feed has a gap.',
      { domain, reason: values.PAGE_CHANGES },
      (add) => (event) => add(1, event.domain, event.why),
    ),
    'changes-refused': sparse(
      'serpcache_changes_refused_total',
      'Entries of the source that are no changes, and batches of the stream that are not signed. They are not applied; the log says why.',
      { domain },
      (add) => (event) => add(event.count, event.domain),
    ),
    'changes-away': uncounted,
    'changes-back': uncounted,
    'source-away': uncounted,
    'source-back': uncounted,
  };
  const popularity = sparse<PopularityEvent>(
    'serpcache_popularity_queries_total',
    'Queries whose counts were added to the fleet, or dropped because the counter store was slow or away.',
    { domain, outcome: ['added', 'dropped'] },
    (add) => (event) => add(event.queries, event.domain, event.kind === 'popularity-added' ? 'added' : 'dropped'),
  );
  // Rates and latencies of a shadow are in its report.
  const shadow: Table<ShadowEvent> = {
    'shadow-copy': sparse(
      'serpcache_shadow_copies_total',
      'Copies of reads and writes to the candidate, a store that may replace the present one. dropped: too many waited. paused: this process had more urgent work. failed: sent without success. Answers to clients do not wait for them.',
      { domain, type: values.SHADOW_COPY_TYPES, outcome: values.SHADOW_COPY_RESULTS },
      (add) => (event) => add(1, event.domain, event.type, event.result),
    ),
    'shadow-compared': counter(
      'serpcache_shadow_compared_total',
      'Values of the candidate compared with those of the present store. wrong: another page under the same key, which must not happen. missing, surplus: only one of them has it. older, newer: versions of the same page.',
      { domain, outcome: values.AGREEMENTS },
      (add) => (event) => add(1, event.domain, event.result),
    ),
    'shadow-changed': uncounted,
    'placement-changed': uncounted,
    'shadow-unwritten': uncounted,
  };

  const spans = counter<TracingEvent>(
    'serpcache_spans_total',
    'Finished spans of traces. exported: the collector answered 200; it may still reject some. dropped: not exported, because the collector is away or slow, or too many waited; searches are not affected.',
    { outcome: ['exported', 'dropped'] },
    (add) => (event) => add(event.spans, event.outcome),
  );
  return {
    observeRequest: together(countRequest, countStatus, observeDuration),
    observeSearch: (event) => countBy(search, event),
    observeStore: (name, event) => countBy(store, event, name),
    observeGuard: (name, event) => countBy(guard, event, name),
    observeEngine: (name, event) => countBy(engine, event, name),
    observeConnection: connection,
    observeToken: token,
    observeControl: control,
    observeChanges: (event) => countBy(changes, event),
    observePopularity: popularity,
    observeShadow: (event) => countBy(shadow, event),
    observeTracing: spans,
  };
}

/** Events that are not counted: each is a line of the log. */
export type Uncounted = 'observeFlush' | 'observeWarm' | 'observeDrill';
