import { BUCKETS, type ControlStanding, type EntryRules } from '../cache/invalidation.ts';
import { bucketsIn, type ControlDocument, type Overlay } from './document.ts';

/** The person who asks for a change, with the reason. */
export interface Caller {
  readonly by: string;
  readonly reason: string;
}

/** One domain's control document, as this process follows and changes it. */
export interface Control {
  /** They judge entries by the latest document known here and, while its drill is live, by the overlay. */
  readonly rules: EntryRules;
  /** The latest document known here; the empty one for a domain without changes. */
  readonly document: () => ControlDocument;
  /** The overlay while its drill is live, measured on this process's monotonic clock. */
  readonly overlay: () => Overlay | undefined;
  readonly state: () => ControlState;
  /** `changed` is called after each change of the document known here, in the same turn of the event loop. */
  readonly watch: (changed: () => void) => void;
  /**
   * Compare-and-set: `change` gets the newest document and returns the next one (`revision` and `stamp` are set here), or
   * the same one when there is nothing to do. It is called again after a conflict with another writer. The change applies
   * here at once and elsewhere within one poll interval.
   * @throws what `change` throws; OperationError `control-unavailable` when it is unknown whether the change was made.
   */
  readonly change: (change: ControlChange) => Promise<Changed>;
  /** Renews the lease of the running drill. False: the store did not confirm it. */
  readonly renew: () => Promise<boolean>;
  /**
   * Publishes this process's figures for the process that runs a drill. Keep the value small.
   * @param place another one than that of drills, whose reports live only while somebody reports
   */
  readonly report: (id: string, value: unknown, place?: ReportPlace) => Promise<void>;
  /** The reports of all processes, parsed; undefined when the store cannot be asked. */
  readonly reports: (place?: ReportPlace) => Promise<ReadonlyMap<string, unknown> | undefined>;
  /** Ends the polling. */
  readonly close: () => Promise<void>;
}

/** `doctor`: processes describe themselves there all the time. */
export type ReportPlace = 'drills' | 'doctor';

export type ControlChange = (document: ControlDocument) => ControlDocument;

export interface Changed {
  readonly before: ControlDocument;
  readonly after: ControlDocument;
}

interface ControlState {
  readonly revision: number;
  readonly generation: number;
  /** Time since the last valid answer of the store; grows while the store is away. 0 without a shared store. */
  readonly heardMsAgo: number;
  /** False: no other process follows this document. */
  readonly shared: boolean;
  readonly standing: ControlStanding;
}

/** Events of the control room, for metrics, logs and tests. */
export type ControlEvent =
  /** This process follows another document than before. `own`: this process made the change. */
  | { readonly kind: 'control-changed'; readonly domain: string; readonly revision: number; readonly own: boolean }
  /** The store did not answer; the last known document stays in force. Reported once per absence. */
  | { readonly kind: 'control-away'; readonly domain: string; readonly fault: string }
  | { readonly kind: 'control-back'; readonly domain: string }
  /** The store had lost the document, or held an older or a corrupt one; the known document was written back. */
  | { readonly kind: 'control-restored'; readonly domain: string; readonly revision: number }
  /** The stored document cannot be read, is not plausible or is not signed; the last known one stays. Once per fault. */
  | { readonly kind: 'control-corrupt' | 'control-unsigned'; readonly domain: string; readonly detail: string }
  /** Reports of other processes that are not JSON, or not signed. */
  | { readonly kind: 'control-reports-refused'; readonly domain: string; readonly count: number }
  | {
      readonly kind: 'overlay';
      readonly domain: string;
      readonly drill: string;
      /** `void`: the owner of the drill did not renew it for the lease time. */
      readonly state: 'live' | 'ended' | 'void';
    };

export type ControlSummary = ReturnType<typeof summaryOf>;

/** The figures of a control document that the console, the metrics and /admin/domains show. */
export function summaryOf(control: Pick<Control, 'document' | 'overlay' | 'state'>) {
  const { halted, suppressed, purges, ranges, shadow, placement } = control.document();
  const overlay = control.overlay();
  return {
    ...control.state(),
    halted: halted !== undefined,
    suppressed: suppressed.length,
    purges: purges.length,
    ranges: ranges.length,
    /** The live drill. `flushed`: 0–1, the share of the keys it has flushed. */
    drill: overlay && {
      id: overlay.drill,
      owner: overlay.owner,
      flushed: bucketsIn(overlay.ranges) / BUCKETS,
      blackout: overlay.blackout,
    },
    /** The candidate by its name. */
    shadow: shadow && { candidate: shadow.candidate.name, fraction: shadow.fraction, reads: shadow.reads },
    /** The stores by their names. */
    placement: placement && {
      phase: placement.phase,
      active: placement.active.name,
      other: placement.other?.name,
    },
  };
}
