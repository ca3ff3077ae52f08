import { BUCKETS } from '../cache/invalidation.ts';
import type { PollingControl } from './create-control.ts';
import { bucketsIn, type ControlDocument } from './document.ts';

/** The person who asks for a change, with the reason. */
export interface Caller {
  readonly by: string;
  readonly reason: string;
}

/** One domain's control document, as this process follows and changes it. */
export type Control = Omit<PollingControl, 'hasSynced' | 'forcedOpen'>;

/** `doctor`: processes describe themselves there all the time. */
export type ReportPlace = 'drills' | 'doctor';

export type Change = (document: ControlDocument) => ControlDocument;

export interface Changed {
  readonly before: ControlDocument;
  readonly after: ControlDocument;
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
