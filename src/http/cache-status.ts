import type { Answer, TierStep } from '../search/answer.ts';

/**
 * The `Cache-Status` field (RFC 9211), the member nearest the origin first:
 * `serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss`.
 */
export function cacheStatus({ l1, l2, remainingMs }: Answer): string {
  const near = member('serpcache-l1', l1, remainingMs);
  return l2 === undefined ? near : `${member('serpcache-l2', l2, remainingMs)}, ${near}`;
}

function member(cache: string, step: TierStep, remainingMs: number): string {
  // Rounded down: −0.2 s must read as stale, and 287.9 s must not promise a second it may not have.
  if (step.kind === 'hit') return `${cache}; hit; ttl=${Math.floor(remainingMs / 1000)}`;
  let text = `${cache}; fwd=${step.why}`;
  if (step.forwardStatus !== undefined) text += `; fwd-status=${step.forwardStatus}`;
  if (step.stored) text += '; stored';
  if (step.collapsed) text += '; collapsed';
  if (step.detail !== undefined) text += `; detail=${step.detail}`;
  return text;
}
