import {
  type Context,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type Tracer as SdkTracer,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  type IdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/tracing.ts';
import type { Clock, Runtime } from '../runtime.ts';
import { createNetworkTest } from '../schema/units.ts';
import {
  parseTraceparent,
  type Span,
  type SpanFacts,
  type Stage,
  type TraceParent,
  type TraceRoot,
  type Tracer,
} from '../search/trace.ts';
import { createDelivery, type TracingEvent } from './delivery.ts';

/** Longer texts in facts and errors are cut. */
const MAX_TEXT = 1024;
const LIMITS = { attributeCountLimit: 64, attributeValueLengthLimit: MAX_TEXT, linkCountLimit: 32 };

export type Tracing = ReturnType<typeof openTracing>;

export interface TracingOptions extends Runtime<TracingEvent> {
  readonly version: string;
}

/** Tracing by the SDK of OpenTelemetry. Only `tracing.ts` imports this file, when tracing is on. */
export function openTracing(settings: TracingSettings, trustedProxies: readonly string[], options: TracingOptions) {
  const { clock, version, processId, observe } = options;
  const delivery = createDelivery(settings, observe);
  const isProxy = createNetworkTest(trustedProxies);
  const own = { 'service.name': 'serpcache', 'service.version': version, 'service.instance.id': processId };
  const provider = new TracerProvider({
    // The variables of OpenTelemetry take precedence, and OTEL_SERVICE_NAME over the attributes.
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    idGenerator: createIds(options.random),
    // See `createDecision`.
    sampler: new AlwaysOnSampler(),
    spanLimits: LIMITS,
    spanProcessors: [delivery.processor],
  });
  return {
    tracer: createTracer({
      spans: provider.getTracer('serpcache', version),
      isSampled: createDecision(settings.sampler, options.random),
      clock,
      isBelieved: {
        none: () => false,
        proxies: (address: string | undefined) => address !== undefined && isProxy(address),
        all: () => true,
      }[settings.trustParents],
    }),
    /** Sends the spans that have ended, within 2 s. Spans that end later are lost. */
    close: delivery.close,
  };
}

/**
 * Whether a trace is recorded. This is decided before a span is created, because the SDK creates a span that records nothing
 * for every request that is not sampled. The id of a new trace is random, so that its ratio needs no id: making one to compare it
 * cost a sixth of an L1 hit. The id of a parent is compared, so that every service on its way decides alike.
 */
function createDecision(
  { name, ratio }: TracingSettings['sampler'],
  random: () => number,
): (parent: TraceParent | undefined) => boolean {
  const ofRatio = new TraceIdRatioBasedSampler(ratio);
  const isBelow = ({ traceId }: TraceParent): boolean =>
    ofRatio.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  const decisions: Readonly<Record<typeof name, (parent: TraceParent | undefined) => boolean>> = {
    always_on: () => true,
    always_off: () => false,
    traceidratio: (parent) => (parent === undefined ? random() < ratio : isBelow(parent)),
    parentbased_always_on: (parent) => parent?.sampled ?? true,
    parentbased_always_off: (parent) => parent?.sampled ?? false,
    parentbased_traceidratio: (parent) => parent?.sampled ?? random() < ratio,
  };
  return decisions[name];
}

function createIds(random: () => number): IdGenerator {
  // A buffer writes 32 digits in 60 ns, `toString(16)` and `padStart` in 1,000.
  const words = new Uint32Array(4);
  const bytes = Buffer.from(words.buffer);
  const digits = (count: number): string => {
    for (let at = 0; at < count; at += 1) words[at] = random() * 2 ** 32;
    // An id of zeros alone is not valid.
    if (words.every((word, at) => word === 0 || at >= count)) words[0] = 1;
    return bytes.toString('hex', 0, count * 4);
  };
  return { generateTraceId: () => digits(4), generateSpanId: () => digits(2) };
}

interface TracerParts {
  readonly spans: SdkTracer;
  readonly isSampled: ReturnType<typeof createDecision>;
  readonly clock: Clock;
  /** Whether the `traceparent` of a request from this address is continued. */
  readonly isBelieved: (address: string | undefined) => boolean;
}

const NO_FACTS: SpanFacts = {};
const NO_LINKS: Link[] = [];
const KINDS = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL } as const;

/** A `traceparent` that is not believed becomes a link, and decides nothing: a client could choose one that is always sampled. */
function createTracer({ spans, isSampled, clock, isBelieved }: TracerParts): Tracer {
  return {
    begin: ({ name, kind, traceparent, address, facts = NO_FACTS }: TraceRoot): Span | undefined => {
      const parent = traceparent !== undefined && isBelieved(address) ? parseTraceparent(traceparent) : undefined;
      if (!isSampled(parent)) return undefined;
      const now = createTimes(clock);
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      const stranger = parent === undefined ? parseTraceparent(traceparent) : undefined;
      const links = stranger === undefined ? NO_LINKS : [{ context: contextOf(stranger) }];
      const root = spans.startSpan(name, { kind: KINDS[kind], startTime: now(), links, attributes: facts }, context);
      return adapt(root, spans, now);
    },
  };
}

function contextOf({ traceId, spanId, sampled }: TraceParent): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

type Times = () => HrTime;

/**
 * Wall time at the begin of a trace, plus monotonic time since then: a stepped clock moves whole traces, never the spans of
 * one. The two are added as integers, because one number of milliseconds since 1970 is exact to a quarter of a microsecond
 * only.
 */
function createTimes({ wallMs, monotonicMs }: Clock): Times {
  const beganWallMs = Math.floor(wallMs());
  const beganMs = monotonicMs();
  return () => {
    const sinceNs = Math.round((monotonicMs() - beganMs) * 1e6);
    const atMs = beganWallMs + Math.floor(sinceNs / 1e6);
    return [Math.floor(atMs / 1000), (atMs % 1000) * 1e6 + (sinceNs % 1e6)];
  };
}

/** Stages in which this process waits for another one. */
const CALLS: ReadonlySet<Stage> = new Set(['l2', 'lease', 'engine']);

function adapt(span: SdkSpan, spans: SdkTracer, now: Times): Span {
  const { traceId, spanId } = span.spanContext();
  let own: Context | undefined;
  return {
    traceId,
    spanId,
    begin: (stage, facts) => {
      own ??= trace.setSpan(ROOT_CONTEXT, span);
      const kind = CALLS.has(stage) ? SpanKind.CLIENT : SpanKind.INTERNAL;
      return adapt(spans.startSpan(stage, { kind, startTime: now(), attributes: facts }, own), spans, now);
    },
    end: (facts, error) => {
      if (facts !== undefined) span.setAttributes(facts);
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error.slice(0, MAX_TEXT) });
      span.end(now());
    },
    link: (other) =>
      void span.addLink({ context: { traceId: other.traceId, spanId: other.spanId, traceFlags: TraceFlags.SAMPLED } }),
  };
}
