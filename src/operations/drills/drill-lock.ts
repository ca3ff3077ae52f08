import type { Caller, Control } from '../../control/control.ts';
import type { Overlay, OverlayRange } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import { beginOverlay, changeOverlay, endOverlay } from '../../control/overlay.ts';

/** The lock of a drill on one domain: the overlay of its control document. */
export type DrillLock = ReturnType<typeof createDrillLock>;

/** `removed`: another process removed the overlay. `expired`: the store did not take a renewal in time. */
export type LockLoss =
  | { readonly kind: 'removed' }
  | { readonly kind: 'halted'; readonly by: string; readonly reason: string }
  | { readonly kind: 'expired' };

export type StageOverlay = Pick<Overlay, 'ranges' | 'blackout'> & { readonly nodes: readonly string[] | undefined };

interface DrillLockOptions {
  readonly control: Pick<Control, 'change' | 'overlay' | 'document' | 'renew'>;
  readonly overlay: Pick<Overlay, 'drill' | 'owner' | 'leaseMs' | 'mode' | 'cohorts'>;
  /** Ranges, with floors, that the resumed drill had flushed: entries that were refilled since stay valid. */
  readonly flushed:
    | { readonly ranges: readonly OverlayRange[]; readonly nodes: readonly string[] | undefined }
    | undefined;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Maximum number of attempts at a change. Each one waits for the store; the repeats are for a store that fails over. */
const ATTEMPTS = 3;
const RETRY_DELAY_MS = 150;
/** Covers the difference between the clocks of two processes, and the time of a request to the store. */
const LEASE_SLACK_MS = 100;

export function createDrillLock({ control, overlay: ours, flushed, nowMs, sleep }: DrillLockOptions) {
  const { drill, leaseMs } = ours;
  let floors = flushed;
  let renewedMs = nowMs();
  let askedMs = renewedMs;
  /** The last renewal that was too late, of a process that was suspended. */
  let lateMs: number | undefined;

  const tryChange = async (change: Parameters<Control['change']>[0]): Promise<boolean> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await control.change(change);
        return true;
      } catch (error) {
        // Another process has ended the drill already.
        if (error instanceof OperationError && error.code === 'drill-over') return true;
        if (!(error instanceof OperationError) || attempt >= ATTEMPTS) return false;
        await sleep(RETRY_DELAY_MS);
      }
    }
  };

  return {
    /** Before the first stage, without flushing. @throws OperationError drill-running, halted, control-unavailable */
    acquire: async () => {
      await control.change((document) => {
        const begun = beginOverlay(document, { ...ours, ranges: [], blackout: false });
        // A floor above the document's generation belongs to a document that was lost, and its entries with it.
        if (floors?.ranges.some((range) => (range.floor ?? 1) > document.generation)) floors = undefined;
        if (begun.overlay === undefined || floors === undefined) return begun;
        const floor = Math.min(begun.overlay.floor, ...floors.ranges.map((range) => range.floor ?? 1));
        return { ...begun, overlay: { ...begun.overlay, floor } };
      });
      renewedMs = nowMs();
      askedMs = renewedMs;
    },
    /** @throws OperationError drill-over, control-unavailable */
    flush: async ({ nodes, ...stage }: StageOverlay): Promise<readonly OverlayRange[]> => {
      const { after } = await control.change((document) => {
        const { overlay } = document;
        const resumed = overlay?.drill === drill && floors !== undefined ? { ...overlay, ...floors } : overlay;
        return changeOverlay({ ...document, overlay: resumed }, drill, { ...stage, nodes });
      });
      floors = undefined;
      return after.overlay?.ranges ?? [];
    },
    /** Restores the cache and keeps the lock, so that all processes go on reporting. False: the control store took no change. */
    restore: (): Promise<boolean> =>
      tryChange((document) => changeOverlay(document, drill, { ranges: [], nodes: undefined, blackout: false })),
    /** False: the control store took no change; the overlay ends by itself when its lease expires. */
    release: (): Promise<boolean> => tryChange((document) => endOverlay(document, drill)),
    /** Tells the other processes that the owner lives. */
    renew: async () => {
      const sentMs = nowMs();
      if (sentMs - askedMs >= leaseMs) lateMs = sentMs;
      askedMs = sentMs;
      if (!(await control.renew()) || control.overlay()?.drill !== drill) return;
      // The overlay may be gone from the document, which this process has read again by the end of another lease.
      if (lateMs !== undefined && sentMs - lateMs < leaseMs) return;
      renewedMs = sentMs;
      lateMs = undefined;
    },
    /** The process was suspended for a lease: it learns within another one whether it has lost the lock. */
    isInDoubt: (): boolean => lateMs !== undefined || nowMs() - askedMs >= leaseMs,
    /** Why the lock is lost; undefined while it is held. */
    lost: (): LockLoss | undefined => {
      if (control.overlay()?.drill === drill) return undefined;
      const { overlay, halted } = control.document();
      if (halted !== undefined) return { kind: 'halted', by: halted.by, reason: halted.reason };
      // Every change of the document drops an expired overlay, so an absent overlay does not mean that it was removed.
      const isExpired = nowMs() - renewedMs >= leaseMs - LEASE_SLACK_MS;
      return overlay?.drill === drill || isExpired ? { kind: 'expired' } : { kind: 'removed' };
    },
  };
}

/** The report in which the process that aborts a drill tells the owner the caller and the reason. */
const ABORT_REPORT = 'drill-abort';

export function abortedBy({ by, reason }: Caller): string {
  return reason === '' ? `Aborted by ${by}.` : `Aborted by ${by}: ${reason}.`;
}

/** Ends a drill that another process owns. @throws OperationError control-unavailable */
export async function abortRemotely(control: Control, drill: string, caller: Caller): Promise<void> {
  await control.report(ABORT_REPORT, { drill, detail: abortedBy(caller) });
  await control.change((document) => endOverlay(document, drill));
}

/** Why another process aborted the drill; undefined when it left no report. */
export async function abortReason(control: Pick<Control, 'reports'>, drill: string): Promise<string | undefined> {
  const report: unknown = (await control.reports())?.get(ABORT_REPORT);
  if (typeof report !== 'object' || report === null) return undefined;
  const { drill: reported, detail } = report as { readonly drill?: unknown; readonly detail?: unknown };
  return reported === drill && typeof detail === 'string' ? detail.slice(0, 2000) : undefined;
}
