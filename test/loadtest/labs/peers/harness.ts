import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBackend } from '../../../../loadtest/labs/peers/backend.ts';
import { installServers } from '../../../../loadtest/labs/peers/node-peers.ts';
import type { Peer, ReplicaSetup, RunningPeer } from '../../../../loadtest/labs/peers/peer.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';
import { startRedisNode } from '../../../../loadtest/stack/redis-node.ts';

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** One engine and all peers in front of it at the same time, each with its own store. */
export async function createHarness(
  peers: readonly Peer[],
  options: Pick<ReplicaSetup, 'ttlSeconds' | 'staleSeconds'>,
) {
  install(peers);
  await installServers();
  await using starting = new AsyncDisposableStack();
  const root = mkdtempSync(join(tmpdir(), 'serpcache-peers-'));
  starting.defer(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const [running, second] = [new Map<Peer, RunningPeer>(), new Map<Peer, RunningPeer>()];
  const backend = await startBackend(join(root, 'backend'), { ttlSeconds: options.ttlSeconds, documents: 1500 });
  starting.defer(backend.stop);
  const texts = backend.texts(peers.length);
  // All ports at once: two searches for a free port at the same time may find the same one.
  const ports = await freePorts(3 * peers.length);
  const startOne = async (peer: Peer, folder: string, store: ReplicaSetup['store']): Promise<RunningPeer> => {
    mkdirSync(folder);
    const port = ports.pop() ?? 0;
    const { origin, engine } = backend;
    const one = await peer.start({ folder, port, origin, engine, store, cores: processorsHere(), ...options });
    starting.defer(one.stop);
    return one;
  };
  const start = async (peer: Peer): Promise<void> => {
    const folder = join(root, peer.name.replaceAll(/\W+/g, '-'));
    const port = ports.pop() ?? 0;
    const store = await startRedisNode({ flavour: 'redis', port, directory: `${folder}-store` });
    starting.defer(store.stop);
    await Promise.all([
      startOne(peer, folder, store).then((one) => running.set(peer, one)),
      peer.keeps === 'shared' && startOne(peer, `${folder}-second`, store).then((one) => second.set(peer, one)),
    ]);
  };
  const results = await Promise.allSettled(peers.map(start));
  for (const one of results) if (one.status === 'rejected') throw one.reason;
  const started = starting.move();
  return {
    backend,
    running: (peer: Peer) => running.get(peer) ?? fail(peer),
    /** A second replica over the same store, for peers that can share one. */
    second: (peer: Peer) => second.get(peer) ?? fail(peer),
    /** A search that has results and that no other test requests. */
    path: (peer: Peer) => `/search?q=${encodeURIComponent(texts[peers.indexOf(peer)] ?? '')}`,
    stop: () => started.disposeAsync(),
  };
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
