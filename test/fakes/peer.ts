import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Backend } from '../../loadtest/labs/peers/backend.ts';
import type { Peer, RunningPeer } from '../../loadtest/labs/peers/peer.ts';

export interface FakePeerOptions {
  readonly name?: string;
  readonly keeps?: Peer['keeps'];
  /** Concurrent requests for the same page share one search. */
  readonly coalesces?: boolean;
  /** Serves expired pages when the origin fails. */
  readonly servesStale?: boolean;
  readonly failsToStart?: string;
}

/** A page cache in this process, small enough that a test can predict each of its figures. */
export function fakePeer(options: FakePeerOptions = {}): Peer {
  return {
    name: options.name ?? 'fake',
    setUp: 'a Map in the process that measures.',
    parts: [],
    keeps: options.keeps ?? 'own',
    start: async ({ port, origin, ttlSeconds }) => {
      if (options.failsToStart !== undefined) throw new Error(options.failsToStart);
      const pages = new Map<string, { readonly body: string; readonly untilMs: number }>();
      const loads = new Map<string, Promise<string>>();
      const load = async (path: string): Promise<string> => {
        const answer = await fetch(origin + path);
        const body = await answer.text();
        if (answer.status !== 200) throw new Error(body);
        pages.set(path, { body, untilMs: performance.now() + ttlSeconds * 1000 });
        return body;
      };
      const pageOf = async (path: string): Promise<string> => {
        const kept = pages.get(path);
        if (kept !== undefined && kept.untilMs > performance.now()) return kept.body;
        const flight = (options.coalesces ? loads.get(path) : undefined) ?? load(path);
        loads.set(path, flight);
        try {
          return await flight;
        } catch (error) {
          if (options.servesStale && kept !== undefined) return kept.body;
          throw error;
        } finally {
          loads.delete(path);
        }
      };
      return serve(port, pageOf, () => pages.clear());
    },
  };
}

async function serve(port: number, pageOf: (path: string) => Promise<string>, clear: () => void): Promise<RunningPeer> {
  const server = createServer((request, response) => {
    pageOf(request.url ?? '').then(
      (body) => response.end(body),
      () => response.writeHead(503).end(),
    );
  });
  const stop = await listening(server, port);
  return { url: `http://127.0.0.1:${port}`, pids: () => [process.pid], purge: async () => clear(), stop };
}

/** A fake engine that answers every search with the same page, or with 503 while it is dead. */
export async function fakeBackend(pageBytes = 4096): Promise<Backend & { readonly delayMs: () => number }> {
  let [searches, delayMs, isDead] = [0, 0, false];
  const answer = (response: ServerResponse): void => {
    response.writeHead(isDead ? 503 : 200).end(isDead ? 'dead' : 'x'.repeat(pageBytes));
  };
  const server = createServer((_, response) => {
    if (isDead) return answer(response);
    searches += 1;
    setTimeout(() => answer(response), delayMs);
  });
  const stop = await listening(server, 0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    engine: { host: '127.0.0.1', port, index: 'fake' },
    searches: () => searches,
    delay: (ms) => {
      delayMs = ms;
    },
    delayMs: () => delayMs,
    die: async () => {
      isDead = true;
    },
    revive: async () => {
      isDead = false;
    },
    texts: (count) => Array.from({ length: count }, (_, at) => `search ${at}`),
    stop,
  };
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<() => Promise<void>> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
