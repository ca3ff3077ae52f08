import { coresOf, inLab, type Lab } from '../../../../loadtest/labs/kit/lab.ts';
import type { Backend, Peer } from '../../../../loadtest/labs/peers/peer.ts';
import { purgeEach } from '../../../../loadtest/labs/peers/replicas.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';
import { fakeBackend } from '../../../fakes/peer.ts';

export interface MeasureHarness {
  readonly lab: Lab;
  readonly backend: Awaited<ReturnType<typeof fakeBackend>>;
  /** Replicas without a store. */
  readonly start: (
    peer: Peer,
    options?: { count?: number; ttlSeconds?: number },
  ) => Promise<{ readonly urls: readonly string[]; readonly purge: () => Promise<number> }>;
}

export function quietLab<T>(work: (lab: Lab) => Promise<T>): Promise<T> {
  const { signal } = new AbortController();
  return inLab({ cores: coresOf(processorsHere()), rowSeconds: 0.2, say: () => undefined, signal }, work);
}

/** A lab with a fake engine and fake peers. */
export function withHarness<T>(work: (harness: MeasureHarness) => Promise<T>): Promise<T> {
  return quietLab(async (lab) => {
    const backend = await fakeBackend();
    lab.atEnd(backend.stop);
    return work({ lab, backend, start: (peer, options) => replicasOf(lab, backend, peer, options) });
  });
}

async function replicasOf(
  lab: Lab,
  backend: Backend,
  peer: Peer,
  { count = 1, ttlSeconds = 60 }: { count?: number; ttlSeconds?: number } = {},
) {
  const settings = { folder: lab.folder, origin: backend.origin, engine: backend.engine, cores: '0', staleSeconds: 60 };
  const store = { host: '127.0.0.1', port: 0 };
  const ports = await freePorts(count);
  const running = await Promise.all(ports.map((port) => peer.start({ ...settings, store, port, ttlSeconds })));
  for (const { stop } of running) lab.atEnd(stop);
  return {
    urls: running.map(({ url }) => url),
    purge: () => purgeEach(running),
  };
}
