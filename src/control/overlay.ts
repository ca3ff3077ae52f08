import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../runtime.ts';
import { nextGeneration } from './changes.ts';
import {
  type BucketRange,
  type ControlDocument,
  checkRanges,
  joined,
  MAX_RANGES,
  type Overlay,
  type OverlayRange,
  piecesOf,
} from './document.ts';
import { OperationError } from './operation-error.ts';
import { checkNoCutOver, checkNoDrill, checkNotHalted } from './placement.ts';

export type OverlayLease = ReturnType<typeof createOverlayLease>;

interface OverlayLeaseOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when `live` returns another overlay than before, or none. */
  readonly onChange: (state: 'live' | 'changed' | 'ended' | 'void', drill: string) => void;
}

interface Tracked {
  readonly overlay: Overlay;
  /** Time at which the read that showed the last rise of the count was sent: the lease runs from here. */
  readonly leaseFromMs: number;
  /** Time at which the reply to that read was handled: the count rose before it. */
  readonly risenByMs: number;
  readonly isLive: boolean;
}

/**
 * The lease of a drill on this process's own clock: the count of renewals must rise within the lease time. A process that
 * sees a drill for the first time does not know when it was renewed last, and gives it one lease time.
 */
export function createOverlayLease({ clock, onChange }: OverlayLeaseOptions) {
  let tracked: Tracked | undefined;
  let lastRenewals: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const leftMs = ({ overlay, leaseFromMs }: Tracked): number => leaseFromMs + overlay.leaseMs - clock.monotonicMs();

  /** One timer, set again when it fires too early, so that a renewal sets no timer. */
  const watch = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (tracked?.isLive !== true) return;
    const waitMs = leftMs(tracked);
    if (waitMs > 0) {
      timer = setTimeout(watch, Math.ceil(waitMs)).unref();
      return;
    }
    tracked = { ...tracked, isLive: false };
    onChange('void', tracked.overlay.drill);
  };

  /** To be called with the overlay of every document that is adopted. */
  const track = (overlay: Overlay | undefined): void => {
    const before = tracked;
    if (overlay === undefined) {
      tracked = undefined;
      watch();
      if (before?.isLive === true) onChange('ended', before.overlay.drill);
      return;
    }
    if (before?.overlay.drill === overlay.drill) {
      tracked = { ...before, overlay };
      watch();
      if (tracked.isLive) onChange('changed', overlay.drill);
      return;
    }
    if (before !== undefined) track(undefined);
    const nowMs = clock.monotonicMs();
    tracked = { overlay, leaseFromMs: nowMs, risenByMs: nowMs, isLive: true };
    watch();
    onChange('live', overlay.drill);
  };

  /** The count of renewals in the store; undefined: it held none. `sentAtMs`: when the store was asked. */
  const noteRenewals = (renewals: number | undefined, sentAtMs: number): void => {
    // Neither the first count that is read nor a lower one is a renewal: a store that was wiped counts from zero.
    const hasRisen = renewals !== undefined && lastRenewals !== undefined && renewals > lastRenewals;
    lastRenewals = renewals ?? 0;
    if (!hasRisen || tracked === undefined) return;
    const { isLive, leaseFromMs } = tracked;
    const renewed = { ...tracked, leaseFromMs: Math.max(leaseFromMs, sentAtMs), risenByMs: clock.monotonicMs() };
    if (leftMs(renewed) <= 0) {
      tracked = renewed;
      return;
    }
    tracked = { ...renewed, isLive: true };
    if (timer === undefined) watch();
    if (!isLive) onChange('live', renewed.overlay.drill);
  };

  return {
    track,
    noteRenewals,
    /** The tracked overlay, unless its lease is void. */
    live: () => (tracked?.isLive === true ? tracked.overlay : undefined),
    /**
     * The drill is tracked, and the read sent at `sentAtMs` proves that its owner did not renew for a whole lease time. This
     * is stronger than not being live, because it ends the drill for all processes: a reply that waited in the socket while
     * this process was stopped proves nothing. Until then the overlay is live again as soon as the count rises.
     */
    hasExpired: (drill: string, sentAtMs: number): boolean => {
      if (tracked?.isLive !== false || tracked.overlay.drill !== drill) return false;
      return sentAtMs >= tracked.risenByMs + tracked.overlay.leaseMs;
    },
    close: () => clearTimeout(timer),
  };
}

/** The overlay that a drill asks for; `beginOverlay` sets its floor. */
export type OverlayRequest = Omit<Overlay, 'floor'>;

/** The parts that the owner of a drill may change later. */
interface OverlayChange extends Partial<Pick<Overlay, 'ranges' | 'mode' | 'blackout' | 'cohorts'>> {
  /** Present but undefined: keys on all nodes. */
  readonly nodes?: readonly string[] | undefined;
}

/** Begins a drill; there is one per domain at most. @throws OperationError halted, drill-running, cut-over-running */
export function beginOverlay(document: ControlDocument, request: OverlayRequest): ControlDocument {
  checkNotHalted(document, 'drills');
  checkNoDrill(document);
  checkNoCutOver(document);
  const generation = nextGeneration(document);
  const ranges = withFloors(request.ranges, [], generation, generation);
  return { ...document, generation, overlay: { ...request, ranges, floor: generation } };
}

/**
 * The next stage of a drill, for its owner. Buckets that are new in this stage get a new floor, so that entries computed
 * since the drill began are flushed there too. Buckets of earlier stages keep their floor, so that refilled entries stay.
 * When the nodes change, all buckets get a new floor. @throws OperationError drill-over, control-full
 */
export function changeOverlay(document: ControlDocument, drill: string, change: OverlayChange): ControlDocument {
  const { overlay } = document;
  if (overlay?.drill !== drill) {
    throw new OperationError('drill-over', `drill ${drill} no longer runs in this domain`);
  }
  const next: Overlay = { ...overlay, ...change };
  const held = isDeepStrictEqual(overlay.nodes, next.nodes) ? overlay.ranges : [];
  const isWider = piecesOf(held, next.ranges).some(({ left, right }) => right !== undefined && left === undefined);
  const generation = isWider ? nextGeneration(document) : document.generation;
  return {
    ...document,
    generation,
    overlay: { ...next, ranges: withFloors(next.ranges, held, overlay.floor, generation) },
  };
}

/** The requested ranges, disjoint and ascending: held buckets keep their floor, others get the new one. */
function withFloors(
  asked: readonly BucketRange[],
  held: readonly OverlayRange[],
  heldFloor: number,
  newFloor: number,
): readonly OverlayRange[] {
  if (asked.length === 0) return [];
  checkRanges(asked);
  const pieces = piecesOf(held, asked).flatMap(({ from, to, left, right }): readonly OverlayRange[] =>
    right === undefined ? [] : [{ from, to, floor: left === undefined ? newFloor : (left.floor ?? heldFloor) }],
  );
  const ranges = joined(pieces, (a, b) => (a.floor === b.floor ? { ...a, to: b.to } : undefined));
  if (ranges.length > MAX_RANGES) {
    throw new OperationError('control-full', `a drill has at most ${MAX_RANGES} ranges, this makes ${ranges.length}`);
  }
  return ranges;
}

/** Ends the drill, if it is still running; this removes all its effects. */
export function endOverlay(document: ControlDocument, drill: string): ControlDocument {
  const { overlay, ...rest } = document;
  return overlay?.drill === drill ? rest : document;
}
