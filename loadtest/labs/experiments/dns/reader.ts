/** `node reader.ts <plan as JSON>`: reads through serpcache's own adapter and prints each `ReaderSaid` as a line of JSON. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { readOnce } from '../../../../src/cache/store.ts';
import { openLoop } from '../../../http-driver/loops.ts';
import { createRandom } from '../../../random.ts';
import { openAdapter } from '../adapter.ts';
import { countReads, type ReaderPlan, type ReaderSaid } from './reads.ts';

const plan: ReaderPlan = JSON.parse(process.argv[2] ?? '');
const { hosts, port, deadlineMs } = plan;
/** The adapter's random waits are the same in every row. */
const random = createRandom(1).next;
const nowMs = (): number => performance.now();
const say = (said: ReaderSaid): void => console.log(JSON.stringify(said));

const startedMs = nowMs();
let counter = countReads(hosts.length, nowMs);
const answeredMs = hosts.map(() => Number.NEGATIVE_INFINITY);
const stores = hosts.map((host) => openAdapter({ target: { host, port }, deadlineMs, random }));

async function read(at: number): Promise<void> {
  const sentMs = nowMs();
  const counted = counter;
  const store = stores[at];
  const result = store === undefined ? undefined : await readOnce(store, 'page', deadlineMs);
  if (result === undefined || result.kind === 'fault') return counted.failed();
  answeredMs[at] = nowMs();
  counted.answered(at, nowMs() - sentMs);
}

/** @returns the time until every connection has answered since `sinceMs`; undefined when that takes longer than `waitMs`. */
async function allAnswer(sinceMs: number, waitMs: number): Promise<number | undefined> {
  while (!answeredMs.every((ms) => ms > sinceMs)) {
    if (nowMs() - sinceMs > waitMs) return undefined;
    await sleep(2);
  }
  return nowMs() - sinceMs;
}

/** Connects by address, so it asks for no name. After the last cut it waits as after the others. */
async function cutEvery(everyMs: number, forMs: number): Promise<void> {
  const client = new Redis({ host: '127.0.0.1', port, protocol: 2 });
  for (let leftMs = forMs; leftMs > 0; leftMs -= everyMs) {
    await client.call('CLIENT', ['KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    await sleep(Math.min(everyMs, leftMs));
  }
  client.disconnect();
}

openLoop({
  ratePerSecond: plan.readsPerSecond,
  send: (n) => {
    void read(n % hosts.length);
  },
});
say({ kind: 'started', afterMs: await allAnswer(startedMs, plan.startWaitMs) });
if (plan.then !== undefined) {
  const { keptMs, cutMs, cutEveryMs, backWaitMs } = plan.then;
  // On `started` the parent process changes the resolver.
  await sleep(50);
  counter = countReads(hosts.length, nowMs);
  await sleep(keptMs);
  say({ kind: 'kept', reads: counter.end() });
  counter = countReads(hosts.length, nowMs);
  const before = process.cpuUsage();
  await cutEvery(cutEveryMs, cutMs);
  const { user, system } = process.cpuUsage(before);
  say({ kind: 'cut', reads: counter.end(), processorMs: (user + system) / 1000 });
  say({ kind: 'back', afterMs: await allAnswer(nowMs(), backWaitMs) });
}
// The parent kills this process: an exit would wait for every lookup under way, and lookups cannot be cancelled.
