import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Redis } from 'ioredis';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { SubjectStore } from './stores.ts';

/** Returns the new bytes of a stored entry; undefined leaves the entry as it is. `other` is the value of another entry. */
export type RewriteEntry = (value: Buffer, other: Buffer, at: number) => Buffer | undefined;

/** The fields that a foreign client changes in an entry. The others stay. */
interface ForgedFields {
  readonly generation?: number;
  readonly createdAtMs?: number;
  /** Value of all three lifetimes. */
  readonly lifetimesMs?: number;
  /** 12 bytes. */
  readonly etag?: Buffer;
  readonly body?: Buffer;
}

const SCAN_COUNT = 1000;
/** Entry keys have 22 characters; this excludes the control document. */
const ENTRIES = `sc1:goods:{${'?'.repeat(22)}}`;

/** Rewrites every entry of the service in place and keeps its TTL. @returns the number of rewritten entries. */
export async function rewriteEntries(store: SubjectStore, rewrite: RewriteEntry): Promise<number> {
  let rewritten = 0;
  for (const node of store.nodes) {
    await onNode(node, async (client) => {
      const names = await namesOn(client);
      const values = await Promise.all(names.map((name) => client.getBuffer(name)));
      for (const [at, name] of names.entries()) {
        const value = values[at];
        const other = values[(at + 1) % values.length];
        if (value === null || value === undefined || other === null || other === undefined) continue;
        const next = rewrite(value, other, at);
        if (next === undefined) continue;
        await client.call('SET', name, next, 'KEEPTTL');
        rewritten += 1;
      }
    });
  }
  return rewritten;
}

/** Replaces every entry by a list. */
export async function replaceByLists(store: SubjectStore): Promise<void> {
  for (const node of store.nodes) {
    await onNode(node, async (client) => {
      for (const name of await namesOn(client)) await client.multi().del(name).rpush(name, 'not', 'an', 'entry').exec();
    });
  }
}

/** A hash of every stored entry, by key. An entry that is no string has the hash of `another type`. */
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

/** Keys of the entries on this node. */
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

/** Connects directly to the server, without a proxy. */
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

/** The entry with these fields changed and a valid checksum. */
export function forgeEntry(value: Buffer, claims: ForgedFields): Buffer {
  const at = bodyAt(value);
  const body = claims.body ?? value.subarray(at);
  const next = Buffer.concat([value.subarray(0, at), body]);
  next.writeUInt32BE(body.length, BODY_LENGTH_AT);
  if (claims.generation !== undefined) next.writeUInt32BE(claims.generation, GENERATION_AT);
  if (claims.createdAtMs !== undefined) next.writeUIntBE(claims.createdAtMs, CREATED_AT, 6);
  if (claims.lifetimesMs !== undefined) for (const each of LIFETIMES_AT) next.writeUInt32BE(claims.lifetimesMs, each);
  claims.etag?.copy(next, ETAG_AT, 0, 12);
  next.writeUInt32BE(crc32(next.subarray(CRC_AT + 4), crc32(next.subarray(0, CRC_AT))), CRC_AT);
  return next;
}

/** The stored page of an uncompressed entry. */
export function pageBodyOf(value: Buffer): Buffer {
  return value.subarray(bodyAt(value));
}

/** The page with one bit of the first result's id flipped, so that it is another id; undefined: it has no results. */
export function withWrongId(body: Buffer): Buffer | undefined {
  const id = body.indexOf('"id":"');
  if (id < 0) return undefined;
  const next = Buffer.from(body);
  const digit = id + '"id":"'.length;
  next.writeUInt8(next.readUInt8(digit) ^ 1, digit);
  return next;
}

function bodyAt(value: Buffer): number {
  const fingerprintBytes = value.readUInt16BE(FINGERPRINTS_AT) * 4;
  return (
    HEADER_BYTES + value.readUInt32BE(CANONICAL_LENGTH_AT) + fingerprintBytes + value.readUInt16BE(EXTENSIONS_LENGTH_AT)
  );
}

/** Offsets of the format of src/cache/codec.ts, version 1, repeated here for a client that knows only the format. */
const GENERATION_AT = 8;
const CREATED_AT = 12;
const ETAG_AT = 18;
const LIFETIMES_AT = [30, 34, 38];
const CANONICAL_LENGTH_AT = 46;
const FINGERPRINTS_AT = 50;
const EXTENSIONS_LENGTH_AT = 52;
const BODY_LENGTH_AT = 54;
const CRC_AT = 58;
const HEADER_BYTES = 62;
