import { type Static, Type } from 'typebox';
import type { Runtime } from '../runtime.ts';
import type { Span, SpanFacts, Stage } from './trace.ts';

/** One live search: what it did, and what each tier said. The answer of `/admin/trace`. */
export type LiveTrace = Static<typeof LIVE_TRACE>;
export type RecordedSpan = LiveTrace['spans'][number];

export const LIVE_TRACE = Type.Object({
  domain: Type.String(),
  canonical: Type.String(),
  key: Type.String(),
  outcome: Type.String(),
  reason: Type.Optional(Type.String()),
  cacheStatus: Type.Optional(Type.String()),
  problem: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
  durationMs: Type.Number(),
  spans: Type.Array(
    Type.Object({
      stage: Type.String(),
      depth: Type.Integer({ description: 'Number of spans above it.' }),
      startMs: Type.Number({ description: 'From the begin of the search.' }),
      durationMs: Type.Optional(Type.Number({ description: 'Absent: the answer did not wait for its end.' })),
      facts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
      error: Type.Optional(Type.String()),
      isShared: Type.Optional(Type.Boolean({ description: 'It waits for the load that another search began.' })),
    }),
    { description: 'In the order of their begin; the first is the search itself.' },
  ),
});

/** More than any search has: a load asks the engine a few times at most, and waits for a lease in a few turns. */
const MAX_SPANS = 200;

/** Keeps the spans of one search in memory, for a person who looks at it now. */
export function createTraceRecorder({ clock, random }: Pick<Runtime<never>, 'clock' | 'random'>) {
  const spans: RecordedSpan[] = [];
  let startedMs = clock.monotonicMs();
  /** To a microsecond, since the begin of the search. */
  const nowMs = (): number => Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const traceId = hex(32);

  const begin = (stage: Stage | 'search', depth: number, facts: SpanFacts): Span => {
    const recorded: RecordedSpan = { stage, depth, startMs: nowMs(), facts };
    if (spans.length < MAX_SPANS) spans.push(recorded);
    return {
      traceId,
      spanId: hex(16),
      begin: (below, own = {}) => begin(below, depth + 1, own),
      end: (own = {}, error) => {
        recorded.durationMs = Math.max(0, Math.round((nowMs() - recorded.startMs) * 1000) / 1000);
        recorded.facts = { ...recorded.facts, ...own };
        if (error !== undefined) recorded.error = error;
      },
      link: () => {
        recorded.isShared = true;
      },
    };
  };
  return {
    /** Begins the span of the search itself. */
    begin: (): Span => {
      startedMs = clock.monotonicMs();
      return begin('search', 0, {});
    },
    spans: (): readonly RecordedSpan[] => spans,
  };
}
