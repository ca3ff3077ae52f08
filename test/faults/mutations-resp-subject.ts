/** The process that reads damaged replies: each task opens a store, uses it until it serves the right entry, and closes it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeEntry } from '../../src/cache/codec.ts';
import { readOnce } from '../../src/cache/store.ts';
import { StoreUnreachable } from '../../src/operations/flush/content.ts';
import { systemClock } from '../../src/runtime.ts';
import type { RedisSettings } from '../../src/stores/redis/connection.ts';
import { createRedisStore, type RedisStore } from '../../src/stores/redis/store.ts';

/** One search, and the entry that its name must give. */
export interface SubjectSearch {
  readonly name: string;
  readonly canonical: string;
  readonly body: string;
}

export interface SubjectTask {
  readonly id: number;
  readonly settings: RedisSettings;
  readonly searches: readonly SubjectSearch[];
}

export interface SubjectReport {
  readonly id: number;
  readonly wrong: readonly string[];
}

/** Deadlines of the commands: the first one passes when the damaged reply does not end, the last one is enough for a slow machine. */
const [FIRST_DEADLINE_MS, LAST_DEADLINE_MS] = [200, 2000];

process.on('message', (task: SubjectTask) => {
  void run(task).then((wrong) => process.send?.({ id: task.id, wrong } satisfies SubjectReport));
});
process.on('disconnect', () => process.exit());

async function run({ settings, searches }: SubjectTask): Promise<readonly string[]> {
  const store = createRedisStore({
    settings,
    name: 'goods',
    clock: systemClock,
    observe: () => {},
    random: () => 0,
  });
  const wrong: string[] = [];
  try {
    // No bound here: a store that never serves again is found by the process that waits for the report.
    let deadlineMs = FIRST_DEADLINE_MS;
    for (let served = 0; served < 2; ) {
      const right = await useOnce(store, searches, deadlineMs, wrong);
      served = right ? served + 1 : 0;
      if (!right) deadlineMs = Math.min(2 * deadlineMs, LAST_DEADLINE_MS);
      await sleep(right ? 0 : 10);
    }
  } finally {
    await store.close();
  }
  return wrong;
}

/** Every kind of command once, together. @returns whether all searches got their entries */
async function useOnce(
  store: RedisStore,
  searches: readonly SubjectSearch[],
  deadlineMs: number,
  wrong: string[],
): Promise<boolean> {
  const names = searches.map(({ name }) => name);
  const [node = ''] = store.content.nodes();
  const [reads, many] = await Promise.all([
    Promise.all(names.map((name) => readOnce(store, name, deadlineMs))),
    store.readMany(names, deadlineMs),
    ...[store.write('sc1:goods:{w}', Buffer.from('w'), 1000), store.beat('a', 1000, deadlineMs)],
    unlessUnreachable(store.content.scan(node, '0', 100), wrong),
    unlessUnreachable(store.content.sizes(node, names), wrong),
    unlessUnreachable(store.content.count(node), wrong),
  ]);
  let right = 0;
  for (const [index, read] of [...reads, ...many].entries()) {
    const { name, canonical, body } = searches[index % searches.length] as SubjectSearch;
    if (read.kind !== 'value') continue;
    const decoded = decodeEntry(read.value, canonical, systemClock);
    if (decoded.kind !== 'entry') continue;
    if (decoded.entry.body.toString() === body) right += 1;
    else wrong.push(`${name} gave ${decoded.entry.body.toString('latin1', 0, 100)}`);
  }
  return right === 2 * searches.length;
}

async function unlessUnreachable(call: Promise<unknown>, wrong: string[]): Promise<void> {
  await call.catch((error) => {
    if (!(error instanceof StoreUnreachable)) wrong.push(String(error));
  });
}
