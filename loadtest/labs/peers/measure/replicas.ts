import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '../../../sample/host.ts';
import type { ProcessSample } from '../../../sample/sample.ts';
import { freePorts } from '../../../stack/process.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import type { Peer, RunningPeer } from '../peer.ts';
import { collectGarbage, isNode } from './collect-garbage.ts';
import type { Room } from './room.ts';

/** Replicas of one peer that run, and the store they share. */
export interface Replicas {
  readonly urls: readonly string[];
  readonly store: LabStore;
  /** Of all processes of all replicas, since each was started. */
  readonly processorSeconds: () => number;
  readonly residentBytes: () => number;
  /** Of those processes that are Node's. @throws when one does not. */
  readonly collectGarbage: () => Promise<void>;
  /** What lies in their folders: some keep pages in files. */
  readonly diskBytes: () => Promise<number>;
  /**
   * Every replica forgets its pages, one after the other, and is told again when it refuses: as an operator's loop would.
   * @returns how often one refused @throws the refusal of one that still does after 10 s
   */
  readonly purge: () => Promise<number>;
  /** Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface ReplicaOptions {
  readonly count: number;
  readonly ttlSeconds: number;
  readonly staleSeconds: number;
}

/**
 * An own store for each peer, started even for those that need none: so all have the same machine. It runs beside the
 * client, because its processor time is not the server's.
 * @throws with the end of its log when one will not start; what was started is gone then.
 */
export async function startReplicas(lab: Lab, room: Room, peer: Peer, options: ReplicaOptions): Promise<Replicas> {
  const store = await lab.startStore({ cores: lab.cores.generator });
  const folder = join(lab.folder, `peer-${randomUUID()}`);
  const running: RunningPeer[] = [];
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    for (const one of running) await one.stop();
    await store.stop();
  };
  lab.atEnd(stop);
  try {
    for (const port of await freePorts(options.count)) {
      lab.signal.throwIfAborted();
      const own = join(folder, String(port));
      await mkdir(own, { recursive: true });
      const scene = {
        folder: own,
        port,
        origin: room.origin,
        engine: room.engine,
        store: { host: store.host, port: store.port },
        cores: lab.cores.store,
        ttlSeconds: options.ttlSeconds,
        staleSeconds: options.staleSeconds,
      };
      running.push(await peer.start(scene));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const samples = () => samplesOf(peer.name, running);
  return {
    urls: running.map((one) => one.url),
    store,
    processorSeconds: () => samples().reduce((sum, one) => sum + one.cpuSeconds, 0),
    residentBytes: () => samples().reduce((sum, one) => sum + one.residentBytes, 0),
    collectGarbage: async () => {
      const pids = running.flatMap((one) => one.pids());
      for (const pid of pids.filter(isNode)) await collectGarbage(pid);
    },
    diskBytes: () => bytesBelow(folder),
    purge: () => purgeEach(running),
    stop,
  };
}

/** All processes of all replicas: a worker is the server too. */
export function samplesOf(
  name: string,
  running: readonly Pick<RunningPeer, 'pids'>[],
  read: typeof readProcess = readProcess,
): readonly ProcessSample[] {
  return running.flatMap((one) => one.pids().flatMap((pid) => read({ name, pid }) ?? []));
}

const PURGE_MS = 10_000;
const AGAIN_MS = 500;

export async function purgeEach(replicas: readonly Pick<RunningPeer, 'purge'>[]): Promise<number> {
  const untilMs = performance.now() + PURGE_MS;
  let refusals = 0;
  for (const one of replicas) {
    for (let isPurged = false; !isPurged; ) {
      try {
        await one.purge();
        isPurged = true;
      } catch (error) {
        if (performance.now() > untilMs) throw error;
        refusals += 1;
        await sleep(AGAIN_MS);
      }
    }
  }
  return refusals;
}

const BLOCK_BYTES = 512;

/** What files really take; logs are a peer's own. */
async function bytesBelow(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.log')) continue;
    // One that was replaced meanwhile is not there any more.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    sum += (found?.blocks ?? 0) * BLOCK_BYTES;
  }
  return sum;
}
