/** `node loadtest/labs/kit/driver/drive.ts <plan.json>` prints the result as JSON. A separate process can use a separate core. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostPort } from '../../../../src/schema/units.ts';
import { openLoop } from '../../../http-driver/loops.ts';
import { createRandom } from '../../../random.ts';
import { gaussianKey, type Mix, mixKey, respCommand, valueBytes } from '../mix.ts';
import {
  type Connection,
  createConnection,
  createTally,
  type Deadline,
  type Idle,
  startMeter,
  type Tally,
} from './connection.ts';

/** One run of the driver process: a bounded load over raw connections, for loads that redis-benchmark cannot make. */
export interface DrivePlan {
  readonly targets: readonly HostPort[];
  /** The total, spread evenly over the targets. */
  readonly connections: number;
  readonly seconds: number;
  readonly commands: Commands;
  /** Closed loop: commands that a connection sends at once before it waits for their replies. Default: 1. */
  readonly pipeline?: number;
  /** Open loop: commands per second over all connections, each on the next connection, whether or not earlier ones were answered. */
  readonly ratePerSecond?: number;
  /**
   * Closed loop: a connection is replaced by a new one after this number of commands. When the measurement begins, each one
   * is at a different point of its life, as in the steady state. Absent: connections are kept.
   */
  readonly commandsPerConnection?: number;
  readonly deadline?: Deadline;
  /** PEM of the CA. */
  readonly ca?: string;
  readonly seed: number;
  /** Pids whose processor time is read at both ends of the load. */
  readonly watched?: readonly number[];
}

type Commands =
  | ({ readonly kind: 'mix' } & Mix)
  /** `__rand_int__` is replaced by a number in 0…keys-1, as in redis-benchmark but without leading zeros. */
  | { readonly kind: 'fixed'; readonly words: readonly string[]; readonly keys?: number };

/** With more at once the backlog of a listener (511) overflows, and the refused connections are no finding. */
const CONNECTS_AT_ONCE = 200;
const SWEEP_INTERVAL_MS = 5;

export type Driven = Awaited<ReturnType<typeof drive>>;

/** Runs a plan to its end. @throws when the connections cannot be opened beforehand. */
export async function drive(plan: DrivePlan) {
  const { targets, seconds, pipeline = 1, deadline, ca, watched = [] } = plan;
  const nowMs = (): number => performance.now();
  const next = nextCommand(plan.commands, createRandom(plan.seed).next);
  let [received, connects] = [0, 0];
  let tally = createTally(nowMs(), nowMs);
  const counted: Omit<Tally, 'end'> = {
    answered: (tookMs) => tally.answered(tookMs),
    failed: (why, count) => tally.failed(why, count),
  };
  const idle: ((why: Idle) => void)[] = [];
  const connections = Array.from({ length: plan.connections }, (_, at) =>
    createConnection({
      target: targets[at % targets.length] ?? { host: '127.0.0.1', port: 6379 },
      ca,
      deadline,
      tally: counted,
      nowMs,
      onBytes: (bytes) => {
        received += bytes;
      },
      onConnect: () => {
        connects += 1;
      },
      onIdle: (why) => idle[at]?.(why),
    }),
  );
  await openAll(connections);

  const send = (connection: Connection, dueMs: number, count: number): void => {
    connection.send(Buffer.concat(Array.from({ length: count }, next)), dueMs, count);
  };
  const startedMs = nowMs();
  const measured = startMeter(watched, nowMs);
  tally = createTally(startedMs, nowMs);
  [received, connects] = [0, 0];
  const sweeping = setInterval(() => {
    for (const connection of connections) connection.sweep();
  }, SWEEP_INTERVAL_MS);

  if (plan.ratePerSecond === undefined) {
    const most = (plan.commandsPerConnection ?? Number.POSITIVE_INFINITY) / pipeline;
    const loops = connections.map((connection, at) =>
      closedLoop({
        connection,
        send: () => send(connection, nowMs(), pipeline),
        most,
        sentBefore: Number.isFinite(most) ? Math.floor((at / connections.length) * most) : 0,
      }),
    );
    for (const [at, loop] of loops.entries()) idle[at] = loop.onIdle;
    for (const loop of loops) loop.start();
    await sleep(seconds * 1000);
    for (const loop of loops) loop.end();
  } else {
    const endMs = startedMs + seconds * 1000;
    await atRate({ ratePerSecond: plan.ratePerSecond, endMs, connections, send, tally: counted, nowMs });
  }

  clearInterval(sweeping);
  const own = measured();
  const ended = tally.end();
  for (const connection of connections) connection.close();
  const perSecond = ended.answered / own.seconds;
  return { ...own, ...ended, perSecond, connects, receivedBytes: received };
}

