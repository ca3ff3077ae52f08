import { connect, type Socket } from 'node:net';
import type { Clock } from '../../src/runtime.ts';
import type { StoreSample } from './sample.ts';

export interface StoreNode {
  /** `goods-1` */
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** One store node over one connection: a connection per question would be a load of its own, and count as one. */
export interface StoreAsker {
  /** Never rejects; undefined when the node is away or takes longer than `limitMs`. */
  readonly ask: (limitMs: number) => Promise<StoreSample | undefined>;
  readonly close: () => void;
}

/** A refused connection is tried again with the next question but one at most: a little under a second of ticks. */
const RECONNECT_MS = 900;
/** A stopped process keeps its connections and answers when it goes on; a machine that is gone never does. */
const SILENT_MS = 10_000;
/** `INFO` is 4–7 kB. */
const MAX_REPLY_BYTES = 1 << 20;

/** Plain loopback servers without a password: those of the local stack. */
export function createStoreAsker({ name, host, port }: StoreNode, clock: Clock): StoreAsker {
  let socket: Socket | undefined;
  let connectedMs = -Infinity;
  let received = '';
  /** When the question was sent whose reply has not come, and who still waits for that reply. */
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
    // Nobody is kept from ending by it; whoever waits for an answer has a timer that runs.
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
    ask: async (limitMs) => {
      const nowMs = clock.monotonicMs();
      if (askedMs !== undefined && nowMs - askedMs > SILENT_MS) drop();
      // The reply to the question before is still to come: one more would only be one more to wait for.
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
    close: () => {
      isClosed = true;
      drop();
    },
  };
}

/** A bulk string, or a line of any other kind: an error, which says nothing. */
function replyOf(received: string): 'more' | { readonly text: string | undefined } {
  const end = received.indexOf('\r\n');
  if (end < 0) return 'more';
  if (received[0] !== '$') return { text: undefined };
  const length = Number(received.slice(1, end));
  const start = end + 2;
  return received.length < start + length + 2 ? 'more' : { text: received.slice(start, start + length) };
}

/**
 * @param info the reply to `INFO`, as Redis ≥ 7 and Valkey write it.
 * @returns undefined when a figure is missing: that was another kind of answer.
 */
export function storeSampleOf(name: string, info: string): StoreSample | undefined {
  const fields = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
  const sum = (...names: readonly string[]): number =>
    names.reduce((all, field) => all + Number.parseFloat(fields.get(field) ?? ''), 0);

  const sample: StoreSample = {
    name,
    commands: sum('total_commands_processed'),
    cpuSeconds: sum('used_cpu_user', 'used_cpu_sys'),
    usedBytes: sum('used_memory'),
    maxBytes: sum('maxmemory'),
    keys: keysOf(fields),
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

/** A database without keys has no line. */
function keysOf(fields: ReadonlyMap<string, string>): number {
  let keys = 0;
  for (const [field, value] of fields) {
    if (/^db\d+$/.test(field)) keys += Number.parseInt(/^keys=(\d+)/.exec(value)?.[1] ?? '', 10);
  }
  return keys;
}
