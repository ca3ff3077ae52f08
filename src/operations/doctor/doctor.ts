import type { Severity } from './check.ts';
import type { EngineFacts, Figure, HostFacts, NodeFacts, ServiceFacts, Snapshot, StoreFacts } from './facts.ts';
import type { HistoryLine, Report } from './report.ts';

/** The time between two snapshots of an examination that may be asked for. */
export const EXAMINATION_WINDOW_MS = { min: 200, max: 15_000 };

/** A report and the snapshots from which it was made, in their order. */
export interface Examination {
  readonly report: Report;
  readonly snapshots: readonly Snapshot[];
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
  readonly nodes: () => Promise<Figure<readonly ProbedNode[]>>;
  readonly ask: (node: string, command: readonly string[]) => Promise<ProbeReply>;
  /** Several small commands, in batches of at most 100. One reply for each, in their order. */
  readonly askMany: (node: string, commands: readonly (readonly string[])[]) => Promise<readonly ProbeReply[]>;
  /** A command of `enable`, which changes a diagnostic setting. */
  readonly change: (node: string, command: readonly string[]) => Promise<ProbeReply>;
  readonly close: () => Promise<void>;
}

export type ProbedNode = Pick<NodeFacts, 'address' | 'role'>;

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
