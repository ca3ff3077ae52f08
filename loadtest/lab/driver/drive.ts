import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../src/catalogue/demo/random.ts';
import { processorMs } from '../../bench/processor.ts';
import { type Connection, createConnection } from './connection.ts';
import { nextCommand } from './next-command.ts';
import type { Driven, DrivePlan } from './plan.ts';
import { createTally, type Tally } from './tally.ts';

/** More at once and a listener's backlog (511) overflows: what is refused there is no finding. */
const CONNECT_AT_ONCE = 200;
/** Under way on one connection; what is due beyond is not sent. */
const MOST_WAITING = 5000;
const SWEEP_EVERY_MS = 5;
/** How late a timer of one millisecond may be: below it, waiting for the timer is no latency of the store. */
const TIMER_MS = 2.5;
/** After a connection could not be opened. */
const PAUSE_MS = 100;

/** Runs a plan to its end. @throws when not even one connection can be opened. */
export async function drive(plan: DrivePlan): Promise<Driven> {
  const { targets, seconds, pipeline = 1, deadline, ca } = plan;
  const nowMs = (): number => performance.now();
  const next = nextCommand(plan.commands, seededRandom(plan.seed).next);
  let [received, sent, connects, isOver] = [0, 0, 0, false];
  let tally: Tally = createTally(nowMs(), nowMs);
  const counted: Tally = {
    answered: (tookMs) => tally.answered(tookMs),
    failed: (why, count) => tally.failed(why, count),
    end: () => tally.end(),
  };
  const idle: (() => void)[] = [];
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
      onIdle: () => idle[at]?.(),
    }),
  );
  if (plan.commandsPerConnection === undefined) await openAll(connections);

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
    for (const [at, connection] of connections.entries()) {
      let onThis = 0;
      let connectsBefore = connects;
      const again = (): void => {
        if (isOver) return;
        const dueMs = nowMs();
        if (plan.commandsPerConnection !== undefined && onThis >= plan.commandsPerConnection) {
          connection.close();
          onThis = 0;
        }
        onThis += pipeline;
        send(connection, dueMs, pipeline);
      };
      idle[at] = () => {
        if (isOver || connection.waiting() > 0) return;
        // Where nothing answers, as fast as possible would be a storm of our own.
        const isStuck = connects === connectsBefore && plan.commandsPerConnection !== undefined && onThis === 0;
        connectsBefore = connects;
        if (isStuck) setTimeout(again, PAUSE_MS);
        else again();
      };
      again();
    }
    await sleep(seconds * 1000);
  } else await atRate(plan.ratePerSecond, endMs, connections, send, counted);

  isOver = true;
  clearInterval(sweeping);
  const cpu = process.cpuUsage(cpuBefore);
  const tookSeconds = (nowMs() - startedMs) / 1000;
  const watchedCores = watched.map((pid, at) => (processorMs(pid) - (watchedBefore[at] ?? 0)) / 1000 / tookSeconds);
  const ended = tally.end();
  for (const connection of connections) connection.close();
  return {
    seconds: tookSeconds,
    ...ended,
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

/** Open loop: what is due is sent, on one connection after the other, and what was not answered makes nothing wait. */
async function atRate(
  ratePerSecond: number,
  endMs: number,
  connections: readonly Connection[],
  send: (connection: Connection, dueMs: number, count: number) => void,
  tally: Tally,
): Promise<void> {
  const gapMs = 1000 / ratePerSecond;
  let [dueMs, at] = [performance.now(), 0];
  while (performance.now() < endMs) {
    for (const now = performance.now(); dueMs <= now; dueMs += gapMs) {
      const connection = connections[at % connections.length];
      at += 1;
      if (connection === undefined || connection.waiting() >= MOST_WAITING) tally.failed('unsent');
      else send(connection, now - dueMs < TIMER_MS ? now : dueMs, 1);
    }
    await sleep(1);
  }
}
