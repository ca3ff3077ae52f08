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
import { OperationRefused } from './operation-error.ts';

/**
 * Whether the owner of a drill lives, on this process's own clock: its renewals must move within the lease. A process
 * that sees a drill for the first time cannot know how long they have stood still, and gives it one lease.
 */
export interface OverlayLease {
  /** The document followed from now on has this overlay. */
  readonly follow: (overlay: Overlay | undefined) => void;
  /** The renewals as the store said them; undefined: it had none. `sentAtMs`: when it was asked. */
  readonly heard: (renewals: number | undefined, sentAtMs: number) => void;
  /** Followed, and not void. */
  readonly live: () => Overlay | undefined;
  /**
   * Followed, and what was asked at `sentAtMs` has shown that its owner was silent for a whole lease. More than not being
   * live: this ends it for everybody, so a reply that lay in the socket while this process stood still is no proof. Until
   * then it lives again when the renewals move.
   */
  readonly isVoid: (drill: string, sentAtMs: number) => boolean;
  readonly close: () => void;
}

export interface OverlayLeaseOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** `live` differs from what it was, or its overlay does. */
  readonly onChange: (state: 'live' | 'changed' | 'ended' | 'void', drill: string) => void;
}

interface Followed {
  readonly overlay: Overlay;
  /** The renewals moved at this moment or later, and by the other at the latest. */
  readonly movedAtMs: number;
  readonly movedByMs: number;
  readonly isLive: boolean;
}

export function createOverlayLease({ clock, onChange }: OverlayLeaseOptions): OverlayLease {
  let followed: Followed | undefined;
  let lastRenewals: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const leftMs = ({ overlay, movedAtMs }: Followed): number => movedAtMs + overlay.leaseMs - clock.monotonicMs();

  /** One timer, set anew when it comes too early: a renewal costs none. */
  const watch = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (followed?.isLive !== true) return;
    const waitMs = leftMs(followed);
    if (waitMs > 0) {
      timer = setTimeout(watch, Math.ceil(waitMs)).unref();
      return;
    }
    followed = { ...followed, isLive: false };
    onChange('void', followed.overlay.drill);
  };

  const follow = (overlay: Overlay | undefined): void => {
    const before = followed;
    if (overlay === undefined) {
      followed = undefined;
      watch();
      if (before?.isLive === true) onChange('ended', before.overlay.drill);
      return;
    }
    if (before?.overlay.drill === overlay.drill) {
      followed = { ...before, overlay };
      watch();
      if (followed.isLive) onChange('changed', overlay.drill);
      return;
    }
    if (before !== undefined) follow(undefined);
    const nowMs = clock.monotonicMs();
    followed = { overlay, movedAtMs: nowMs, movedByMs: nowMs, isLive: true };
    watch();
    onChange('live', overlay.drill);
  };

  const heard = (renewals: number | undefined, sentAtMs: number): void => {
    // A store that was wiped counts from nothing: that alone is no sign of life.
    const hasMoved = renewals !== undefined && lastRenewals !== undefined && renewals > lastRenewals;
    lastRenewals = renewals ?? 0;
    if (!hasMoved || followed === undefined) return;
    const { isLive, movedAtMs } = followed;
    const moved = { ...followed, movedAtMs: Math.max(movedAtMs, sentAtMs), movedByMs: clock.monotonicMs() };
    if (leftMs(moved) <= 0) {
      followed = moved;
      return;
    }
    followed = { ...moved, isLive: true };
    if (timer === undefined) watch();
    if (!isLive) onChange('live', moved.overlay.drill);
  };

  return {
    follow,
    heard,
    live: () => (followed?.isLive === true ? followed.overlay : undefined),
    isVoid: (drill, sentAtMs) => {
      if (followed?.isLive !== false || followed.overlay.drill !== drill) return false;
      return sentAtMs >= followed.movedByMs + followed.overlay.leaseMs;
    },
    close: () => clearTimeout(timer),
  };
}

/** What a drill takes a domain with. Its floor is given here. */
export type OverlayAsked = Omit<Overlay, 'floor'>;

/** What its owner may change of it later. */
export interface OverlayChange extends Partial<Pick<Overlay, 'ranges' | 'mode' | 'blackout' | 'cohorts'>> {
  /** Undefined, when given: on whichever node. */
  readonly nodes?: readonly string[] | undefined;
}

/** One drill per domain. @throws OperationRefused halted, drill-running */
export function beginOverlay(document: ControlDocument, asked: OverlayAsked): ControlDocument {
  const { halted, overlay } = document;
  if (halted !== undefined) {
    throw new OperationRefused('halted', `drills are halted by ${halted.by}: ${halted.reason}`);
  }
  if (overlay !== undefined) {
    throw new OperationRefused(
      'drill-running',
      `drill ${overlay.drill} runs in this domain, owned by ${overlay.owner}`,
    );
  }
  const generation = nextGeneration(document);
  const ranges = take(asked.ranges, [], generation, generation);
  return { ...document, generation, overlay: { ...asked, ranges, floor: generation } };
}

/**
 * The next stage of one's own drill. Buckets that join it get a new floor, so that what was computed since the drill
 * began is lost there too; those of earlier stages keep theirs, so that what they have refilled stays. When the nodes
 * change, all get a new one. @throws OperationRefused drill-over, control-full
 */
export function changeOverlay(document: ControlDocument, drill: string, change: OverlayChange): ControlDocument {
  const { overlay } = document;
  if (overlay?.drill !== drill) {
    throw new OperationRefused('drill-over', `drill ${drill} no longer runs in this domain`);
  }
  const { nodes: nodesBefore, ...others } = overlay;
  const { nodes: _nodes, ...changed } = change;
  const nodes = 'nodes' in change ? change.nodes : nodesBefore;
  const next: Overlay = { ...others, ...changed, ...(nodes !== undefined && { nodes }) };
  const held = isSame(nodesBefore, nodes) ? overlay.ranges : [];
  const isWider = piecesOf(held, next.ranges).some(({ left, right }) => right !== undefined && left === undefined);
  const generation = isWider ? nextGeneration(document) : document.generation;
  return { ...document, generation, overlay: { ...next, ranges: take(next.ranges, held, overlay.floor, generation) } };
}

/** Those asked for: disjoint, rising, each with the floor it has, or else with the new one. */
function take(
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
    throw new OperationRefused('control-full', `a drill has at most ${MAX_RANGES} ranges, this makes ${ranges.length}`);
  }
  return ranges;
}

/** Everything is as it would be without the drill. One that is over already is no mistake. */
export function endOverlay(document: ControlDocument, drill: string): ControlDocument {
  const { overlay, ...rest } = document;
  return overlay?.drill === drill ? rest : document;
}

function isSame(left: readonly string[] | undefined, right: readonly string[] | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
