import { createClient } from '../../../http-driver/client.ts';
import { closedLoop } from '../../../http-driver/loops.ts';
import type { Room } from './room.ts';

/** Of a page's body: what the benches of this project use too. */
const PAGE_BYTES = 4096;
/** A page may be that much smaller or larger. */
const TOLERANCE = 0.25;
/** Other pages of the same search: a result more or less, another order. */
const ORDERS = ['', '&sort=-date', '&sort=date', '&sort=price'];
const VARIANTS = ORDERS.flatMap((order) => [10, 9, 11, 8, 12].map((limit) => `&limit=${limit}${order}`));
const AT_ONCE = 8;
/** Then it is seen whether there are enough. */
const LOOK_AT = 200;
const PATIENCE_MS = 10_000;

/**
 * Searches whose pages have about 4 KB, the first as near to it as one comes; asked of the origin itself. What all peers
 * serve is the same, in the same order.
 * @throws when the engine has not so many.
 */
export async function pagesOf(room: Pick<Room, 'origin' | 'texts'>, count: number): Promise<readonly string[]> {
  const texts = room.texts(TEXTS);
  const found: { readonly path: string; readonly off: number }[] = [];
  const paths = VARIANTS.flatMap((variant) => texts.map((text) => `/search?q=${encodeURIComponent(text)}${variant}`));
  for (let from = 0; from < paths.length && found.length < count; from += LOOK_AT) {
    found.push(...(await fitting(room.origin, paths.slice(from, from + LOOK_AT))));
  }
  if (found.length < count) throw new Error(`the engine has ${found.length} pages of about 4 KB, ${count} are wanted`);
  const [first, ...others] = found.slice(0, count);
  if (first === undefined) return [];
  const nearest = others.reduce((best, one) => (one.off < best.off ? one : best), first);
  return [nearest, ...[first, ...others].filter((one) => one !== nearest)].map(({ path }) => path);
}

/** More are rare words, whose pages are short. */
const TEXTS = 2000;

async function fitting(origin: string, paths: readonly string[]): Promise<{ path: string; off: number }[]> {
  const sized: { path: string; off: number }[] = [];
  const options = { patienceMs: PATIENCE_MS, maxConnections: AT_ONCE, discardsBodies: true };
  const client = createClient({ baseUrl: origin, ...options });
  await closedLoop(paths, AT_ONCE, async (path) => {
    const reply = await client.getOnce(path);
    if (reply.kind !== 'answer' || reply.status !== 200) return;
    sized.push({ path, off: Math.abs(reply.bytes - PAGE_BYTES) });
  });
  client.close();
  return sized.filter(({ off }) => off <= PAGE_BYTES * TOLERANCE).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
