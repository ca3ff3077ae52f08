import type { Lab, LabStore } from '../../kit/lab.ts';
import { fillCommand, massImport } from '../../kit/mix.ts';

export const BIG_FIELDS = 20_000;
export const SMALL_FIELDS = 30;
/** Of a field's value: a link, a price and a name. */
export const FIELD_BYTES = 100;
/** Where `redis-benchmark -t hset` writes. */
export const HASH_KEY = 'myhash';

/** As redis-benchmark names fields: `element:000000000012`. */
export function fieldName(at: number): string {
  return `element:${String(at).padStart(12, '0')}`;
}

/** The same for whoever repeats a row. */
export function hashFill(fields: number): string {
  const sizes = { keys: fields, leastBytes: FIELD_BYTES, mostBytes: FIELD_BYTES };
  return `redis-cli -p 6379 DEL ${HASH_KEY} && ${fillCommand(`HSET ${HASH_KEY} element:%012d`, sizes)}`;
}

/** One hash of so many fields, and nothing else. */
export async function storeHash(lab: Lab, store: LabStore, fields: number): Promise<void> {
  const value = 'x'.repeat(FIELD_BYTES);
  await store.command('FLUSHALL', 'SYNC');
  const commands = Array.from({ length: fields }, (_, at) => ['HSET', HASH_KEY, fieldName(at), value]);
  await massImport(commands, { ...store, cores: lab.cores.generator, signal: lab.signal });
}
