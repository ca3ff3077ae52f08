import type { Area, Evidence, Severity } from './check.ts';
import type { EngineFacts, HostFacts, Part, ServiceFacts, Snapshot, StoreFacts } from './facts.ts';

/** The doctor of one process: looks at every store, engine and host, and tells findings. It changes nothing. */
export interface Doctor {
  /**
   * Takes four snapshots, `windowMs` apart, and judges the three windows between them. Callers at the same time share one
   * examination.
   */
  readonly examine: (options?: { readonly windowMs?: number }) => Promise<Examination>;
  /** The findings of the cheap checks, which run at intervals; undefined before the first window has ended. */
  readonly standing: () => Standing | undefined;
  /** When findings of the cheap checks were raised and cleared, oldest first; bounded. */
  readonly history: () => readonly HistoryLine[];
  /** Changes one diagnostic setting of every node that keeps data; a node that refuses is told with its words. */
  readonly enable: (name: EnableName) => Promise<Enabled>;
  readonly close: () => Promise<void>;
}

/** The time between two snapshots of an examination that may be asked for. */
export const EXAMINATION_WINDOW_MS = { min: 200, max: 15_000 };

/** The changes that `--enable` permits, and nothing else does. */
export const ENABLE_NAMES = ['slowlog', 'latency-monitor', 'reset'] as const;
export type EnableName = (typeof ENABLE_NAMES)[number];

export interface Enabled {
  readonly name: EnableName;
  /** By node: done, or the server's refusal. A store whose nodes are not known is one line with its name. */
  readonly nodes: readonly { readonly node: string; readonly commands: readonly string[]; readonly refused?: string }[];
}

/** A report and the snapshots from which it was made, in their order. */
export interface Examination {
  readonly report: Report;
  readonly snapshots: readonly Snapshot[];
}

export interface Report {
  readonly atMs: number;
  readonly tookMs: number;
  readonly windowSeconds: number;
  readonly windows: number;
  /** Most severe first. */
  readonly findings: readonly Finding[];
  /** True, and accepted in the file of acknowledgements. */
  readonly acknowledged: readonly Finding[];
  /** Checks that could not be made, by reason. */
  readonly skipped: readonly Skipped[];
  /** Checks that looked at at least one subject, and those of them without a finding. */
  readonly checked: number;
  readonly fine: number;
  readonly looked: Looked;
  /** Problems of the doctor itself: a wrong acknowledgements file, an expired entry of it. */
  readonly remarks: readonly string[];
}

export interface Finding extends Evidence {
  readonly check: string;
  readonly area: Area;
  readonly severity: Severity;
  readonly title: string;
  /** `2 of 3 windows of 1.0 s`. */
  readonly seen: string;
  /** The rule in force. */
  readonly threshold: string;
  readonly why: string;
  readonly source: string;
  /** Wall clock of the window that raised it. */
  readonly sinceMs: number;
  readonly acknowledged?: { readonly reason: string; readonly until: string };
}

export interface Skipped {
  readonly check: string;
  readonly reason: string;
  readonly subjects: readonly string[];
}

/** The things that were looked at, and the hosts that were not. */
export interface Looked {
  readonly stores: readonly {
    readonly name: string;
    readonly kind: string;
    readonly nodes: readonly string[];
    readonly unreached: readonly string[];
  }[];
  readonly engines: readonly { readonly name: string; readonly endpoint: string; readonly version?: string }[];
  readonly hosts: readonly string[];
  /** Hosts of stores and engines that were not examined: their kernel, network settings and disks are unknown. */
  readonly unseen: readonly string[];
  readonly service: boolean;
}

export interface Standing {
  readonly atMs: number;
  readonly findings: readonly Finding[];
  readonly acknowledged: readonly Finding[];
  readonly counts: Readonly<Record<Severity, number>>;
}

export interface HistoryLine {
  readonly atMs: number;
  readonly change: 'raised' | 'cleared';
  readonly check: string;
  readonly severity: Severity;
  readonly subject: string;
  readonly evidence: string;
}

export type DoctorEvent =
  | { readonly kind: 'doctor-finding'; readonly line: HistoryLine }
  /** A look ended with an error of the doctor itself. */
  | { readonly kind: 'doctor-failed'; readonly detail: string }
  /** After each window of the cheap checks: the number of findings by check, acknowledged ones left out. */
  | {
      readonly kind: 'doctor-window';
      readonly findings: readonly { readonly check: string; readonly severity: Severity; readonly count: number }[];
      readonly durationMs: number;
    };

// --- ports ------------------------------------------------------------------------------------------------------------

/**
 * Read-only commands at the nodes of one store, each over a connection of its own that no search uses. The contract
 * (test/contract/store-probe.ts): every call settles within two seconds and rejects never; a command that is not on the
 * list of `READ_ONLY` is refused without being sent, unless `enabled` permits it.
 */
export interface StoreProbe {
  readonly facts: Omit<StoreFacts, 'nodes'>;
  /** All nodes, replicas and sentinels too, as the deployment tells them now. */
  readonly nodes: () => Promise<Part<readonly ProbedNode[]>>;
  readonly ask: (node: string, command: readonly string[]) => Promise<ProbeReply>;
  /** Several small commands, in batches of at most 100. One reply for each, in their order. */
  readonly askMany: (node: string, commands: readonly (readonly string[])[]) => Promise<readonly ProbeReply[]>;
  /** A command of `enable`, which changes a diagnostic setting. */
  readonly change: (node: string, command: readonly string[]) => Promise<ProbeReply>;
  readonly close: () => Promise<void>;
}

export interface ProbedNode {
  readonly address: string;
  readonly role: 'master' | 'replica' | 'sentinel';
}

/** `reply`: strings, numbers, null and arrays of these. `refused`: the server's error. */
export type ProbeReply =
  | { readonly kind: 'reply'; readonly reply: unknown; readonly ms: number }
  | { readonly kind: 'refused'; readonly detail: string; readonly ms: number }
  | { readonly kind: 'unreachable'; readonly detail: string };

/** Figures of one engine endpoint. Settles within two seconds and rejects never. */
export interface EngineProbe {
  readonly read: (depth: Snapshot['depth']) => Promise<EngineFacts>;
  readonly close: () => Promise<void>;
}

/** Figures of this process. Rejects never. */
export type ReadService = () => Promise<ServiceFacts>;

/** Figures of a host. @param names host names whose resolution is timed */
export type ReadHost = (depth: Snapshot['depth'], names: readonly string[]) => Promise<HostFacts>;
