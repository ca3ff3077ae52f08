/** The urgency of an engine call, most urgent first. A free slot goes to the first priority that has a waiter. */
export const PRIORITIES = ['interactive', 'refresh', 'warm-up', 'shadow'] as const;

export type Priority = (typeof PRIORITIES)[number];

/**
 * Why a search is refused before the engine, and which part refuses it: the breaker, because the engine fails, or the
 * limiter, because the engine has too much to do. Problem code, detail and retry time follow from that part.
 *
 * - `breaker-open`: no endpoint may be asked, or a drill is simulating an engine outage.
 * - `stalled`: calls past their deadline hold every slot.
 * - `queue-full`: no room in the queue.
 * - `queue-expired`: the search waited too long, or would have to.
 */
export const SHED_REASONS = {
  'breaker-open': 'breaker',
  stalled: 'limiter',
  'queue-full': 'limiter',
  'queue-expired': 'limiter',
} as const satisfies Readonly<Record<string, 'breaker' | 'limiter'>>;

export type ShedReason = keyof typeof SHED_REASONS;

/** The engine was not asked. */
export class Shed extends Error {
  override readonly name = 'Shed';
  /** `left`: the caller no longer wants the call; it is not counted as refused. */
  readonly why: ShedReason | 'left';

  constructor(why: Shed['why']) {
    super(`not asked: ${why}`);
    this.why = why;
  }
}
