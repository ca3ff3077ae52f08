import type { Control } from '../../control/control.ts';
import type { Flush, FlushPreview } from '../flush/flush.ts';
import type { Figures } from '../meter/figures.ts';
import type { FleetReadings } from '../meter/meter.ts';
import type { CohortForecasts } from './cohorts.ts';
import type { Journal, Verdict } from './journal.ts';
import type { Plan } from './plan.ts';

/** Staged, guarded, reversible cache losses: what the admin API, the CLI and the console ask. One per domain at a time. */
export interface Drills {
  readonly plans: () => readonly Plan[];
  /** The dry run of each stage's end, per domain: what it would flush and cost. @throws OperationRefused */
  readonly preview: (ask: DrillRequest) => Promise<DrillPreview>;
  /**
   * Takes the domain, and begins with the baseline. Resolves when the drill has begun; it goes on by itself.
   * @throws OperationRefused: drill-running, halted, invalid-plan, reason-required, not-dedicated, control-unavailable …
   */
  readonly start: (ask: StartRequest) => Promise<Journal>;
  /** Goes on with a stopped drill from the stage that was not finished. @throws OperationRefused drill-over, … */
  readonly resume: (id: string, caller: Caller) => Promise<Journal>;
  /** Restores the cache at once, whoever owns the drill, and resolves when that is done. @throws OperationRefused */
  readonly abort: (id: string, caller: Caller) => Promise<void>;
  /** Stops every drill of every domain and refuses new ones. @throws OperationRefused when some could not be told (which). */
  readonly halt: (caller: Caller) => Promise<void>;
  readonly lift: (caller: Caller) => Promise<void>;
  /** Newest first: running here or elsewhere, and reports kept. */
  readonly list: () => Promise<readonly DrillSummary[]>;
  /** What the latest `list` has met that is no report of a drill; the others stand. At most 64. */
  readonly unreadable: () => readonly UnreadableReport[];
  /** @throws OperationRefused unknown-drill */
  readonly journal: (id: string) => Promise<Journal>;
  /** The report, one HTML page without anything from elsewhere. @throws OperationRefused unknown-drill */
  readonly page: (id: string) => Promise<string>;
  /** Rolls back what this process runs, within a second or so. */
  readonly close: () => Promise<void>;
}

export interface Caller {
  readonly by: string;
  readonly reason: string;
}

export interface DrillRequest {
  /** The name of a ready-made plan, or one's own. */
  readonly plan: string | Plan;
  /** Absent with a plan over domains: all of them. */
  readonly domains?: readonly string[];
}

export interface StartRequest extends DrillRequest, Caller {}

export interface DrillPreview {
  readonly plan: Plan;
  readonly domains: readonly {
    readonly domain: string;
    readonly stages: readonly { readonly title: string; readonly preview: FlushPreview }[];
    /** From the searches of this process: what each cohort will be asked, and how long it takes to tell anything. */
    readonly cohorts: CohortForecasts;
  }[];
  /** What speaks against it: more than f* at once, too little traffic, a hypothesis that fails already. */
  readonly warnings: readonly string[];
}

/** A report that cannot be believed, in words for people. */
export interface UnreadableReport {
  /** As the place names it; absent in the control store, where the report itself would say it. */
  readonly id?: string;
  /** The file, or the domain whose control store held it. */
  readonly where: string;
  /** The first member that is wrong; bounded. */
  readonly why: string;
}

export interface DrillSummary {
  readonly id: string;
  readonly plan: string;
  readonly title: string;
  readonly domains: readonly string[];
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** False as soon as the cache is restored. */
  readonly running: boolean;
  /** The cache is restored and the last figures are being taken. With what they change nothing of. */
  readonly ending?: { readonly ended?: Pick<Verdict, 'kind' | 'detail'> };
  /** False: another process runs it; its report is kept there. */
  readonly here: boolean;
  readonly verdict?: Verdict;
}

/** What the drills room says happened; the audit and the log read it. */
export type DrillEvent =
  | {
      readonly kind: 'drill-started';
      readonly id: string;
      readonly plan: string;
      readonly domains: readonly string[];
      readonly by: string;
    }
  | {
      readonly kind: 'drill-stage';
      readonly id: string;
      readonly domain: string;
      readonly stage: number;
      readonly title: string;
    }
  | {
      readonly kind: 'drill-guard';
      readonly id: string;
      readonly domain: string;
      readonly figure: string;
      readonly value: number;
      readonly max: number;
      readonly then: string;
    }
  | {
      readonly kind: 'drill-ended';
      readonly id: string;
      readonly domains: readonly string[];
      readonly verdict: Verdict;
    }
  /** Its report could not be kept; it is known until this process ends. */
  | { readonly kind: 'drill-unwritten'; readonly id: string; readonly detail: string };

/** What a drill may touch of one domain. */
export interface DrillDomain {
  readonly name: string;
  readonly control: Control;
  readonly flush: Pick<Flush, 'preview' | 'erase'>;
  readonly readings: Pick<FleetReadings, 'collect'>;
  /** What this process did in the last minute or so: what a dry run is told from. */
  readonly recent: () => Figures | undefined;
  /** Of the store (`host:port`), in its order; empty without one. */
  readonly nodes: () => readonly string[];
  /** Nothing else lives in the store: whole nodes may be emptied. */
  readonly dedicated: boolean;
  readonly hasStore: boolean;
  /** The longest that a client waits for an answer. Guards over durations follow it. */
  readonly patienceMs: number;
}
