import type { HostSample, ProcessSample } from './host.ts';
import type { domainSampleOf, replicaSampleOf } from './replica.ts';
import type { StoreSample } from './store.ts';

/**
 * The state of the service and its parts at one moment. Counters grow since their process started, so only differences
 * mean anything; a restarted process counts from 0 again. What could not be read is absent, never 0. In a record of counts
 * a zero is absent too.
 */
export interface Sample {
  /** Wall clock, ms, when the last answer came. */
  readonly atMs: number;
  readonly replicas: readonly ReplicaSample[];
  /** Store nodes; empty without a local stack. */
  readonly stores: readonly StoreSample[];
  /** Processes of the local stack and the generator. */
  readonly processes: readonly ProcessSample[];
  /** The machine on which everything runs; absent without a local stack. */
  readonly host?: HostSample;
}

type WholeReplica = Omit<ReturnType<typeof replicaSampleOf>, 'domains'>;
type WholeDomain = ReturnType<typeof domainSampleOf>;

export type ReplicaSample = Readonly<Partial<WholeReplica> & Pick<WholeReplica, 'name' | 'sheds' | 'misses'>> & {
  readonly domains: Readonly<Record<string, DomainSample>>;
};

export type DomainSample = Readonly<
  Partial<WholeDomain> & Pick<WholeDomain, 'outcomes' | 'engineCalls' | 'engineFailures' | 'storeCommands'>
>;
