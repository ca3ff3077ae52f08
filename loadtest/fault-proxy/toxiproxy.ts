import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goProgram } from '../stack/go-program.ts';
import { freePort, startProcess } from '../stack/process.ts';
import type { ProxyOptions } from './relay.ts';

/** A fault for the bytes from the server to the client, with toxiproxy's own names and units. */
export type Toxic =
  /** Milliseconds. */
  | { readonly type: 'latency'; readonly attributes: { readonly latency: number } }
  /** KiB per second. */
  | { readonly type: 'bandwidth'; readonly attributes: { readonly rate: number } }
  /** Sends pieces of this size, microseconds apart. Without a delay the receiver may see several as one. */
  | { readonly type: 'slicer'; readonly attributes: { readonly average_size: number; readonly delay: number } };

export type Toxiproxy = Awaited<ReturnType<typeof startToxiproxy>>;
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
  const port = await freePort();
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

  const call = async (method: 'POST' | 'DELETE', path: string, body: object): Promise<void> => {
    const signal = AbortSignal.timeout(10_000);
    const reply = await fetch(`${api}${path}`, { method, signal, body: JSON.stringify(body) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`toxiproxy: ${method} ${path}: ${reply.status} ${text.trim()}`);
  };

  const proxy = async ({ target }: Pick<ProxyOptions, 'target'>) => {
    const listen = await freePort();
    const toxics = `/proxies/p${listen}/toxics`;
    const addresses = { listen: `${HOST}:${listen}`, upstream: `${target.host}:${target.port}` };
    await call('POST', '/proxies', { name: `p${listen}`, ...addresses, enabled: true });
    const types = new Set<Toxic['type']>();
    return {
      host: HOST,
      port: listen,
      /** Affects open connections too. A second one of a type is refused. */
      add: async (toxic: Toxic): Promise<void> => {
        await call('POST', toxics, { ...toxic, name: toxic.type, stream: 'downstream' });
        types.add(toxic.type);
      },
      heal: async (): Promise<void> => {
        for (const type of types) await call('DELETE', `${toxics}/${type}`, {});
        types.clear();
      },
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
