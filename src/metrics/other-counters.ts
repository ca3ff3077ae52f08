import type { ControlEvent } from '../control/control.ts';
import { CONNECTION_EVENTS, type ConnectionEvent, TOKEN_RESULTS, type TokenEvent } from '../http/transport/events.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { TracingEvent } from '../tracing/delivery.ts';
import type { Observers } from './events.ts';
import * as values from './label-values.ts';
import { countBy, type MetricKit, type Table } from './series.ts';

type OtherObservers = Pick<
  Observers,
  'observeConnection' | 'observeToken' | 'observeControl' | 'observePopularity' | 'observeShadow' | 'observeTracing'
>;

/** The counters beside searches, in the form of `createSearchCounters`. Flushes, warm-ups and drills have no counters. */
export function createOtherCounters({ counter, sparse }: MetricKit, domain: readonly string[]): OtherObservers {
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
  const popularity = sparse<PopularityEvent>(
    'serpcache_popularity_queries_total',
    'Queries whose counts were added to the fleet, or dropped because the counter store was slow or away.',
    { domain, outcome: ['added', 'dropped'] },
    (add) => (event) => add(event.queries, event.domain, event.kind === 'popularity-added' ? 'added' : 'dropped'),
  );
  // Rates and latencies of a shadow are in its report.
  const shadow: Table<ShadowEvent> = {
    'shadow-copy': [
      sparse(
        'serpcache_shadow_copies_total',
        'Copies of reads and writes to the candidate, a store that may replace the present one. dropped: too many waited. paused: this process had more urgent work. failed: sent without success. Answers to clients do not wait for them.',
        { domain, type: values.SHADOW_COPY_TYPES, outcome: values.SHADOW_COPY_RESULTS },
        (add) => (event) => add(1, event.domain, event.type, event.result),
      ),
    ],
    'shadow-compared': [
      counter(
        'serpcache_shadow_compared_total',
        'Values of the candidate compared with those of the present store. wrong: another page under the same key, which must not happen. missing, surplus: only one of them has it. older, newer: versions of the same page.',
        { domain, outcome: values.AGREEMENTS },
        (add) => (event) => add(1, event.domain, event.result),
      ),
    ],
    'shadow-changed': [],
    'placement-changed': [],
    'shadow-unwritten': [],
  };

  const spans = counter<TracingEvent>(
    'serpcache_spans_total',
    'Finished spans of traces. exported: the collector answered 200; it may still reject some. dropped: not exported, because the collector is away or slow, or too many waited; searches are not affected.',
    { outcome: ['exported', 'dropped'] },
    (add) => (event) => add(event.spans, event.outcome),
  );
  return {
    observeConnection: connection,
    observeToken: token,
    observeControl: control,
    observePopularity: popularity,
    observeShadow: (event) => countBy(shadow, event),
    observeTracing: spans,
  };
}
