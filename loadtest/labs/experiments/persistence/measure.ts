import { setTimeout as sleep } from 'node:timers/promises';
import { driven } from '../../kit/driven.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { PUBLISHED_MIX } from '../../kit/mix.ts';
import { breakLinks } from './break-links.ts';
import { grown, type MasterFigures, masterFigures, type OwnLatency, ownLatencyOf } from './figures.ts';
import type { Setup } from './setups.ts';
import { attachedOf, type Watched, watchMaster } from './watch-master.ts';

/** A master with its replicas. */
export interface Shard {
  readonly setup: Setup;
  readonly master: LabStore;
  readonly replicas: readonly LabStore[];
}

export interface PersistenceRow extends MasterFigures, OwnLatency, Watched {
  readonly setup: Setup;
  /** Replicas that followed before the row: only they can fall out. */
  readonly attachedBefore: number;
  /** 3 of `x3`. */
  readonly times: number;
  readonly askedPerSecond: number;
  readonly answeredPerSecond: number;
  readonly seconds: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly storeCores: number;
  readonly limit: Limit;
}

export const CONNECTIONS = 50;
/** Of the row's time, and at most so long. */
const BREAK = { from: 0.2, share: 0.2, mostSeconds: 1 };

/** How long the links of a row are broken. */
export function breakSeconds(rowSeconds: number): number {
  return Math.min(BREAK.mostSeconds, rowSeconds * BREAK.share);
}

/** One row: the mix at a rate, and in the midst of it one break of all links to replicas. */
export async function measure(
  lab: Lab,
  { setup, master, replicas }: Shard,
  load: { readonly times: number; readonly askedPerSecond: number; readonly seconds: number },
): Promise<PersistenceRow> {
  const { times, askedPerSecond, seconds } = load;
  const attachedBefore = attachedOf(await master.info('replication'));
  await master.command('LATENCY', 'RESET');
  const before = await masterFigures(master);
  const loading = driven(lab, [master], {
    connections: CONNECTIONS,
    seconds,
    commands: { kind: 'mix', ...PUBLISHED_MIX },
    ratePerSecond: askedPerSecond,
  });
  const breaking = (async () => {
    if (replicas.length === 0) return;
    await sleep(seconds * BREAK.from * 1000, undefined, { signal: lab.signal });
    await breakLinks(master, replicas, breakSeconds(seconds), lab.signal);
  })();
  const { result, watched } = await watchMaster(
    master,
    setup.replicas,
    Promise.all([loading, breaking]).then(([one]) => one),
  );
  const after = await masterFigures(master);
  const own = ownLatencyOf(await master.command('LATENCY', 'LATEST'));
  return {
    setup,
    attachedBefore,
    times,
    askedPerSecond,
    answeredPerSecond: result.perSecond,
    seconds: result.seconds,
    p99Ms: result.latencyMs.p99,
    maxMs: result.latencyMs.max,
    storeCores: result.storeCores,
    limit: result.limit,
    ...watched,
    ...grown(before, after),
    ...own,
  };
}
