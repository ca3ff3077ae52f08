/**
 * The trace id of a W3C `traceparent` (Trace Context level 1), or undefined when it is not valid: then a receiver must
 * act as if none had been sent. A version above 00 may carry more members after the four we know.
 */
export function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const parsed = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent);
  if (parsed === null) return undefined;
  const [, version, traceId, parentId, rest] = parsed;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (traceId === '0'.repeat(32) || parentId === '0'.repeat(16)) return undefined;
  return traceId;
}
