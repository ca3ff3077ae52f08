/** `node reader.ts <plan.json>`: reads pages in bursts and prints a `BurstReads` as JSON, on a core of its own. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOnce } from '../../../../src/cache/store.ts';
import type { RedisStore } from '../../../../src/stores/redis/store.ts';
import { createRandom } from '../../../random.ts';
import { waitUntil } from '../../../stack/process.ts';
import { createTally, startMeter } from '../../kit/driver/connection.ts';
import { randomDigits } from '../../kit/mix.ts';
import { isConnected, openAdapter } from '../adapter.ts';

/** Pages are read as a service reads them: through the project's own adapter, with its deadline and its breaker. */
export interface BurstPlan {
  readonly host: string;
  readonly port: number;
  /** Each stands for a process of the service with its one connection. */
  readonly clients: number;
  /** Pages requested at once, spread over all clients, as after an index update or for a page of suggestions. */
  readonly burst: number;
  readonly burstsPerSecond: number;
  readonly keys: number;
  readonly deadlineMs: number;
  readonly seconds: number;
}

export type BurstReads = Awaited<ReturnType<typeof read>>;

/** Maximum wait for reads that are under way when the time is over. */
const AFTERWARDS_MS = 1500;
const CONNECT_WITHIN_MS = 5000;

/** Bursts at random distances (Poisson), whatever was answered. */
async function read(plan: BurstPlan, clients: readonly RedisStore[], random: () => number) {
  const startedMs = performance.now();
  /** From the request to the page, late ones included; a page that never came counts with the time of the wait. */
  const took = createTally(startedMs, () => performance.now());
  const counts = {
    asked: 0,
    inTime: 0,
    /** No page within the deadline; it came later or never. */
    late: 0,
    /** Not sent: the breaker was open, or too much was under way. */
    refused: 0,
    /** Late ones included. */
    pages: 0,
    pageBytes: 0,
  };
  let waiting = 0;
  const one = async (client: RedisStore): Promise<void> => {
    const askedMs = performance.now();
    counts.asked += 1;
    const result = await readOnce(client, `page:${randomDigits(Math.floor(random() * plan.keys))}`, plan.deadlineMs);
    if (result.kind === 'value') {
      counts.inTime += 1;
      counts.pages += 1;
      counts.pageBytes += result.value.length;
      return took.answered(performance.now() - askedMs);
    }
    if (result.kind === 'absent') throw new Error('a page that was stored is not there: the store is too small');
    if (result.late === undefined) {
      // A connection that breaks took the reads on it along: they were sent, and nothing came.
      if (result.fault === 'store-down') counts.late += 1;
      else counts.refused += 1;
      return;
    }
    counts.late += 1;
    waiting += 1;
    const value = await result.late;
    waiting -= 1;
    if (value !== undefined) {
      counts.pages += 1;
      counts.pageBytes += value.length;
    }
    took.answered(performance.now() - askedMs);
  };

  const measured = startMeter([], () => performance.now());
  const endMs = startedMs + plan.seconds * 1000;
  const reads: Promise<void>[] = [];
  let turn = 0;
  for (let dueMs = startedMs; dueMs < endMs; dueMs += (-Math.log(1 - random()) * 1000) / plan.burstsPerSecond) {
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    for (let at = 0; at < plan.burst; at += 1) {
      const client = clients[turn % clients.length];
      turn += 1;
      if (client !== undefined) reads.push(one(client));
    }
  }
  const { seconds, processorSeconds } = measured();
  const all = Promise.all(reads);
  await Promise.race([all, sleep(AFTERWARDS_MS, undefined, { ref: false })]);
  for (let left = waiting; left > 0; left -= 1) took.answered(AFTERWARDS_MS);
  return { ...took.end(), seconds, processorSeconds, ...counts };
}

const plan: BurstPlan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const { host, port, deadlineMs } = plan;
const clients = Array.from({ length: plan.clients }, () => openAdapter({ target: { host, port }, deadlineMs }));
if (!(await waitUntil(() => clients.every(isConnected), CONNECT_WITHIN_MS, 20)))
  throw new Error('the store cannot be reached');
console.log(JSON.stringify(await read(plan, clients, createRandom(1).next)));
process.exit(0);
