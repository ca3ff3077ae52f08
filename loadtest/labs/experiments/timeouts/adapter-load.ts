/** `node adapter-load.ts <plan.json>`: drives serpcache's own adapter and prints a `Driven` as JSON. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreFault } from '../../../../src/cache/events.ts';
import { readOnce } from '../../../../src/cache/store.ts';
import type { RedisStore } from '../../../../src/stores/redis/store.ts';
import { openLoop } from '../../../http-driver/loops.ts';
import { createRandom } from '../../../random.ts';
import { waitUntil } from '../../../stack/process.ts';
import { createTally, startMeter } from '../../kit/driver/connection.ts';
import type { Driven, DrivePlan } from '../../kit/driver/drive.ts';
import { gaussianKey, type Mix, mixKey, valueBytes } from '../../kit/mix.ts';
import { type AdapterOptions, isConnected, openAdapter } from '../adapter.ts';

/** A process with one of serpcache's own stores for each connection, at one rate in all. */
export interface AdapterPlan
  extends Required<Pick<DrivePlan, 'connections' | 'seconds' | 'ratePerSecond' | 'watched'>>,
    Pick<AdapterOptions, 'target' | 'deadlineMs' | 'socketTimeoutMs'> {
  readonly mix: Mix;
}

const OPEN_LIMIT_MS = 3000;
const TTL_MS = 600_000;
/** The driver's error for each fault: abandoned, or lost with its connection. Any other was not sent. */
const ERRORS: Readonly<Partial<Record<StoreFault, keyof Driven['errors']>>> = {
  'store-slow': 'late',
  'store-down': 'broken',
};

const plan: AdapterPlan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const { connections, seconds, ratePerSecond, mix, deadlineMs, watched } = plan;
const random = createRandom(1).next;
const nowMs = (): number => performance.now();
const value = Buffer.alloc(mix.mostBytes, 'x');
let connects = 0;

const stores: RedisStore[] = Array.from({ length: connections }, () =>
  openAdapter({
    ...plan,
    random,
    observe: (event) => {
      if (event.kind === 'connection' && event.state === 'open') connects += 1;
    },
  }),
);
// A socket timeout that is shorter than a handshake opens no connection at all: then the row shows that.
await waitUntil(() => stores.every(isConnected), OPEN_LIMIT_MS, 10);

connects = 0;
const startedMs = nowMs();
const tally = createTally(startedMs, nowMs);
const measured = startMeter(watched, nowMs);
const endMs = startedMs + seconds * 1000;

/** A write has no deadline of its own, and a read's begins when it is sent: a command is late by the time since it was due. */
async function ask(store: RedisStore, dueMs: number): Promise<void> {
  const key = mixKey(gaussianKey(mix.keys, random));
  const isRead = random() >= mix.writes;
  const result = isRead
    ? await readOnce(store, key, deadlineMs)
    : await store.write(key, value.subarray(0, valueBytes(mix, random)), TTL_MS);
  const tookMs = nowMs() - dueMs;
  if (result.kind === 'fault' || result.kind === 'dropped')
    tally.failed(result.fault === 'refused' ? 'refused' : (ERRORS[result.fault] ?? 'unsent'));
  else if (tookMs > deadlineMs) tally.failed('late');
  else tally.answered(tookMs);
}

await openLoop({
  ratePerSecond,
  maxRequests: Math.ceil(seconds * ratePerSecond),
  send: (n, dueMs) => {
    const store = stores[n % stores.length];
    if (store !== undefined) void ask(store, dueMs);
  },
}).ended;
while (nowMs() < endMs) await sleep(1);

const own = measured();
const ended = tally.end();
const perSecond = ended.answered / own.seconds;
const driven: Driven = { ...own, ...ended, perSecond, connects, receivedBytes: 0 };
console.log(JSON.stringify(driven));
process.exit(0);
