import { benchmark } from '../../kit/benchmark.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { commandStats } from '../../kit/meters.ts';
import { CLIENTS, PUBLISHED } from './sizes.ts';

/** `GET` with a size for it, as it was published: what came back. */
export interface UnsizedGet {
  /** What `-d` said. */
  readonly bytes: number;
  readonly perSecond: number;
  /** What a reply was in truth, as the store counted what it wrote. */
  readonly replyBytes: number;
  readonly publishedPerSecond: number;
  readonly command: string;
}

/** redis-benchmark's `-d` sizes what `SET` writes. What `GET` returns is what somebody stored: here nobody did. */
export async function unsizedGets(lab: Lab, store: LabStore): Promise<readonly UnsizedGet[]> {
  await store.command('FLUSHALL', 'SYNC');
  const rows: UnsizedGet[] = [];
  for (const { bytes, perSecond: publishedPerSecond } of PUBLISHED.get) {
    const before = await written(store);
    const seconds = lab.seconds(0.4);
    const ran = await benchmark(lab, { store, clients: CLIENTS, test: 'GET', dataBytes: bytes, seconds });
    const after = await written(store);
    const replyBytes = (after.bytes - before.bytes) / Math.max(1, after.gets - before.gets);
    rows.push({ bytes, perSecond: ran.perSecond, replyBytes, publishedPerSecond, command: ran.command });
  }
  return rows;
}

async function written(store: LabStore): Promise<{ readonly bytes: number; readonly gets: number }> {
  const { calls } = await commandStats(store, 'get');
  return { bytes: Number((await store.info('stats'))['total_net_output_bytes'] ?? 0), gets: calls };
}
