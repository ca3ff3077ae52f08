import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import { processorMs } from '../../../stack/processors.ts';
import { atRate } from './at-rate.ts';
import { closedLoop } from './closed-loop.ts';
import { type Connection, createConnection, type Idle } from './connection.ts';
import { nextCommand } from './next-command.ts';
import type { Driven, DrivePlan } from './plan.ts';
import { createTally, type Tally } from './tally.ts';

/** More at once and a listener's backlog (511) overflows: what is refused there is no finding. */
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
