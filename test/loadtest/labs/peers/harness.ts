import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningBackend, startBackend } from '../../../../loadtest/labs/peers/backend.ts';
import { installServers } from '../../../../loadtest/labs/peers/node-peers.ts';
import type { Peer, ReplicaSetup, RunningPeer } from '../../../../loadtest/labs/peers/peer.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';
import { startRedisNode } from '../../../../loadtest/stack/redis-node.ts';

/** One engine and all peers in front of it at the same time, each with its own store. */
export interface Harness {
  readonly backend: RunningBackend;
  readonly running: (peer: Peer) => RunningPeer;
  /** A second replica over the same store, for peers that can share one. */
  readonly second: (peer: Peer) => RunningPeer;
  readonly folder: (peer: Peer) => string;
  /** A search that has results and that no other test requests. */
  readonly path: (peer: Peer) => string;
  readonly stop: () => Promise<void>;
}

export interface HarnessOptions {
  readonly ttlSeconds: number;
  readonly staleSeconds: number;
}

export async function createHarness(peers: readonly Peer[], options: HarnessOptions): Promise<Harness> {
  install(peers);
  await installServers();
  const root = mkdtempSync(join(tmpdir(), 'serpcache-peers-'));
  const stops: (() => Promise<void>)[] = [async () => rmSync(root, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).toReversed()) await end();
  };
  const folderOf = (peer: Peer): string => join(root, peer.name.replaceAll(/\W+/g, '-'));
  const running = new Map<Peer, RunningPeer>();
  const second = new Map<Peer, RunningPeer>();
  try {
    const backend = await startBackend(join(root, 'backend'), { ttlSeconds: options.ttlSeconds, documents: 1500 });
    stops.push(backend.stop);
    const texts = backend.texts(peers.length);
    // All ports at once: two searches for a free port at the same time may find the same one.
    const ports = await freePorts(3 * peers.length);
    const startOne = async (peer: Peer, folder: string, store: ReplicaSetup['store']): Promise<RunningPeer> => {
      mkdirSync(folder);
      const port = ports.pop() ?? 0;
      const { origin, engine } = backend;
      const one = await peer.start({ folder, port, origin, engine, store, cores: processorsHere(), ...options });
      stops.push(one.stop);
      return one;
    };
    const start = async (peer: Peer): Promise<void> => {
      const folder = folderOf(peer);
      const port = ports.pop() ?? 0;
      const store = await startRedisNode({ flavour: 'redis', port, directory: `${folder}-store` });
      stops.push(store.stop);
      const [first, other] = await Promise.all([
        startOne(peer, folder, store),
        peer.keeps === 'shared' ? startOne(peer, `${folder}-second`, store) : undefined,
      ]);
      running.set(peer, first);
      if (other !== undefined) second.set(peer, other);
    };
    const started = await Promise.allSettled(peers.map(start));
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    return {
      backend,
      running: (peer) => running.get(peer) ?? fail(peer),
      second: (peer) => second.get(peer) ?? fail(peer),
      folder: folderOf,
      path: (peer) => `/search?q=${encodeURIComponent(texts[peers.indexOf(peer)] ?? '')}`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function install(peers: readonly Peer[]): void {
  const script = join(import.meta.dirname, '../../../../loadtest/stack/install.ts');
  const parts = new Set(['redis', 'sphinx', ...peers.flatMap((peer) => peer.parts)]);
  const { status } = spawnSync(process.execPath, [script, ...parts], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error('a server of the peers cannot be installed, see above');
}

function fail(peer: Peer): never {
  throw new Error(`${peer.name} does not run`);
}
