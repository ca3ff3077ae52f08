import { coresOf, inLab, type Lab } from '../../../../loadtest/labs/kit/lab.ts';
import type { Peer } from '../../../../loadtest/labs/peers/peer.ts';
import { purgeEach } from '../../../../loadtest/labs/peers/replicas.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';
import { fakeBackend } from '../../../fakes/peer.ts';

export function quietLab<T>(work: (lab: Lab) => Promise<T>): Promise<T> {
  const { signal } = new AbortController();
  return inLab({ cores: coresOf(processorsHere()), rowSeconds: 0.2, say: () => undefined, signal }, work);
}

/** A lab with a fake engine and fake peers, whose replicas have no store. */
export function withHarness<T>(work: (harness: Awaited<ReturnType<typeof harnessIn>>) => Promise<T>): Promise<T> {
  return quietLab(async (lab) => work(await harnessIn(lab)));
}

async function harnessIn(lab: Lab) {
  const backend = await fakeBackend();
  lab.atEnd(backend.stop);
  const start = async (peer: Peer, { count = 1, ttlSeconds = 60 }: { count?: number; ttlSeconds?: number } = {}) => {
    const { origin, engine } = backend;
    const settings = { folder: lab.folder, origin, engine, cores: '0', staleSeconds: 60, ttlSeconds };
    const store = { host: '127.0.0.1', port: 0 };
    const ports = await freePorts(count);
    const running = await Promise.all(ports.map((port) => peer.start({ ...settings, store, port })));
    for (const { stop } of running) lab.atEnd(stop);
    return { urls: running.map(({ url }) => url), purge: () => purgeEach(running) };
  };
  return { lab, backend, start };
}
