import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import type { Target } from '../../kit/driver/plan.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { fillCommand, fillCommands, massImport, PUBLISHED_MIX, valueBytes } from '../../kit/mix.ts';

/** A store that is ready for more connections than a cache should have. */
export interface WideStore {
  readonly store: LabStore;
  /** The same store by several addresses: each has ports of its own for whoever connects. */
  readonly targets: readonly Target[];
  /** PEM, when it speaks TLS. */
  readonly ca?: string;
}

/**
 * Local ports are counted for each address that is connected to: about 28,000, and a closed connection may keep its own
 * for a minute. All of 127.0.0.0/8 is this machine.
 */
export const ADDRESSES = Array.from({ length: 8 }, (_, at) => `127.0.0.${at + 1}`);

/** Keys as `redis-benchmark -t get -r` asks for them, with values of the published mix. */
export const BENCHMARK_KEYS = 10_000;
/** Keys of `GET small:__rand_int__`, where the bytes of a value are not what is asked about. */
export const SMALL_BYTES = 100;

/** Both for whoever repeats a row. */
export const BENCHMARK_FILL = fillCommand('SET key:%012d', { ...PUBLISHED_MIX, keys: BENCHMARK_KEYS });
export const SMALL_FILL = fillCommand('SET small:%012d', {
  keys: BENCHMARK_KEYS,
  leastBytes: SMALL_BYTES,
  mostBytes: SMALL_BYTES,
});

const CLEAR_WITHIN_MS = 10_000;
const CLEAR_EVERY_MS = 50;
/** Ours that asks, and one that may be ending. */
const FEW_CLIENTS = 2;

/** A filled store without a bound on what connections take, so that their own price is seen and not an eviction. */
export async function startWideStore(lab: Lab, options: { readonly tls?: true } = {}): Promise<WideStore> {
  // The certificate is for the first address only.
  const addresses = options.tls ? ADDRESSES.slice(0, 1) : ADDRESSES;
  const store = await lab.startStore({
    config: [`bind ${addresses.join(' ')}`, 'maxclients 70000', 'maxmemory 6gb', 'maxmemory-clients 0'],
    ...(options.tls && { tls: true }),
  });
  lab.say('filling the store');
  const { host, port, caFile } = store;
  await massImport(everyKey(), {
    ...{ host, port, cores: lab.cores.generator, signal: lab.signal },
    ...(caFile !== undefined && { caFile }),
  });
  return {
    store,
    targets: addresses.map((address) => ({ host: address, port })),
    ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }),
  };
}

function* everyKey(): Iterable<readonly (string | Buffer)[]> {
  const random = createRandom(1).next;
  yield* fillCommands(PUBLISHED_MIX, random);
  const bytes = Buffer.alloc(PUBLISHED_MIX.mostBytes, 'x');
  for (let at = 0; at < BENCHMARK_KEYS; at += 1) {
    const number = String(at).padStart(12, '0');
    yield ['SET', `key:${number}`, bytes.subarray(0, valueBytes(PUBLISHED_MIX, random))];
    yield ['SET', `small:${number}`, bytes.subarray(0, SMALL_BYTES)];
  }
}

/** Until the connections of the row before are gone: together with the next ones they would be too many. */
export async function leftAlone(lab: Lab, store: LabStore): Promise<void> {
  const endMs = performance.now() + CLEAR_WITHIN_MS;
  while (!lab.signal.aborted) {
    const clients = Number((await store.info('clients'))['connected_clients']);
    if (clients <= FEW_CLIENTS) return;
    if (performance.now() > endMs) throw new Error(`${clients} connections of the row before are still at the store`);
    await sleep(CLEAR_EVERY_MS);
  }
}
