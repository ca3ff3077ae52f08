import type { Clock } from '../clock.ts';
import type { Overlay } from './document.ts';

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
