import type { Lab, LabStore } from '../../kit/lab.ts';
import type { NameServer, Resolver } from './name-server.ts';
import type { ReaderPlan, ReaderSaid } from './reader-plan.ts';
import { runReader } from './reading.ts';
import type { Reads } from './reads.ts';

/** One way to name a store, and how its resolver was meanwhile. */
export interface Variant {
  readonly name: string;
  readonly isNamed: boolean;
  readonly resolver: Resolver;
}

export interface Phase extends Reads {
  /** Questions that reached the name server. */
  readonly asked: number;
}

export interface DnsRow {
  readonly variant: Variant;
  /** From the first connection to answers on all of them; undefined: not while it was waited. */
  readonly startedMs: number | undefined;
  readonly startAsked: number;
  readonly kept: Phase;
  readonly cut: Phase;
  /** With a resolver that is healthy again, until all connections answered. */
  readonly backMs: number | undefined;
  /** While connections were cut. */
  readonly storeCores: number;
  readonly generatorCores: number;
}

export interface Times {
  /** For a start, and for the way back. */
  readonly waitMs: number;
  readonly keptMs: number;
  readonly cutMs: number;
}

/** As many as a service with a few domains has. */
export const DOMAINS = ['goods', 'auto', 'jobs', 'homes', 'services', 'hobby'] as const;
export const READS_PER_SECOND = 600;
export const DEADLINE_MS = 50;
export const CUT_EVERY_MS = 1000;
/** With a healthy resolver, on a machine that has other things to do. */
const HEALTHY_START_MS = 10_000;

/**
 * Two processes: one is started with the resolver as it is, the other with a healthy one that changes when all connections
 * are there, stays so while they are cut, and heals at the end.
 */
export async function measureRow(
  lab: Lab,
  around: { readonly store: LabStore; readonly server: NameServer; readonly times: Times },
  variant: Variant,
): Promise<DnsRow> {
  const { store, server, times } = around;
  const { waitMs, keptMs, cutMs } = times;
  const plan: ReaderPlan = {
    hosts: DOMAINS.map((domain) => (variant.isNamed ? `${domain}.serpcache.test` : store.host)),
    port: store.port,
    readsPerSecond: READS_PER_SECOND,
    deadlineMs: DEADLINE_MS,
    startWaitMs: waitMs,
    seed: 1,
  };
  server.be(variant.resolver);
  const askedBefore = server.asked();
  const heard = new Map<ReaderSaid['kind'], ReaderSaid>();
  await runReader(lab, plan, (said) => heard.set(said.kind, said));
  const startedMs = afterOf(heard.get('started'));
  const startAsked = server.asked() - askedBefore;

  server.be({ kind: 'healthy' });
  let asked = server.asked();
  let [storeMs, readerMs] = [0, 0];
  const phases = new Map<string, Phase>();
  const then = { keptMs, cutMs, cutEveryMs: CUT_EVERY_MS, backWaitMs: waitMs };
  await runReader(lab, { ...plan, startWaitMs: HEALTHY_START_MS, then }, (said) => {
    heard.set(said.kind, said);
    if (said.kind === 'kept' || said.kind === 'cut')
      phases.set(said.kind, { ...said.reads, asked: server.asked() - asked });
    asked = server.asked();
    if (said.kind === 'started') server.be(variant.resolver);
    if (said.kind === 'kept') storeMs = -store.processorMs();
    if (said.kind !== 'cut') return;
    [storeMs, readerMs] = [storeMs + store.processorMs(), said.processorMs];
    server.be({ kind: 'healthy' });
  });
  const [kept, cut] = [phases.get('kept'), phases.get('cut')];
  if (kept === undefined || cut === undefined || afterOf(heard.get('started')) === undefined)
    throw new Error(
      `${variant.name}: not all connections were there after ${HEALTHY_START_MS} ms of a healthy resolver`,
    );
  const [storeCores, generatorCores] = [storeMs, readerMs].map((ms) => ms / 1000 / cut.seconds);
  return {
    ...{ variant, startedMs, startAsked, kept, cut },
    backMs: afterOf(heard.get('back')),
    storeCores: storeCores ?? 0,
    generatorCores: generatorCores ?? 0,
  };
}

function afterOf(said: ReaderSaid | undefined): number | undefined {
  return said !== undefined && 'afterMs' in said ? said.afterMs : undefined;
}
