import { BUCKETS, type EntryRules } from '../cache/invalidation.ts';
import { bucketsIn, type ControlDocument, type Overlay } from './document.ts';

/** One domain's control document, as this process follows and changes it. */
export interface Control {
  /** Judge by the latest document heard and, while its drill lives, by the overlay. */
  readonly rules: EntryRules;
  /** The latest heard; of a domain nobody ever changed, the empty one. */
  readonly document: () => ControlDocument;
  /** The overlay while its drill lives, on this process's monotonic clock. */
  readonly overlay: () => Overlay | undefined;
  readonly state: () => ControlState;
  /**
   * Compare-and-set: `change` is given the newest document and returns the next one (its `revision` and `stamp` are set
   * here), or the same one when there is nothing to do; it is called again when somebody was faster. Applies here at once
   * and elsewhere within a poll.
   * @throws what `change` throws; OperationRefused `control-unavailable` when the store cannot say whether it was done.
   */
  readonly change: (change: Change) => Promise<Changed>;
  /** Says that the owner of the drill lives. False: the store could not be told. */
  readonly renew: () => Promise<boolean>;
  /** What this process has to say to whoever runs a drill; small. */
  readonly report: (id: string, value: unknown) => Promise<void>;
  /** What all said, parsed; undefined when the store cannot be asked. */
  readonly reports: () => Promise<ReadonlyMap<string, unknown> | undefined>;
  /** Ends the polling. */
  readonly close: () => Promise<void>;
}

export type Change = (document: ControlDocument) => ControlDocument;

export interface Changed {
  readonly before: ControlDocument;
  readonly after: ControlDocument;
}

export interface ControlState {
  readonly revision: number;
  readonly generation: number;
  /** Since the store was last heard; grows while it is away. 0 where there is none to ask. */
  readonly heardMsAgo: number;
  /** False: alone, so what is changed here is known here only. */
  readonly shared: boolean;
  /**
   * `unheard`: no document, nor that there is none, was read yet. `corrupt`: what is stored cannot be believed; the last
   * known document is followed, and without one no flush, purge or suppression is known.
   */
  readonly standing: 'ok' | 'unheard' | 'away' | 'corrupt';
}

/** What the control room says happened, once; metrics, logs and tests read it. */
export type ControlEvent =
  /** Another document than before is followed now. `own`: changed by this process. */
  | { readonly kind: 'control-changed'; readonly domain: string; readonly revision: number; readonly own: boolean }
  /** The store was asked in vain; the last known document stays. Once per absence. */
  | { readonly kind: 'control-away'; readonly domain: string; readonly fault: string }
  | { readonly kind: 'control-back'; readonly domain: string }
  /** The store had lost it, held an older line or a corrupt one; what this process knew was written back. */
  | { readonly kind: 'control-restored'; readonly domain: string; readonly revision: number }
  /** What is stored cannot be read or believed, or is not signed: the last known stays. Once per fault. */
  | { readonly kind: 'control-corrupt' | 'control-unsigned'; readonly domain: string; readonly detail: string }
  /** Reports that are no JSON, or not signed. */
  | { readonly kind: 'control-reports-refused'; readonly domain: string; readonly count: number }
  | {
      readonly kind: 'overlay';
      readonly domain: string;
      readonly drill: string;
      /** `void`: its owner has not been heard for the lease time. */
      readonly state: 'live' | 'ended' | 'void';
    };

/** A control document in a few figures: for the console, for metrics, for /admin/domains. */
export interface ControlSummary {
  readonly revision: number;
  readonly generation: number;
  readonly heardMsAgo: number;
  readonly shared: boolean;
  readonly standing: ControlState['standing'];
  readonly halted: boolean;
  readonly suppressed: number;
  readonly purges: number;
  readonly ranges: number;
  /** Of a live drill. `flushed`: 0–1, the share of the keys it has taken away. */
  readonly drill?: {
    readonly id: string;
    readonly owner: string;
    readonly flushed: number;
    readonly blackout: boolean;
  };
}

export function summaryOf(control: Pick<Control, 'document' | 'overlay' | 'state'>): ControlSummary {
  const { halted, suppressed, purges, ranges } = control.document();
  const overlay = control.overlay();
  return {
    ...control.state(),
    halted: halted !== undefined,
    suppressed: suppressed.length,
    purges: purges.length,
    ranges: ranges.length,
    ...(overlay === undefined
      ? {}
      : {
          drill: {
            id: overlay.drill,
            owner: overlay.owner,
            flushed: bucketsIn(overlay.ranges) / BUCKETS,
            blackout: overlay.blackout,
          },
        }),
  };
}
