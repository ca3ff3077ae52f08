import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goProgram } from '../stack/go-program.ts';
import { freePorts, startProcess } from '../stack/process.ts';
import type { ProxyOptions } from './relay.ts';

/** A fault for the bytes of one direction, with toxiproxy's own names and units. An absent attribute is 0. */
export type Toxic =
  /** Milliseconds. */
  | { readonly type: 'latency'; readonly attributes: { readonly latency: number; readonly jitter?: number } }
  /** KiB per second. */
  | { readonly type: 'bandwidth'; readonly attributes: { readonly rate: number } }
  /** Closes the connection this number of milliseconds after the server or the client closed it. */
  | { readonly type: 'slow_close'; readonly attributes: { readonly delay: number } }
  /**
   * `timeout` discards bytes and closes the connection after this number of milliseconds, 0: never. Its removal closes all
   * these connections. `reset_peer` sends RST this number of milliseconds after the next bytes.
   */
  | { readonly type: 'timeout' | 'reset_peer'; readonly attributes: { readonly timeout: number } }
  /** Sends pieces of this size, microseconds apart. Without a delay the receiver may see several as one. */
  | { readonly type: 'slicer'; readonly attributes: { readonly average_size: number; readonly delay: number } }
  /** Closes the connection after this number of bytes. */
  | { readonly type: 'limit_data'; readonly attributes: { readonly bytes: number } };

interface ToxicScope {
  /** downstream: from the server to the client; upstream: from the client to the server. */
  readonly stream: 'downstream' | 'upstream';
  /** The share of affected connections, 0–1. Drawn when the toxic is added, and once for each later connection. */
  readonly toxicity?: number;
}

export type Toxiproxy = Awaited<ReturnType<typeof startToxiproxy>>;
/** One proxy of a toxiproxy server. */
export type ToxicProxy = Awaited<ReturnType<Toxiproxy['proxy']>>;

const HOST = '127.0.0.1';

/** @throws when the program can be neither found nor built, with one line that says which command helps. */
export async function startToxiproxy() {
  const command = await goProgram({
    name: 'toxiproxy',
    // The last that any Go at hand can build: Debian 12's own is 1.19.
    version: 'v2.5.0',
    from: { module: 'github.com/Shopify/toxiproxy/v2/cmd/server' },
    // Half a minute.
    limitMs: 5 * 60_000,
  });
  const [port] = await freePorts(1);
  const directory = await mkdtemp(join(tmpdir(), 'serpcache-toxiproxy-'));
  const api = `http://${HOST}:${port}`;
  const server = await startProcess({
    name: 'toxiproxy',
    command,
    args: ['-host', HOST, '-port', String(port)],
    cwd: directory,
    logFile: join(directory, 'toxiproxy.log'),
    ready: async () => (await fetch(`${api}/version`)).ok,
  });

  const call = async (method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<void> => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(`${api}${path}`, { method, signal: AbortSignal.timeout(10_000), ...json });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`toxiproxy: ${method} ${path}: ${reply.status} ${text.trim()}`);
  };

  const proxy = async ({ target }: Pick<ProxyOptions, 'target'>) => {
    const [listen = 0] = await freePorts(1);
    const path = `/proxies/p${listen}`;
    const addresses = { listen: `${HOST}:${listen}`, upstream: `${target.host}:${target.port}` };
    await call('POST', '/proxies', { name: `p${listen}`, ...addresses, enabled: true });
    const names = new Set<string>();
    let last = 0;
    const remove = async (name: string): Promise<void> => {
      if (names.delete(name)) await call('DELETE', `${path}/toxics/${name}`);
    };
    return {
      host: HOST,
      port: listen,
      /** Affects open connections too. @returns a function that removes the toxic. */
      add: async (toxic: Toxic, { stream, toxicity = 1 }: ToxicScope) => {
        last += 1;
        const name = `${toxic.type}-${last}`;
        await call('POST', `${path}/toxics`, { ...toxic, name, stream, toxicity });
        names.add(name);
        return () => remove(name);
      },
      /** Removes all toxics. */
      heal: async (): Promise<void> => {
        for (const name of [...names]) await remove(name);
      },
      /** Off: closes every connection and refuses new ones. */
      enable: (on: boolean) => call('POST', path, { enabled: on }),
    };
  };

  return {
    pid: server.pid,
    proxy,
    /** Ends the server by its pid, and all its proxies with it. */
    stop: async (): Promise<void> => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
