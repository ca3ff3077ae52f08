import { hash } from 'node:crypto';
import { Redis } from 'ioredis';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { SubjectStore } from './stores.ts';

/** What becomes of one stored entry: new bytes, or nothing to leave it. `other` is another entry's value. */
export type Spoil = (value: Buffer, other: Buffer, at: number) => Buffer | undefined;

const SCAN_COUNT = 1000;
/** Keys have 22 characters: the control document is no entry. */
const ENTRIES = `sc1:goods:{${'?'.repeat(22)}}`;

/** Rewrites every entry under our names in place, lifetimes kept. @returns how many. */
export async function rewriteEntries(store: SubjectStore, spoil: Spoil): Promise<number> {
  let rewritten = 0;
  for (const node of store.nodes) {
    await onNode(node, async (client) => {
      const names = await namesOn(client);
      const values = await Promise.all(names.map((name) => client.getBuffer(name)));
      for (const [at, name] of names.entries()) {
        const value = values[at];
        const other = values[(at + 1) % values.length];
        if (value === null || value === undefined || other === null || other === undefined) continue;
        const next = spoil(value, other, at);
        if (next === undefined) continue;
        await client.call('SET', name, next, 'KEEPTTL');
        rewritten += 1;
      }
    });
  }
  return rewritten;
}

/** Puts a value of another type under every one of our names. */
export async function replaceByLists(store: SubjectStore): Promise<void> {
  for (const node of store.nodes) {
    await onNode(node, async (client) => {
      for (const name of await namesOn(client)) await client.multi().del(name).rpush(name, 'not', 'an', 'entry').exec();
    });
  }
}

/** A hash of every stored entry, by name; of `another type` where the value is no string. */
export async function contentsOf(store: SubjectStore): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>();
  for (const node of store.nodes) {
    await onNode(node, async (client) => {
      const names = await namesOn(client);
      const values = await Promise.all(names.map((name) => client.getBuffer(name).catch(() => 'another type')));
      for (const [at, name] of names.entries()) {
        const value = values[at];
        if (value !== null && value !== undefined) contents.set(name, hash('sha1', value));
      }
    });
  }
  return contents;
}

/** Names of entries the node holds. */
export async function namesOf(node: RedisNode): Promise<readonly string[]> {
  let names: readonly string[] = [];
  await onNode(node, async (client) => {
    names = await namesOn(client);
  });
  return names;
}

async function namesOn(client: Redis): Promise<string[]> {
  const names: string[] = [];
  let cursor = '0';
  do {
    const [next, found] = await client.scan(cursor, 'MATCH', ENTRIES, 'COUNT', SCAN_COUNT);
    names.push(...found);
    cursor = next;
  } while (cursor !== '0');
  return names;
}

/** Straight to the server: what a test does to it passes no proxy. */
async function onNode(node: RedisNode, use: (client: Redis) => Promise<void>): Promise<void> {
  const client = new Redis({ host: node.host, port: node.port, lazyConnect: true, retryStrategy: null });
  client.on('error', () => {});
  try {
    await client.connect();
    await use(client);
  } finally {
    client.disconnect();
  }
}
