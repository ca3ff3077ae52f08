import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import { pin, processorMs } from '../../../stack/processors.ts';
import { startCluster } from '../../../stack/redis.ts';
import type { RedisNode } from '../../../stack/redis-node.ts';
import type { Lab } from '../../kit/lab.ts';
import { fillCommand, massImport } from '../../kit/mix.ts';
import { type Asked, CLIENTS } from '../one-and-three.ts';

/** Where the traffic of three domains goes. */
export type ShapeName = 'one store for all three' | 'one store each' | 'a cluster of three shards';

export interface Shape {
  readonly name: ShapeName;
  /** One for all, or one for each domain in order. */
  readonly stores: readonly Asked[];
  /** What the keys of a domain begin with. */
  readonly prefix: (domain: number) => string;
  readonly isAnywhere?: true;
}

export const PAGES = 600;
export const LEAST_PAGE_BYTES = 4096;
export const MOST_PAGE_BYTES = 16_384;

const DOMAINS = ['goods', 'packages', 'people'];
const SLOTS = 16_384;
const MOST_TAGS = 300;

/** One store and one each, with pages in them; on the store's cores, or wherever the system puts them. */
export async function startStores(lab: Lab, isAnywhere?: true): Promise<readonly Shape[]> {
  const cores = isAnywhere && { cores: 'any' };
  const one = await lab.startStore({ ...cores });
  const each = [
    await lab.startStore({ ...cores }),
    await lab.startStore({ ...cores }),
    await lab.startStore({ ...cores }),
  ];
  const shared = { prefix: domainName, ...(isAnywhere && { isAnywhere }) };
  const shapes: Shape[] = [
    { name: 'one store for all three', stores: [one], ...shared },
    { name: 'one store each', stores: each, ...shared },
  ];
  for (const shape of shapes) await fill(lab, shape);
  return shapes;
}

/**
 * Keys of a domain carry a tag whose slot is its shard's own: each client asks one shard, as with a store each. That is
 * the most a cluster can gain; where a domain's keys lie on all shards, its clients meet on one of them now and then.
 */
export async function startClusterShape(lab: Lab): Promise<Shape> {
  const { nodes, stop } = await startCluster({ flavour: 'redis', masters: CLIENTS });
  lab.atEnd(stop);
  await pin(
    nodes.map((node) => node.pid()),
    lab.cores.store,
  );
  const tags = await Promise.all(nodes.map((node, shard) => tagIn(node, shard)));
  const shape: Shape = {
    name: 'a cluster of three shards',
    stores: nodes.map((node) => ({ ...node, processorMs: () => processorMs(node.pid()) })),
    prefix: (domain) => tags[domain] ?? '',
  };
  await fill(lab, shape);
  return shape;
}

export function domainName(domain: number): string {
  return DOMAINS[domain % DOMAINS.length] ?? '';
}

async function tagIn(node: RedisNode, shard: number): Promise<string> {
  for (let number = 0; number < MOST_TAGS; number += 1) {
    const tag = `{${domainName(shard)}-${number}}`;
    const slot = Number(await node.command('CLUSTER', 'KEYSLOT', tag));
    const [first, next] = [Math.floor((SLOTS * shard) / CLIENTS), Math.floor((SLOTS * (shard + 1)) / CLIENTS)];
    if (slot >= first && slot < next) return tag;
  }
  throw new Error(`none of ${MOST_TAGS} tags has a slot of shard ${shard + 1}`);
}

async function fill(lab: Lab, { stores, prefix }: Shape): Promise<void> {
  for (const [at, store] of stores.entries()) {
    const domains = Array.from({ length: CLIENTS }, (_, domain) => domain).filter((one) => one % stores.length === at);
    for (const domain of domains) {
      await massImport(pages(prefix(domain), domain + 1), { ...store, cores: lab.cores.generator, signal: lab.signal });
    }
  }
}

/** The same for whoever repeats a row. */
export function pageFill(prefix: string, port: number): string {
  const sizes = { keys: PAGES, leastBytes: LEAST_PAGE_BYTES, mostBytes: MOST_PAGE_BYTES };
  return fillCommand(`SET ${prefix}:page:%012d`, sizes, { port });
}

function* pages(prefix: string, seed: number): Iterable<readonly (string | Buffer)[]> {
  const random = createRandom(seed).next;
  const bytes = Buffer.from(Array.from({ length: MOST_PAGE_BYTES }, () => 97 + Math.floor(random() * 26)));
  for (let page = 0; page < PAGES; page += 1) {
    const size = LEAST_PAGE_BYTES + Math.floor(random() * (MOST_PAGE_BYTES - LEAST_PAGE_BYTES + 1));
    // As redis-benchmark writes `__rand_int__`.
    yield ['SET', `${prefix}:page:${String(page).padStart(12, '0')}`, bytes.subarray(0, size)];
  }
}
