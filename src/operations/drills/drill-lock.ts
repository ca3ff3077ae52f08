import type { Control } from '../../control/control.ts';
import type { Overlay, OverlayRange } from '../../control/document.ts';
import { OperationRefused } from '../../control/operation-error.ts';
import { beginOverlay, changeOverlay, endOverlay } from '../../control/overlay.ts';
import type { Caller } from './drills.ts';

/** A drill's hold on one domain: the overlay, and nothing else of the document. */
export interface DrillLock {
  /** Before the first stage: nothing is flushed yet. @throws OperationRefused drill-running, halted, control-unavailable */
  readonly acquire: () => Promise<void>;
  /** @throws OperationRefused drill-over, control-unavailable */
  readonly flush: (stage: StageOverlay) => Promise<readonly OverlayRange[]>;
  /** Serves everything again and keeps the domain, so that all processes report on. False: it could not be told. */
  readonly restore: () => Promise<boolean>;
  /** Gives the domain back. False: it could not be told; it ends by itself within the lease time. */
  readonly release: () => Promise<boolean>;
  /** The owner lives. */
  readonly renew: () => Promise<void>;
  /** Why it is lost; undefined while it holds. */
  readonly lost: () => Loss | undefined;
}

/** `taken`: somebody removed it from the document. `lapsed`: the store could not be told in time that the owner lives. */
export type Loss =
  | { readonly kind: 'taken' }
  | { readonly kind: 'halted'; readonly by: string; readonly reason: string }
  | { readonly kind: 'lapsed' };

export type StageOverlay = Pick<Overlay, 'ranges' | 'blackout'> & { readonly nodes: readonly string[] | undefined };

interface DrillLockOptions {
  readonly control: Pick<Control, 'change' | 'overlay' | 'document' | 'renew'>;
  readonly overlay: Pick<Overlay, 'drill' | 'owner' | 'leaseMs' | 'mode' | 'cohorts'>;
  /** What the drill that this one goes on with had flushed, with its floors: what was refilled since stays refilled. */
  readonly flushed:
    | { readonly ranges: readonly OverlayRange[]; readonly nodes: readonly string[] | undefined }
    | undefined;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** The control room waits for its store as long as is useful in one attempt; these are for a store that fails over. */
const ATTEMPTS = 3;
const BETWEEN_MS = 150;
/** Clocks of two processes, and the way to the store. */
const SLACK_MS = 100;

export function createDrillLock({ control, overlay: asked, flushed, nowMs, sleep }: DrillLockOptions): DrillLock {
  const { drill, leaseMs } = asked;
  let floors = flushed;
  let renewedMs = nowMs();

  const attempt = async (change: Parameters<Control['change']>[0]): Promise<boolean> => {
    for (let tried = 1; ; tried += 1) {
      try {
        await control.change(change);
        return true;
      } catch (error) {
        // Somebody else ended it meanwhile: then it is as it should be.
        if (error instanceof OperationRefused && error.code === 'drill-over') return true;
        if (!(error instanceof OperationRefused) || tried >= ATTEMPTS) return false;
        await sleep(BETWEEN_MS);
      }
    }
  };

  return {
    acquire: async () => {
      await control.change((document) => {
        const begun = beginOverlay(document, { ...asked, ranges: [], blackout: false });
        // Generations that were never given out here are those of a document that was lost, with its entries.
        if (floors?.ranges.some((range) => (range.floor ?? 1) > document.generation)) floors = undefined;
        if (begun.overlay === undefined || floors === undefined) return begun;
        const floor = Math.min(begun.overlay.floor, ...floors.ranges.map((range) => range.floor ?? 1));
        return { ...begun, overlay: { ...begun.overlay, floor } };
      });
      renewedMs = nowMs();
    },
    flush: async ({ nodes, ...stage }) => {
      const { after } = await control.change((document) => {
        const { overlay } = document;
        const refilled =
          overlay?.drill !== drill || floors === undefined
            ? document
            : {
                ...document,
                overlay: {
                  ...overlay,
                  ranges: floors.ranges,
                  ...(floors.nodes === undefined ? {} : { nodes: floors.nodes }),
                },
              };
        return changeOverlay(refilled, drill, { ...stage, nodes });
      });
      floors = undefined;
      return after.overlay?.ranges ?? [];
    },
    restore: () =>
      attempt((document) => changeOverlay(document, drill, { ranges: [], nodes: undefined, blackout: false })),
    release: () => attempt((document) => endOverlay(document, drill)),
    renew: async () => {
      const sentMs = nowMs();
      // Too late is not renewed: whoever was stopped for a while still reaches the store.
      if ((await control.renew()) && control.overlay()?.drill === drill) renewedMs = sentMs;
    },
    lost: () => {
      if (control.overlay()?.drill === drill) return undefined;
      const { overlay, halted } = control.document();
      if (halted !== undefined) return { kind: 'halted', by: halted.by, reason: halted.reason };
      // Whoever changes the document leaves a void drill out of it, so its absence alone does not tell.
      const isSilent = nowMs() - renewedMs >= leaseMs - SLACK_MS;
      return overlay?.drill === drill || isSilent ? { kind: 'lapsed' } : { kind: 'taken' };
    },
  };
}

/** Where the one who aborts a drill of another process tells its owner who it was. */
const ABORT_REPORT = 'drill-abort';

export function abortedBy({ by, reason }: Caller): string {
  return reason === '' ? `Aborted by ${by}.` : `Aborted by ${by}: ${reason}.`;
}

/** Ends a drill that another process owns. @throws OperationRefused control-unavailable */
export async function abortRemotely(control: Control, drill: string, caller: Caller): Promise<void> {
  await control.report(ABORT_REPORT, { drill, detail: abortedBy(caller) });
  await control.change((document) => endOverlay(document, drill));
}

export async function abortReason(control: Pick<Control, 'reports'>, drill: string): Promise<string | undefined> {
  const note: unknown = (await control.reports())?.get(ABORT_REPORT);
  if (typeof note !== 'object' || note === null) return undefined;
  const { drill: about, detail } = note as { readonly drill?: unknown; readonly detail?: unknown };
  return about === drill && typeof detail === 'string' ? detail.slice(0, 2000) : undefined;
}
