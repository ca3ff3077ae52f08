import { CUT_EVERY_MS, DOMAINS, READS_PER_SECOND, type Variant } from './row.ts';

const SECONDS = 10;
const KEY = 1;

/** The page that is read. memtier names it so. */
export function fillOf(bytes: number): string {
  return `redis-cli SET memtier-${KEY} $(printf %0${bytes}d 0)`;
}

/** The load, and beside it the cuts where there are any: they end before it does. */
export function commandOf({ isNamed }: Variant, isCut: boolean): string {
  const load = [
    `memtier_benchmark -s ${isNamed ? 'localhost' : '127.0.0.1'} -p 6379 -t 1 -c ${DOMAINS.length} --ratio=0:1`,
    `--key-minimum=${KEY} --key-maximum=${KEY} --rate-limiting=${READS_PER_SECOND / DOMAINS.length}`,
    `--test-time=${SECONDS}`,
  ].join(' ');
  if (!isCut) return load;
  const every = CUT_EVERY_MS / 1000;
  const cuts = `for cut in $(seq ${Math.floor(SECONDS / every) - 1}); do sleep ${every}; redis-cli CLIENT KILL TYPE normal; done`;
  return `${load} --reconnect-on-error & ${cuts}; wait`;
}
