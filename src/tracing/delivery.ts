import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/tracing.ts';
import { settledWithin } from '../runtime.ts';

/** Spans reached the collector, or were lost. */
export interface TracingEvent {
  readonly kind: 'tracing';
  readonly outcome: 'exported' | 'dropped';
  readonly spans: number;
  /** The reason of a loss, without an address, a header or a text of the collector. */
  readonly detail?: string;
}

/** Maximum time at the end for the spans that wait. */
const CLOSE_MS = 2000;
/** The same while the collector does not take spans. */
const FAILING_CLOSE_MS = 200;

type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0];
const SUCCESS: Result['code'] = 0;
const FAILED: Result['code'] = 1;

/**
 * The way of ended spans to the collector: the SDK's batches and exporter, with every span accounted for: the SDK tells only its own logger of spans that it drops.
 * Nothing waits for the collector: spans beyond the queue are dropped, and the end is bounded.
 */
export function createDelivery(
  { exporter: destination, batch }: Pick<TracingSettings, 'exporter' | 'batch'>,
  observe: (event: TracingEvent) => void,
) {
  /** Ended spans that no batch has taken yet. */
  let waiting = 0;
  /** Spans that found the queue full, since the last report of them. */
  let overflowed = 0;
  let failing = false;
  let state: 'open' | 'closing' | 'closed' = 'open';
  /** Ends each batch that is on its way. */
  const underway = new Set<(result: Result) => void>();

  const drop = (spans: number, detail: string): void => {
    if (spans > 0) observe({ kind: 'tracing', outcome: 'dropped', spans, detail });
  };
  /** One event for many spans: an overload must not be one for the reader of events too. */
  const reportOverflow = (): void => {
    drop(overflowed, 'the queue is full');
    overflowed = 0;
  };

  const { exporter, disconnect } = openExporter(destination, () => state !== 'closed');
  const counted: SpanExporter = {
    export: (spans, done) => {
      waiting -= spans.length;
      const end = (result: Result): void => {
        if (!underway.delete(end)) return;
        failing = result.code !== SUCCESS;
        if (failing) drop(spans.length, reasonOf(result.error));
        else observe({ kind: 'tracing', outcome: 'exported', spans: spans.length });
        reportOverflow();
        done(result);
      };
      underway.add(end);
      try {
        exporter.export(spans, end);
      } catch (error) {
        end({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) });
      }
    },
    shutdown: () => Promise.resolve(),
  };
  const batches = new BatchSpanProcessor({
    exporter: counted,
    scheduledDelayMillis: batch.intervalMs,
    exportTimeoutMillis: batch.exportTimeoutMs,
    maxQueueSize: batch.maxQueuedSpans,
    maxExportBatchSize: batch.maxBatchSpans,
  });

  const close = async (): Promise<void> => {
    state = 'closing';
    const sent = batches
      .shutdown()
      .catch(() => {})
      .then(() => exporter.shutdown());
    await settledWithin(sent, failing ? FAILING_CLOSE_MS : CLOSE_MS);
    state = 'closed';
    for (const end of [...underway]) end({ code: FAILED, error: new Error(CLOSED) });
    reportOverflow();
    disconnect();
  };

  const processor: SpanProcessor = {
    onStart: () => {},
    onEnd: (span) => {
      if (state !== 'open') drop(1, CLOSED);
      else if (waiting >= batch.maxQueuedSpans) overflowed += 1;
      else {
        waiting += 1;
        batches.onEnd(span);
      }
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: close,
  };
  return { processor, close };
}

const CLOSED = 'tracing is closed';

/** The exporter reads endpoint, headers and timeout from the environment. */
function openExporter(destination: TracingSettings['exporter'], mayConnect: () => boolean) {
  if (destination.kind === 'console') return { exporter: new ConsoleSpanExporter(), disconnect: () => {} };
  const { compression, tls } = destination;
  const agents: HttpAgent[] = [];
  const exporter = new OTLPTraceExporter({
    compression: compression as NonNullable<OtlpConfig['compression']>,
    httpAgentOptions: (protocol) => {
      const agent =
        protocol === 'https:' ? new HttpsAgent({ keepAlive: true, ...tls }) : new HttpAgent({ keepAlive: true });
      agents.push(agent);
      return agent;
    },
    // Asked before each attempt, and must not throw. A retry that was planned before the end waits here for ever, and so
    // opens no connection.
    headers: () => (mayConnect() ? Promise.resolve({}) : new Promise(() => {})),
  });
  return {
    exporter,
    disconnect: (): void => {
      for (const agent of agents) agent.destroy();
    },
  };
}

type OtlpConfig = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/** Without the text of the error, which may hold the collector's answer or address. */
function reasonOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `the collector answered ${code}`;
  if (typeof code === 'string') return code;
  if (error?.message === CLOSED) return CLOSED;
  return error?.message === 'Request timed out'
    ? 'the collector did not answer in time'
    : 'the collector took no spans';
}
