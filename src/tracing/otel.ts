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
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type IdGenerator,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/settings.ts';
import type { Clock } from '../runtime.ts';
import { createNetworkTest } from '../schema/units.ts';
import type { Span, SpanFacts, Stage, TraceRoot, Tracer } from '../search/trace.ts';
import { parseTraceparent, type TraceParent } from '../search/traceparent.ts';
import { createDelivery } from './delivery.ts';
import type { Tracing, TracingOptions } from './tracing.ts';

/** Longer texts in facts and errors are cut. */
const MAX_TEXT = 1024;
const LIMITS = { attributeCountLimit: 64, attributeValueLengthLimit: MAX_TEXT, linkCountLimit: 32 };

/** Tracing by the SDK of OpenTelemetry. Only `create-tracing.ts` imports this file, when tracing is on. */
export function openTracing(
  settings: TracingSettings,
  trustedProxies: readonly string[],
  options: TracingOptions,
): Tracing {
  const { clock, version, processId, observe } = options;
  const delivery = createDelivery(settings, observe);
  const ids = createIds(options.random);
  const isProxy = createNetworkTest(trustedProxies);
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': version,
        'service.instance.id': processId,
        ...settings.resource,
        'service.name': settings.serviceName,
      }),
    ),
    idGenerator: ids,
    // The decision is made before a span is created, see `createTracer`.
    sampler: new AlwaysOnSampler(),
    spanLimits: LIMITS,
    spanProcessors: [delivery.processor],
  });
  return {
    tracer: createTracer({
      spans: provider.getTracer('serpcache', version),
      sampler: createSampler(settings.sampler),
      ids,
      clock,
      isBelieved: {
        none: () => false,
        proxies: (address: string | undefined) => address !== undefined && isProxy(address),
        all: () => true,
      }[settings.trustParents],
    }),
    close: delivery.close,
  };
}

function createSampler({ name, ratio }: TracingSettings['sampler']): Sampler {
  const prefix = 'parentbased_';
  const isParentBased = name.startsWith(prefix);
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[isParentBased ? name.slice(prefix.length) : name];
  if (root === undefined) throw new Error(`the sampler ${name} passed validation`);
  return isParentBased ? new ParentBasedSampler({ root: root() }) : root();
}

interface Ids extends IdGenerator {
  /** The trace id of the next span that has no parent. */
  readonly setTraceId: (traceId: string) => void;
}

function createIds(random: () => number): Ids {
  // A buffer writes 32 digits in 60 ns, `toString(16)` and `padStart` in 1,000.
  const words = new Uint32Array(4);
  const bytes = Buffer.from(words.buffer);
  const digits = (count: number): string => {
    for (let at = 0; at < count; at += 1) words[at] = random() * 2 ** 32;
    // An id of zeros alone is not valid.
    if (words.every((word, at) => word === 0 || at >= count)) words[0] = 1;
    return bytes.toString('hex', 0, count * 4);
  };
  let decided: string | undefined;
  return {
    generateTraceId: () => {
      const traceId = decided ?? digits(4);
      decided = undefined;
      return traceId;
    },
    generateSpanId: () => digits(2),
    setTraceId: (traceId) => {
      decided = traceId;
    },
  };
}

interface TracerParts {
  readonly spans: SdkTracer;
  readonly sampler: Sampler;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Whether the `traceparent` of a request from this address is continued. */
  readonly isBelieved: (address: string | undefined) => boolean;
}

const NO_FACTS: SpanFacts = {};
const NO_LINKS: Link[] = [];
const KINDS = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL } as const;

/**
 * The sampler is asked before a span is created, with the id that the trace would get: the SDK creates a span that records
 * nothing for every request that is not sampled. A `traceparent` that is not believed becomes a link, and its id is not
 * shown to the sampler: a client could choose one that is always sampled.
 */
function createTracer({ spans, sampler, ids, clock, isBelieved }: TracerParts): Tracer {
  return {
    begin: ({ name, kind, traceparent, address, facts = NO_FACTS }: TraceRoot): Span | undefined => {
      const parent = traceparent !== undefined && isBelieved(address) ? parseTraceparent(traceparent) : undefined;
      const traceId = parent?.traceId ?? ids.generateTraceId();
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      const { decision } = sampler.shouldSample(context, traceId, name, KINDS[kind], facts, NO_LINKS);
      if (decision !== SamplingDecision.RECORD_AND_SAMPLED) return undefined;
      const times = createTimes(clock);
      // Below a parent the SDK asks for no trace id, so that this one would stay for the next trace.
      if (parent === undefined) ids.setTraceId(traceId);
      const stranger = parent === undefined ? parseTraceparent(traceparent) : undefined;
      const links = stranger === undefined ? NO_LINKS : [{ context: contextOf(stranger) }];
      const root = spans.startSpan(
        name,
        { kind: KINDS[kind], startTime: times.now(), links, attributes: facts },
        context,
      );
      return adapt(root, spans, times);
    },
  };
}

function contextOf({ traceId, spanId, sampled }: TraceParent): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

interface Times {
  readonly now: () => HrTime;
}

/**
 * Wall time at the begin of a trace, plus monotonic time since then: a stepped clock moves whole traces, never the spans of
 * one. The two are added as integers, because one number of milliseconds since 1970 is exact to a quarter of a microsecond
 * only.
 */
function createTimes({ wallMs, monotonicMs }: Clock): Times {
  const beganWallMs = Math.floor(wallMs());
  const beganMs = monotonicMs();
  return {
    now: () => {
      const sinceNs = Math.round((monotonicMs() - beganMs) * 1e6);
      const atMs = beganWallMs + Math.floor(sinceNs / 1e6);
      return [Math.floor(atMs / 1000), (atMs % 1000) * 1e6 + (sinceNs % 1e6)];
    },
  };
}

/** Stages in which this process waits for another one. */
const CALLS: ReadonlySet<Stage> = new Set(['l2', 'lease', 'engine']);

function adapt(span: SdkSpan, spans: SdkTracer, times: Times): Span {
  const { traceId, spanId } = span.spanContext();
  let own: Context | undefined;
  return {
    traceId,
    spanId,
    begin: (stage, facts) => {
      own ??= trace.setSpan(ROOT_CONTEXT, span);
      const kind = CALLS.has(stage) ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const begun = { kind, startTime: times.now(), ...(facts === undefined ? {} : { attributes: facts }) };
      return adapt(spans.startSpan(stage, begun, own), spans, times);
    },
    end: (facts, error) => {
      if (facts !== undefined) span.setAttributes(facts);
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error.slice(0, MAX_TEXT) });
      span.end(times.now());
    },
    link: (other) =>
      void span.addLink({ context: { traceId: other.traceId, spanId: other.spanId, traceFlags: TraceFlags.SAMPLED } }),
  };
}
