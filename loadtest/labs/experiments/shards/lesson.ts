import { amountText, countText, percentText, pointsText, timesText } from '../../../../src/report/format.ts';
import type { Lesson, Limit } from '../../kit/finding.ts';

export interface ShardRow {
  readonly shards: number;
  /** Rate as a multiple of the first one; absent: as fast as possible. */
  readonly growth?: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Of reads, on all shards together. */
  readonly hitRatio: number;
  readonly evictionsPerSecond: number;
  readonly busiestCores: number;
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
  readonly command: string;
}

/** At the last rate, when all had longest to settle. A twentieth of the memory, which six shards take, is two points. */
const SAME_HITS = 0.03;
/** Evictions follow the size of what happened to be written, so they vary more than hits do. */
const SAME_EVICTIONS = 0.25;

/** In order, from the rows that have one. */
export function growthsOf(rows: readonly ShardRow[]): readonly number[] {
  return [...new Set(rows.flatMap(({ growth }) => growth ?? []))].toSorted((one, other) => one - other);
}

/** Do more shards of the same memory leave hits and evictions as they are, so that the next growth brings them back? */
export function shardsLesson(rows: readonly ShardRow[], storeCores: number): Lesson {
  const growths = growthsOf(rows);
  const counts = rows.map(({ shards }) => shards);
  const at = (shards: number, growth: number | undefined): ShardRow => {
    const row = rows.find((one) => one.shards === shards && one.growth === growth);
    if (row === undefined) throw new Error(`the lesson of shards needs ${shards} shards at ${growth ?? 'full rate'}`);
    return row;
  };
  const [first, last] = [growths[0], growths.at(-1)];
  const [few, many] = [Math.min(...counts), Math.max(...counts)];
  const [calm, full] = [at(many, first), at(many, last)];
  const alone = at(few, last);
  const hitGap = Math.abs(full.hitRatio - alone.hitRatio);
  const eviction = full.evictionsPerSecond / alone.evictionsPerSecond;
  const hasSameHits = hitGap <= SAME_HITS;
  const hasEvictions = full.evictionsPerSecond > calm.evictionsPerSecond && eviction >= 1 - SAME_EVICTIONS;
  const holds = hasSameHits && hasEvictions ? 'yes' : hasSameHits || hasEvictions ? 'partly' : 'no';
  const words = { yes: 'Holds here', partly: 'Holds in part', no: 'Does not hold here' }[holds];
  const found = hasEvictions
    ? `with ${many} shards evictions grew from ${countText(calm.evictionsPerSecond)}/s to ${countText(full.evictionsPerSecond)}/s as the load grew from x${first} to x${last}, ${timesText(eviction)} those of ${shardText(few)}`
    : `with ${many} shards evictions at x${last} were ${countText(full.evictionsPerSecond)}/s, against ${countText(alone.evictionsPerSecond)}/s with ${shardText(few)}`;
  const ratios = `${percentText(alone.hitRatio)} and ${percentText(full.hitRatio)} at x${last}`;
  const hits = hasSameHits
    ? `the share of hits is the same within ${pointsText(hitGap * 100)} (${ratios}), because the memory is`
    : `the share of hits differs by ${pointsText(hitGap * 100)} (${ratios}) though the memory is the same`;
  const moved = `What moved is the load on one shard: ${amountText(alone.busiestCores)} of a core with ${few}, ${amountText(full.busiestCores)} with ${many} at x${last}`;
  return {
    holds,
    sentence: `${words}: ${found}; ${hits}. ${moved}${saturation(at(few, undefined), at(many, undefined), storeCores)}.`,
  };
}

/** As fast as possible: more shards are more cores, where there are any. */
function saturation(one: ShardRow, more: ShardRow, storeCores: number): string {
  const rates = `; as fast as possible ${countText(one.perSecond)}/s and ${countText(more.perSecond)}/s`;
  const [isStore, isGenerator] = [more.limit === 'store', more.limit === 'generator' || more.limit === 'both'];
  if (isGenerator) return `${rates}, where the driver was full, so this says nothing about ${more.shards} shards`;
  if (isStore && storeCores < more.shards)
    return `${rates}, where all shards shared ${storeCores === 1 ? 'one core' : `${storeCores} cores`} and had no more of it`;
  return rates;
}

function shardText(count: number): string {
  return count === 1 ? 'one shard' : `${count} shards`;
}
