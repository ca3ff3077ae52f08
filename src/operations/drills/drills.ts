import type { Control } from '../../control/control.ts';
import type { Flush, FlushPreview } from '../flush/flush.ts';
import type { Figures } from '../meter/figures.ts';
import type { FleetReadings } from '../meter/meter.ts';
import type { CohortForecasts } from './cohorts.ts';
import type { Journal, Verdict } from './journal.ts';
import type { Plan } from './plan.ts';

/**
 * Staged, guarded and reversible cache losses. The admin API, the CLI and the console use this interface. A domain has at
 * most one drill at a time, in the whole fleet.
 */
export interface Drills {
  readonly plans: () => readonly Plan[];
  /** The dry run: what the end of each stage would flush and cost, per domain. @throws OperationError */
  readonly preview: (request: DrillRequest) => Promise<DrillPreview>;
  /**
   * Locks the first domain and begins the baseline. Resolves when the drill has begun; the drill goes on in the background.
   * @throws OperationError: drill-running, halted, invalid-plan, reason-required, not-dedicated, control-unavailable …
   */
  readonly start: (request: StartRequest) => Promise<Journal>;
  /** Continues a stopped drill at its first unfinished stage. @throws OperationError drill-over, … */
  readonly resume: (id: string, caller: Caller) => Promise<Journal>;
  /** Restores the cache, also of a drill that another process owns. Resolves when that is done. @throws OperationError */
  readonly abort: (id: string, caller: Caller) => Promise<void>;
  /** Stops every drill of every domain and refuses new ones. @throws OperationError that names the domains it could not reach */
  readonly halt: (caller: Caller) => Promise<void>;
  readonly lift: (caller: Caller) => Promise<void>;
  readonly list: () => Promise<ListedDrills>;
  /** @throws OperationError unknown-drill */
  readonly journal: (id: string) => Promise<Journal>;
  /** The report: one HTML page that loads nothing. @throws OperationError unknown-drill */
  readonly page: (id: string) => Promise<string>;
  /** Rolls back the drills of this process, within about a second. */
  readonly close: () => Promise<void>;
}

export interface Caller {
  readonly by: string;
  readonly reason: string;
}

export interface DrillRequest {
  /** The name of a ready-made plan, or a plan. */
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
    /** Expected traffic of each cohort, estimated from the searches of this process. */
    readonly cohorts: CohortForecasts;
  }[];
  /** Reasons against the drill: a loss above f* at once, too little traffic, a hypothesis that fails already. */
  readonly warnings: readonly string[];
}

export interface ListedDrills {
  /** Newest first: drills that run here, drills of other processes, and kept reports. */
  readonly drills: readonly DrillSummary[];
  /** Reports that could not be read; the other reports are listed all the same. At most 64. */
  readonly unreadable: readonly UnreadableReport[];
}

/** A report that failed validation. */
export interface UnreadableReport {
  /** From the file name; absent for a report in the control store, where only the report itself has the id. */
  readonly id?: string;
  /** The file, or the domain whose control store held the report. */
  readonly where: string;
  /** The first invalid member, in words for people; bounded. */
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
  /** The cache is restored and the last figures are being taken. `ended` is a result that these figures do not change. */
  readonly ending?: { readonly ended?: Pick<Verdict, 'kind' | 'detail'> };
  /** False: another process runs the drill and keeps its report. */
  readonly here: boolean;
  readonly verdict?: Verdict;
}

/** Events of drills, for the audit and the log. */
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
  /** The report could not be written to its directory; this process keeps it in memory. */
  | { readonly kind: 'drill-unwritten'; readonly id: string; readonly detail: string };

/** The parts of one domain that a drill uses. */
export interface DrillDomain {
  readonly name: string;
  readonly control: Control;
  readonly flush: Pick<Flush, 'preview' | 'erase'>;
  readonly readings: Pick<FleetReadings, 'collect'>;
  /** Figures of this process over the last minute: the basis of a dry run. */
  readonly recent: () => Figures | undefined;
  /** Nodes of the store (`host:port`), in its order; empty without a store. */
  readonly nodes: () => readonly string[];
  /** No other application uses the store, so whole nodes may be emptied. */
  readonly dedicated: boolean;
  readonly hasStore: boolean;
  /** The longest time that a client waits for an answer. Guards on durations follow it. */
  readonly patienceMs: number;
}
