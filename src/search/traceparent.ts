import type { Span } from './trace.ts';

/** The context of a caller's span. */
export interface TraceParent extends Pick<Span, 'traceId' | 'spanId'> {
  /** Whether the caller's span is recorded. */
  readonly sampled: boolean;
}

/** More than a later version needs; a longer field is not read. */
const MAX_LENGTH = 512;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * A W3C `traceparent` (Trace Context level 1). Undefined when the field is not valid: a receiver must then act as if none
 * had been sent. A version above 00 may have more members after the four known ones.
 */
export function parseTraceparent(field: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof field !== 'string' || field.length > MAX_LENGTH) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(field) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The `traceparent` that a span sends along. Only spans of sampled traces exist, so the flag is always set. */
export function formatTraceparent({ traceId, spanId }: Pick<Span, 'traceId' | 'spanId'>): string {
  return `00-${traceId}-${spanId}-01`;
}
