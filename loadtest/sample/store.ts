import { connect, type Socket } from 'node:net';
import type { Clock } from '../../src/runtime.ts';
import type { HostPort } from '../../src/schema/units.ts';

export interface StoreNode extends HostPort {
  /** `goods-1` */
  readonly name: string;
}

/** A little under the sampling interval: a refused connection is tried again after at most two samples. */
const RECONNECT_MS = 900;
/** A stopped process answers when it continues, on the same connection; a machine that is gone never does. */
const SILENT_MS = 10_000;
/** `INFO` is 4–7 kB. */
const MAX_REPLY_BYTES = 1 << 20;

/**
 * Reads one store node over one connection: a connection per sample would be a load, and would be counted. The node is a
 * plain loopback server without a password, as in the local stack.
 */
export function createStoreAsker({ name, host, port }: StoreNode, clock: Clock) {
  let socket: Socket | undefined;
  let connectedMs = -Infinity;
  let received = '';
  /** Set while a reply is outstanding; `answer` resolves its caller. */
  let askedMs: number | undefined;
  let answer: (info: string | undefined) => void = () => undefined;
  let isClosed = false;

  const settle = (info: string | undefined): void => {
    askedMs = undefined;
    received = '';
    answer(info);
  };
  const drop = (): void => {
    socket?.destroy();
    socket = undefined;
    settle(undefined);
  };
  const open = (): Socket => {
    connectedMs = clock.monotonicMs();
    const opened = connect({ host, port });
    // The socket keeps no process alive; a caller that waits has a timer that does.
    opened.unref();
    opened.setEncoding('latin1'); // one character is one byte
    opened.on('data', (part: string) => {
      if (opened !== socket) return;
      received += part;
      const info = replyOf(received);
      if (info === 'more' && received.length <= MAX_REPLY_BYTES) return;
      if (info === 'more') return drop();
      settle(info.text);
    });
    opened.on('error', () => undefined); // `close` follows
    opened.on('close', () => {
      if (opened === socket) drop();
    });
    return opened;
  };

  return {
    /** Never rejects; undefined when the node is away or takes longer than `limitMs`. */
    ask: async (limitMs: number): Promise<StoreSample | undefined> => {
      const nowMs = clock.monotonicMs();
      if (askedMs !== undefined && nowMs - askedMs > SILENT_MS) drop();
      // Another command would only wait behind the outstanding reply.
      if (isClosed || askedMs !== undefined) return undefined;
      if (socket === undefined && nowMs - connectedMs < RECONNECT_MS) return undefined;
      socket ??= open();
      askedMs = nowMs;
      socket.write('*1\r\n$4\r\nINFO\r\n');
      const info = await new Promise<string | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), limitMs);
        answer = (text) => {
          clearTimeout(timer);
          resolve(text);
        };
      });
      return info === undefined ? undefined : storeSampleOf(name, info);
    },
    close: (): void => {
      isClosed = true;
      drop();
    },
  };
}

/** A bulk string; any other line is an error and has no text. */
function replyOf(received: string): 'more' | { readonly text: string | undefined } {
  const end = received.indexOf('\r\n');
  if (end < 0) return 'more';
  if (received[0] !== '$') return { text: undefined };
  const length = Number(received.slice(1, end));
  const start = end + 2;
  return received.length < start + length + 2 ? 'more' : { text: received.slice(start, start + length) };
}

export type StoreSample = NonNullable<ReturnType<typeof storeSampleOf>>;

/**
 * @param info the reply to `INFO`, as Redis ≥ 7 and Valkey write it.
 * @returns undefined when a figure is missing.
 */
function storeSampleOf(name: string, info: string) {
  const fields = new Map(Array.from(info.matchAll(/^(\w+):(.*)$/gm), ([, name, value = '']) => [name, value]));
  const sum = (...names: readonly string[]): number =>
    names.reduce((all, field) => all + Number.parseFloat(fields.get(field) ?? ''), 0);
  // A database without keys has no line.
  const databases = info.matchAll(/^db\d+:keys=(\d+)/gm);
  const sample = {
    name,
    commands: sum('total_commands_processed'),
    cpuSeconds: sum('used_cpu_user', 'used_cpu_sys'),
    usedBytes: sum('used_memory'),
    /** 0: no limit. */
    maxBytes: sum('maxmemory'),
    keys: databases.reduce((all, [, keys]) => all + Number(keys), 0),
    evicted: sum('evicted_keys'),
    connections: sum('connected_clients'),
    maxConnections: sum('maxclients'),
    rejectedConnections: sum('rejected_connections'),
    connectionsOpened: sum('total_connections_received'),
    receivedBytes: sum('total_net_input_bytes'),
    sentBytes: sum('total_net_output_bytes'),
  };
  return Object.values(sample).some((value) => Number.isNaN(value)) ? undefined : sample;
}
