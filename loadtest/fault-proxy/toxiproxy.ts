import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goProgram } from '../stack/go-program.ts';
import { freePorts, startProcess } from '../stack/process.ts';

/** A fault for the bytes of one direction, by toxiproxy's own names. */
export type Toxic =
  | { readonly kind: 'latency'; readonly latencyMs: number; readonly jitterMs?: number }
  | { readonly kind: 'bandwidth'; readonly kibPerSecond: number }
  /** Closes the connection this time after the server or the client closed it. */
  | { readonly kind: 'slow_close'; readonly delayMs: number }
  /** Discards bytes and closes the connection after `timeoutMs`, 0: never. Its removal closes all these connections. */
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  /** RST, `timeoutMs` after the next bytes. */
  | { readonly kind: 'reset_peer'; readonly timeoutMs: number }
  /** Sends pieces of this size with `delayUs` between them. Without a delay the receiver may see several as one. */
  | {
      readonly kind: 'slicer';
      readonly averageBytes: number;
      readonly variationBytes?: number;
      readonly delayUs: number;
    }
  /** Closes the connection after this number of bytes. */
  | { readonly kind: 'limit_data'; readonly bytes: number };

export interface ToxicScope {
  /** downstream: from the server to the client; upstream: from the client to the server. */
  readonly direction: 'downstream' | 'upstream';
  /** The share of affected connections, 0–1. Drawn when the toxic is added, and once for each later connection. */
  readonly toxicity?: number;
}

/** One proxy of a toxiproxy server. */
export interface ToxicProxy {
  readonly host: string;
  readonly port: number;
  /** `host:port`. */
  readonly address: string;
  /** Affects open connections too. @returns a function that removes the toxic. */
  readonly add: (toxic: Toxic, scope: ToxicScope) => Promise<() => Promise<void>>;
  /** Removes all toxics. */
  readonly heal: () => Promise<void>;
  /** Off: closes every connection and refuses new ones. */
  readonly enable: (on: boolean) => Promise<void>;
}

export interface Toxiproxy {
  readonly pid: number;
  readonly proxy: (options: {
    readonly target: { readonly host: string; readonly port: number };
  }) => Promise<ToxicProxy>;
  /** Ends the server by its pid, and all its proxies with it. */
  readonly stop: () => Promise<void>;
}

const HOST = '127.0.0.1';

/** @throws when the program can be neither found nor built, see toxiproxy-program.ts. */
export async function startToxiproxy(): Promise<Toxiproxy> {
  const command = await toxiproxyProgram();
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

  const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> => {
    const signal = AbortSignal.timeout(10_000);
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(`${api}${path}`, { method, signal, ...json });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`toxiproxy: ${method} ${path}: ${reply.status} ${text.trim()}`);
    return text === '' ? undefined : JSON.parse(text);
  };

  const proxy: Toxiproxy['proxy'] = async ({ target }) => {
    const [listen] = await freePorts(1);
    if (listen === undefined) throw new Error('no free port');
    const path = `/proxies/p${listen}`;
    const body = { name: `p${listen}`, listen: `${HOST}:${listen}`, upstream: `${target.host}:${target.port}` };
    await call('POST', '/proxies', { ...body, enabled: true });
    const names = new Set<string>();
    let last = 0;
    const remove = async (name: string): Promise<void> => {
      if (names.delete(name)) await call('DELETE', `${path}/toxics/${name}`);
    };
    return {
      host: HOST,
      port: listen,
      address: `${HOST}:${listen}`,
      add: async (toxic, { direction, toxicity = 1 }) => {
        last += 1;
        const name = `${toxic.kind}-${last}`;
        const common = { name, type: toxic.kind, stream: direction, toxicity };
        await call('POST', `${path}/toxics`, { ...common, attributes: attributesOf(toxic) });
        names.add(name);
        return () => remove(name);
      },
      heal: async () => {
        for (const name of [...names]) await remove(name);
      },
      enable: async (on) => {
        await call('POST', path, { enabled: on });
      },
    };
  };

  return {
    pid: server.pid,
    proxy,
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Our names, with their units, to toxiproxy's. */
function attributesOf(toxic: Toxic): Readonly<Record<string, number>> {
  switch (toxic.kind) {
    case 'latency':
      return { latency: toxic.latencyMs, jitter: toxic.jitterMs ?? 0 };
    case 'bandwidth':
      return { rate: toxic.kibPerSecond };
    case 'slow_close':
      return { delay: toxic.delayMs };
    case 'timeout':
    case 'reset_peer':
      return { timeout: toxic.timeoutMs };
    case 'slicer':
      return {
        average_size: toxic.averageBytes,
        size_variation: toxic.variationBytes ?? 0,
        delay: toxic.delayUs,
      };
    case 'limit_data':
      return { bytes: toxic.bytes };
  }
}

/**
 * The toxiproxy server's path. When it is not in the user's cache yet it is built there, in half a minute.
 * @throws with one line that says which command helps, or with the words of Go.
 */
function toxiproxyProgram(): Promise<string> {
  return goProgram({
    name: 'toxiproxy',
    // The last that any Go at hand can build: Debian 12's own is 1.19.
    version: 'v2.5.0',
    module: 'github.com/Shopify/toxiproxy/v2/cmd/server',
    limitMs: 5 * 60_000,
  });
}
