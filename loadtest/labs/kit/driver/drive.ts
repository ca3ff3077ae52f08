import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import { timedFrom } from '../../../http-driver/loops.ts';
import { processorMs } from '../../../stack/processors.ts';
import { type Connection, createConnection, type Idle, nextCommand, type Tally } from './connection.ts';
import type { Driven, DrivenSecond, DrivePlan } from './plan.ts';

/** With more at once a listener's backlog (511) overflows, and its refusals would be no finding. */
const CONNECT_AT_ONCE = 200;
const SWEEP_EVERY_MS = 5;

/** Runs a plan to its end. @throws when not even one connection can be opened. */
export async function drive(plan: DrivePlan): Promise<Driven> {
  const { targets, seconds, pipeline = 1, deadline, ca } = plan;
  const nowMs = (): number => performance.now();
  const next = nextCommand(plan.commands, createRandom(plan.seed).next);
  let [received, sent, connects] = [0, 0, 0];
  let tally: Tally = createTally(nowMs(), nowMs);
  const counted: Tally = {
    answered: (tookMs) => tally.answered(tookMs),
    failed: (why, count) => tally.failed(why, count),
    end: () => tally.end(),
  };
  const idle: ((why: Idle) => void)[] = [];
  const connections: Connection[] = Array.from({ length: plan.connections }, (_, at) =>
    createConnection({
      target: targets[at % targets.length] ?? { host: '127.0.0.1', port: 6379 },
      ...(ca !== undefined && { ca }),
      ...(deadline !== undefined && { deadline }),
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
  if (plan.commandsPerConnection === undefined || plan.isSettled) await openAll(connections);

  const send = (connection: Connection, dueMs: number, count: number): void => {
    const bytes = count === 1 ? next() : Buffer.concat(Array.from({ length: count }, next));
    sent += bytes.length;
    connection.send(bytes, dueMs, count);
  };
  const startedMs = nowMs();
  const watched = plan.watched ?? [];
  const watchedBefore = watched.map(processorMs);
  const cpuBefore = process.cpuUsage();
  tally = createTally(startedMs, nowMs);
  [received, sent, connects] = [0, 0, 0];
  const sweeping = setInterval(() => {
    for (const connection of connections) connection.sweep();
  }, SWEEP_EVERY_MS);
  const endMs = startedMs + seconds * 1000;

  if (plan.ratePerSecond === undefined) {
    const most = plan.commandsPerConnection === undefined ? undefined : plan.commandsPerConnection / pipeline;
    const loops = connections.map((connection, at) =>
      closedLoop({
        connection,
        send: () => send(connection, nowMs(), pipeline),
        ...(most !== undefined && { most }),
        ...(most !== undefined && plan.isSettled && { sentBefore: Math.floor((at / connections.length) * most) }),
      }),
    );
    for (const [at, loop] of loops.entries()) idle[at] = loop.onIdle;
    for (const loop of loops) loop.start();
    await sleep(seconds * 1000);
    for (const loop of loops) loop.end();
  } else await atRate({ ratePerSecond: plan.ratePerSecond, endMs, connections, send, tally: counted, nowMs });

  clearInterval(sweeping);
  const cpu = process.cpuUsage(cpuBefore);
  const tookSeconds = (nowMs() - startedMs) / 1000;
  const watchedCores = watched.map((pid, at) => (processorMs(pid) - (watchedBefore[at] ?? 0)) / 1000 / tookSeconds);
  const ended = tally.end();
  const unanswered = connections.reduce((sum, one) => sum + one.pending(), 0);
  for (const connection of connections) connection.close();
  return {
    seconds: tookSeconds,
    ...ended,
    unanswered,
    perSecond: ended.answered / tookSeconds,
    connects,
    receivedBytes: received,
    sentBytes: sent,
    watchedCores,
    processorSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

async function openAll(connections: readonly Connection[]): Promise<void> {
  let open = 0;
  for (let at = 0; at < connections.length; at += CONNECT_AT_ONCE) {
    const some = await Promise.all(connections.slice(at, at + CONNECT_AT_ONCE).map((one) => one.open()));
    open += some.filter(Boolean).length;
  }
  if (open < connections.length) throw new Error(`only ${open} of ${connections.length} connections could be opened`);
}

export interface ClosedLoopOptions {
  readonly connection: Connection;
  /** One batch. */
  readonly send: () => void;
  /** Batches of one connection, before it is closed and another opened; absent: kept. */
  readonly most?: number;
  /** Batches of the connection before the time began. Default: 0. */
  readonly sentBefore?: number;
}

/** Limits the rate of retries where nothing answers. */
const PAUSE_MS = 100;

/** Closed loop: the next batch goes out when the last one was answered, or lost. */
export function closedLoop({ connection, send, most = Number.POSITIVE_INFINITY, sentBefore = 0 }: ClosedLoopOptions) {
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

export interface AtRateOptions {
  readonly ratePerSecond: number;
  readonly endMs: number;
  readonly connections: readonly Connection[];
  readonly send: (connection: Connection, dueMs: number, commands: number) => void;
  readonly tally: Tally;
  readonly nowMs: () => number;
  /** Interval between two checks for due commands. Default: 1 ms. */
  readonly pause?: () => Promise<unknown>;
}

/** Maximum of commands under way on one connection; further due commands are not sent. */
const MOST_WAITING = 5000;

/** Open loop: due commands are sent on the connections in turn, without waiting for replies. */
export async function atRate(options: AtRateOptions): Promise<void> {
  const { ratePerSecond, endMs, connections, send, tally, nowMs, pause = () => sleep(1) } = options;
  const gapMs = 1000 / ratePerSecond;
  let [dueMs, at] = [nowMs(), 0];
  for (;;) {
    const now = nowMs();
    // Commands that came due while the process stood still across the end count too.
    for (; dueMs <= now && dueMs < endMs; dueMs += gapMs) {
      const connection = connections[at % connections.length];
      at += 1;
      if (connection === undefined || connection.waiting() >= MOST_WAITING) tally.failed('unsent');
      else send(connection, timedFrom(dueMs, now), 1);
    }
    if (now >= endMs) return;
    await pause();
  }
}

export function createTally(startedMs: number, nowMs: () => number): Tally {
  const whole = createHistogram();
  let second = createHistogram();
  let [secondFailed, secondNumber] = [0, 0];
  const errors = { late: 0, broken: 0, refused: 0, unsent: 0, unconnected: 0 };
  const eachSecond: DrivenSecond[] = [];

  const close = (): void => {
    eachSecond.push({
      answered: second.count,
      failed: secondFailed,
      p99Ms: second.count === 0 ? 0 : second.percentile(99) / 1000,
      maxMs: second.count === 0 ? 0 : second.max / 1000,
    });
    second = createHistogram();
    secondFailed = 0;
  };
  const turn = (): void => {
    const now = Math.floor((nowMs() - startedMs) / 1000);
    for (; secondNumber < now; secondNumber += 1) close();
  };
  return {
    answered: (tookMs) => {
      turn();
      const us = Math.max(1, Math.round(tookMs * 1000));
      whole.record(us);
      second.record(us);
    },
    failed: (why, count = 1) => {
      turn();
      errors[why] += count;
      if (why !== 'unconnected') secondFailed += count;
    },
    end: () => {
      turn();
      const of = (percentile: number): number => (whole.count === 0 ? 0 : whole.percentile(percentile) / 1000);
      return {
        answered: whole.count,
        latencyMs: {
          mean: whole.count === 0 ? 0 : whole.mean / 1000,
          p50: of(50),
          p95: of(95),
          p99: of(99),
          max: whole.count === 0 ? 0 : whole.max / 1000,
        },
        errors,
        eachSecond,
      };
    },
  };
}
