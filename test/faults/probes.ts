import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { openConnection } from '../../src/engines/sphinx/connection.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { INDEX } from './configuration.ts';

/** One command and its reply on a new connection. */
export interface Exchange {
  readonly ms: number;
  /** Size of the reply. */
  readonly bytes: number;
  /** Number of reads that the reply took. */
  readonly pieces: number;
}

/** The engine's answer to a new connection. */
type Greeting = 'accepted' | SearchError['reason'];

/** One end of a TCP connection as listed by the kernel. */
interface KernelSocket {
  readonly localPort: number;
  /** As in /proc/net/tcp: `01` is established. */
  readonly state: string;
  /** Bytes sent by the program and not acknowledged by the other end. */
  readonly unsentBytes: number;
}

export const ESTABLISHED = '01';

const BOUND_MS = 3000;

/** Sends ECHO with a payload of this size to a store node or its proxy. Waits at most `boundMs`. */
export function echo(
  { host, port }: { readonly host: string; readonly port: number },
  payloadBytes: number,
  boundMs: number,
): Promise<Exchange> {
  const payload = 'x'.repeat(payloadBytes);
  const wanted = `$${payloadBytes}\r\n${payload}\r\n`.length;
  const startMs = performance.now();
  return new Promise((resolve) => {
    let bytes = 0;
    let pieces = 0;
    const socket = connect({ host, port, noDelay: true });
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ ms: Math.round(performance.now() - startMs), bytes, pieces });
    };
    const timer = setTimeout(end, boundMs);
    socket.once('connect', () => socket.write(`*2\r\n$4\r\nECHO\r\n$${payloadBytes}\r\n${payload}\r\n`));
    socket.on('data', (part) => {
      bytes += part.length;
      pieces += 1;
      if (bytes >= wanted) end();
    });
    socket.once('error', end);
    socket.once('close', end);
  });
}

export async function greetingOf(port: number): Promise<Greeting> {
  return withConnection(port, async () => 'accepted' as const).catch(reasonOf);
}

/** Minimum duration of five searches at an engine's port. The engine proxy counts them as probes. */
export async function quickestSearchMs(port: number): Promise<number> {
  return withConnection(port, async (send) => {
    const durationsMs: number[] = [];
    for (let search = 0; search < SEARCHES; search += 1) {
      const startMs = performance.now();
      await send(`SELECT doc_id FROM ${INDEX} WHERE MATCH('serpcacheprobe')`);
      durationsMs.push(performance.now() - startMs);
    }
    return Math.min(...durationsMs);
  });
}

const SEARCHES = 5;

async function withConnection<T>(
  port: number,
  use: (send: (sql: string) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const options = { host: '127.0.0.1', port, connectTimeoutMs: BOUND_MS, onClose: () => undefined };
  const connection = await openConnection(options, AbortSignal.timeout(2 * BOUND_MS));
  try {
    return await use(connection.send);
  } finally {
    connection.destroy();
  }
}

function reasonOf(error: unknown): Greeting {
  if (error instanceof SearchError) return error.reason;
  throw error;
}

/** The server ends of connections to these ports. A dual-stack server has its connections in the second file. */
export function socketsAt(ports: ReadonlySet<number>): readonly KernelSocket[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => (existsSync(file) ? socketsIn(file, ports) : []));
}

function socketsIn(file: string, ports: ReadonlySet<number>): readonly KernelSocket[] {
  const portOf = (address: string): number => Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(1)
    .map((line): KernelSocket => {
      const [, local = '', , state = '', queues = ''] = line.trim().split(/\s+/);
      return {
        localPort: portOf(local),
        state,
        unsentBytes: Number.parseInt(queues, 16),
      };
    })
    .filter(({ localPort }) => ports.has(localPort));
}
