import type { Runtime } from '../runtime.ts';
import type { Span, SpanFacts, Stage, Tracer } from './trace.ts';

/** One live search: what it did, and what each tier said. The answer of `/admin/trace`. */
export interface LiveTrace {
  readonly domain: string;
  /** The text that identifies the answer, see `canonical.ts`. */
  readonly canonical: string;
  readonly key: string;
  readonly outcome: string;
  /** Why the tiers missed. */
  readonly reason?: string;
  /** The `Cache-Status` of the answer. */
  readonly cacheStatus?: string;
  /** The code and the text of the problem, where there is no answer. */
  readonly problem?: { readonly code: string; readonly detail: string };
  readonly durationMs: number;
  /** In the order of their begin; the first is the search itself. */
  readonly spans: readonly RecordedSpan[];
}

export interface RecordedSpan {
  readonly stage: Stage | 'search';
  /** Number of spans above it. */
  readonly depth: number;
  /** From the begin of the search. */
  readonly startMs: number;
  /** Absent: it has not ended, because the answer did not wait for it. */
  readonly durationMs?: number;
  readonly facts: SpanFacts;
  readonly error?: string;
  /** The span is another search's, whose result this one waits for. */
  readonly isShared?: boolean;
}

export interface TraceRecorder extends Tracer {
  readonly spans: () => readonly RecordedSpan[];
}

/** More than any search has: a load asks the engine a few times at most, and waits for a lease in a few turns. */
const MAX_SPANS = 200;

/** Keeps the spans of one search in memory, for a person who looks at it now. */
export function createTraceRecorder({ clock, random }: Pick<Runtime<never>, 'clock' | 'random'>): TraceRecorder {
  const spans: { -readonly [Member in keyof RecordedSpan]: RecordedSpan[Member] }[] = [];
  let startedMs = clock.monotonicMs();
  /** To a microsecond, since the begin of the search. */
  const nowMs = (): number => Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const traceId = hex(32);

  const begin = (stage: RecordedSpan['stage'], depth: number, facts: SpanFacts): Span => {
    const recorded: (typeof spans)[number] = { stage, depth, startMs: nowMs(), facts };
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
    begin: ({ facts = {} }) => {
      startedMs = clock.monotonicMs();
      return begin('search', 0, facts);
    },
    spans: () => spans,
  };
}