async function openAll(connections: readonly Connection[]): Promise<void> {
  let open = 0;
  for (let at = 0; at < connections.length; at += CONNECTS_AT_ONCE) {
    const some = await Promise.all(connections.slice(at, at + CONNECTS_AT_ONCE).map((one) => one.open()));
    open += some.filter(Boolean).length;
  }
  if (open < connections.length) throw new Error(`only ${open} of ${connections.length} connections could be opened`);
}

const PLACEHOLDER = '__rand_int__';

function nextCommand(commands: Commands, random: () => number): () => Buffer {
  if (commands.kind === 'mix') {
    const value = Buffer.alloc(commands.mostBytes, 'x');
    return () => {
      const key = mixKey(gaussianKey(commands.keys, random));
      if (random() >= commands.writes) return Buffer.from(`*2\r\n$3\r\nGET\r\n$${key.length}\r\n${key}\r\n`);
      return respCommand(['SET', key, value.subarray(0, valueBytes(commands, random))]);
    };
  }
  const { words, keys = 1 } = commands;
  if (!words.some((word) => word.includes(PLACEHOLDER))) {
    const bytes = respCommand(words);
    return () => bytes;
  }
  return () =>
    respCommand(words.map((word) => word.replaceAll(PLACEHOLDER, () => String(Math.floor(random() * keys)))));
}

interface ClosedLoopOptions {
  readonly connection: Connection;
  readonly send: () => void;
  /** Maximum number of batches of one connection before it is replaced. */
  readonly most: number;
  /** Batches that count as sent before the measurement. */
  readonly sentBefore: number;
}

/** Delay after a failed connect. Without it a dead target would cause a storm of connects. */
const PAUSE_MS = 100;

/**
 * Closed loop: the next batch is sent when the last one was answered or lost. It runs on callbacks, unlike the closed
 * loop of http-driver: a connection is replaced within it, and there is no promise for each batch.
 */
function closedLoop({ connection, send, most, sentBefore }: ClosedLoopOptions) {
  let [onThis, isOver] = [sentBefore, false];
  const again = (): void => {
    if (isOver) return;
    if (onThis >= most) {
      connection.close();
      onThis = 0;
    }
    onThis += 1;
    send();
  };
  return {
    start: again,
    end: (): void => {
      isOver = true;
    },
    onIdle: (why: Idle): void => {
      if (why !== 'answered') onThis = 0;
      if (why === 'unopened') setTimeout(again, PAUSE_MS);
      else again();
    },
  };
}

interface AtRateOptions {
  readonly ratePerSecond: number;
  readonly endMs: number;
  readonly connections: readonly Connection[];
  readonly send: (connection: Connection, dueMs: number, commands: number) => void;
  readonly tally: Pick<Tally, 'failed'>;
  readonly nowMs: () => number;
  /** Default: a millisecond. */
  readonly pause?: () => Promise<unknown>;
}

/** Maximum number of commands in flight on one connection. Further ones are not sent. */
const MAX_IN_FLIGHT = 5000;

/** Open loop over the connections in turn. Commands that came due during a stall across the end count too. */
export async function atRate(options: AtRateOptions): Promise<void> {
  const { ratePerSecond, endMs, connections, send, tally, nowMs, pause = () => sleep(1) } = options;
  const loop = openLoop({
    ratePerSecond,
    maxRequests: Math.ceil(((endMs - nowMs()) * ratePerSecond) / 1000),
    nowMs,
    pause,
    send: (n, dueMs) => {
      const connection = connections[n % connections.length];
      if (connection === undefined || connection.waiting() >= MAX_IN_FLIGHT) tally.failed('unsent');
      else send(connection, dueMs, 1);
    },
  });
  await loop.ended;
  while (nowMs() < endMs) await pause();
}

if (import.meta.main) {
  console.log(JSON.stringify(await drive(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))));
  process.exit(0);
}
