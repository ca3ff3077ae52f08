import type { Placement, Shadow, StoreRef } from '../../control/document.ts';
import type { ShadowFigures, ShadowSample, ShadowVerdict } from './figures.ts';

/**
 * Shadow traffic to a candidate store, the verdict on it, and the cut-over to it. The admin API, the CLI and the console
 * use this interface. A domain has at most one shadow and one cut-over at a time, in the whole fleet.
 */
export interface Shadows {
  /** Every domain that has a store: its candidates, its shadow, its placement. */
  readonly list: () => readonly ShadowSummary[];
  /** @throws OperationError unknown-domain, no-store */
  readonly status: (domain: string, forMs?: number) => Promise<ShadowStatus>;
  /** The curves since the start of the shadow, as far as this process has recorded them. @throws OperationError */
  readonly samples: (domain: string) => readonly ShadowSample[];
  /**
   * Checks the candidate and begins the copies. Nothing is sent to the candidate but checks before it has passed all of them.
   * @throws OperationError unknown-candidate, shadow-running, cut-over-running, candidate-unfit, halted …
   */
  readonly start: (request: StartShadow, caller: Caller) => Promise<ShadowStatus>;
  /** Changes the fraction or the reads of the running shadow. @throws OperationError no-shadow, candidate-unfit … */
  readonly change: (request: ChangeShadow, caller: Caller) => Promise<ShadowStatus>;
  /**
   * Ends the use of the second store: a shadow ends, a prepared cut-over is cancelled, after a commit the old store is no
   * longer read or written. Resolves to the id of the report when a shadow ended.
   * @throws OperationError no-shadow; cut-over-behind when a process has not acknowledged the commit
   */
  readonly stop: (domain: string, caller: Caller) => Promise<Stopped>;
  /**
   * Prepare, wait for every live process, commit. @throws OperationError no-shadow, no-verdict (without `force`),
   * no-control-store, drill-running, cut-over-running, cut-over-behind (it names the process; the preparation is undone) …
   */
  readonly cutOver: (request: CutOverRequest, caller: Caller) => Promise<Moved>;
  /**
   * Commits the way back to the store before, once. @throws OperationError no-cut-over, drill-running, candidate-unfit when
   * that store does not answer, control-unavailable
   */
  readonly back: (domain: string, caller: Caller) => Promise<Moved>;
  readonly reports: () => Promise<readonly ReportSummary[]>;
  /** @throws OperationError unknown-report */
  readonly report: (id: string) => Promise<ShadowReport>;
  /** The report: one HTML page that loads nothing. @throws OperationError unknown-report */
  readonly page: (id: string) => Promise<string>;
  /** Writes the reports of running shadows and ends the copies of this process. */
  readonly close: () => Promise<void>;
}

export interface Caller {
  readonly by: string;
  readonly reason: string;
}

export interface StartShadow {
  readonly domain: string;
  readonly candidate: string;
  /** Above 0, at most 1. */
  readonly fraction: number;
  /** Copies of each sampled read, 1–5. */
  readonly reads: number;
  /** The shadow ends by itself after this time. */
  readonly forMs: number;
}

export interface ChangeShadow {
  readonly domain: string;
  readonly fraction?: number;
  readonly reads?: number;
}

export interface CutOverRequest {
  readonly domain: string;
  /** Without a favourable verdict. */
  readonly force: boolean;
  /** The time that the verdict must cover. */
  readonly forMs: number;
}

export interface ShadowSummary {
  readonly domain: string;
  /** The store of the configuration of this process. */
  readonly configured: StoreRef;
  readonly candidates: readonly StoreRef[];
  readonly shadow?: Shadow;
  readonly placement?: Placement;
  /** The store that is read first and holds the leases. */
  readonly active: StoreRef;
  /** The copies are paused now, because the event loop of this process is late. */
  readonly paused: boolean;
  /** Something that an operator must know, such as a store that this process does not declare. */
  readonly warning?: string;
}

export interface ShadowStatus extends ShadowSummary {
  /** Live processes of the domain, each with what it has acknowledged. */
  readonly processes: readonly ProcessState[];
  /** Milliseconds since the start of the shadow. */
  readonly elapsedMs?: number;
  /** Over the time that the verdict covers, or as much of it as is recorded. */
  readonly figures?: ShadowFigures;
  readonly verdict?: ShadowVerdict;
  /** Up to 20 keys whose values were wrong. */
  readonly wrongKeys: readonly string[];
  /** The part of the configuration file that must be changed after a cut-over. */
  readonly configuration?: string;
}

export interface ProcessState {
  readonly id: string;
  /** `behind`: it has not acknowledged the present document; `problem` says what is known of it. */
  readonly state: 'ok' | 'behind';
  readonly problem?: string;
}

export interface Stopped {
  readonly domain: string;
  readonly ended: 'shadow' | 'preparation' | 'old-store';
  readonly report?: string;
  readonly configuration?: string;
}

export interface Moved {
  readonly domain: string;
  readonly from: StoreRef;
  readonly to: StoreRef;
  /** Time from the prepared to the committed document. */
  readonly preparedMs: number;
  readonly processes: readonly ProcessState[];
  readonly report?: string;
  /** YAML: what the configuration files must say from now on. */
  readonly configuration: string;
}

/** A kept comparison. */
export interface ShadowReport {
  readonly id: string;
  readonly domain: string;
  readonly primary: StoreRef;
  readonly candidate: StoreRef;
  readonly by: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Why it ended: `stopped by NAME`, `expired`, `cut-over`, `process stopped`. */
  readonly ended: string;
  /** Fraction and reads at each change. */
  readonly changes: readonly { readonly atMs: number; readonly fraction: number; readonly reads: number }[];
  readonly samples: readonly ShadowSample[];
  readonly total: ShadowFigures;
  readonly verdict: ShadowVerdict;
  readonly wrongKeys: readonly string[];
}

export type ReportSummary = Omit<ShadowReport, 'samples' | 'total' | 'changes' | 'wrongKeys'>;

/** The events of this room, for metrics, log and audit. */
export type ShadowEvent =
  | {
      readonly kind: 'shadow-copy';
      readonly domain: string;
      readonly type: 'read' | 'write';
      readonly result: 'sent' | 'dropped' | 'paused' | 'failed';
    }
  | {
      readonly kind: 'shadow-compared';
      readonly domain: string;
      readonly result: 'equal' | 'older' | 'newer' | 'wrong' | 'missing' | 'surplus';
    }
  /** This process began or ended the copies, by the control document. */
  | {
      readonly kind: 'shadow-changed';
      readonly domain: string;
      readonly candidate: string;
      readonly state: 'begun' | 'changed' | 'ended';
      readonly fraction: number;
      readonly reads: number;
    }
  /** This process follows another placement. `isolated`: it reads and writes both stores, because the control store is silent. */
  | {
      readonly kind: 'placement-changed';
      readonly domain: string;
      readonly phase: Placement['phase'] | 'configured' | 'isolated' | 'unknown-store';
      readonly active: string;
      readonly other?: string;
    }
  | { readonly kind: 'shadow-unwritten'; readonly id: string; readonly detail: string };
