import { linkSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import { driven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { massImport, PUBLISHED_MIX } from '../../kit/mix.ts';
import { settledCommands } from '../shards.ts';
import { CONNECTIONS, type Shard } from './measure.ts';
import { MEMORY_BYTES, masterConfig, replicaConfig, type Setup } from './setups.ts';
import { settled } from './watch-master.ts';

const SNAPSHOT = 'dump.rdb';
const SETTLING_SECONDS = 1.5;
/** Of a row's own the first ones would be written already, and evict nothing. */
const OWN_SEED = 9;
const FIRST_SYNC_MS = 10_000;
/** The lowest there is: see the notes. */
const LAST = 19;

/**
 * The state that every row begins with: a store that is full and has been asked for a while, so that it holds what is
 * asked for most. Without it the first rows evict what filling left, and the later ones find what those before them wrote.
 * @returns a snapshot of it, ages of the keys included.
 */
export async function settledSnapshot(lab: Lab): Promise<string> {
  const store = await lab.startStore({ config: [`maxmemory ${MEMORY_BYTES}`] });
  const cores = lab.cores.generator;
  await massImport(settledCommands(PUBLISHED_MIX, createRandom(OWN_SEED).next), {
    ...store,
    cores,
    signal: lab.signal,
  });
  await driven(lab, [store], {
    connections: CONNECTIONS,
    seconds: lab.seconds(SETTLING_SECONDS),
    commands: { kind: 'mix', ...PUBLISHED_MIX },
    seed: OWN_SEED,
  });
  await store.command('SAVE');
  await lab.clear();
  return join(store.directory, SNAPSHOT);
}

/** A master with that in it, and replicas that have received it; what the row before had started is gone. */
export async function startShard(lab: Lab, setup: Setup, snapshot: string): Promise<Shard> {
  const elsewhere = lab.cores.generator;
  const master = await lab.startStore({ config: masterConfig(setup, elsewhere) });
  // Not ended in good order: it would save the nothing that it has.
  await master.kill();
  rmSync(join(master.directory, SNAPSHOT), { force: true });
  // Never written to: a snapshot of its own is a new file under that name.
  linkSync(snapshot, join(master.directory, SNAPSHOT));
  await master.restart();
  if (setup.hasLog) await master.command('CONFIG', 'SET', 'appendonly', 'yes');
  const replicas: LabStore[] = [];
  for (let at = 0; at < setup.replicas; at += 1) {
    const replica = await lab.startStore({ cores: elsewhere, config: replicaConfig(master.port) });
    setPriority(replica.pid(), LAST);
    replicas.push(replica);
  }
  await settled(master, setup.replicas, FIRST_SYNC_MS, lab.signal);
  return { setup, master, replicas };
}

/** Nothing of a row, neither a resync nor a snapshot, is left to be paid for by the next one. */
export async function endShard(lab: Lab, { master, replicas }: Shard): Promise<void> {
  // Else it saves once more on its way out.
  await master.command('CONFIG', 'SET', 'save', '').catch(() => undefined);
  await lab.clear();
  for (const { directory } of [master, ...replicas]) await rm(directory, { recursive: true, force: true });
}
