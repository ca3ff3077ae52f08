/**
 * Traffic as independent requests for keys with Zipf popularity, before a cache whose entries live for `ttlMs` from their
 * computation: the TTL cache of Jung, Berger, Balakrishnan (INFOCOM 2003) and Fofack et al. (Computer Networks 2014). It
 * knows no bursts and no limit of memory, so the hit ratio of real traffic is higher, and of a full store lower.
 */

/** Keys of about equal popularity. */
interface Group {
  readonly keys: number;
  /** Share of all searches that asks for one of these keys. */
  readonly share: number;
}

export interface KeyTraffic {
  readonly groups: readonly Group[];
  /** Searches per second. */
  readonly rate: number;
}

const MODEL = 'TTL cache under Zipf popularity (Jung et al., INFOCOM 2003; Fofack et al., Computer Networks 2014)';

export const MEMORY_RATIO = {
  text: 'by popularity with --keys, else hit ratio × 0.84',
  source: `${MODEL}; x-load of loadtest/README.md`,
};
export const EXPONENT = { text: 'the one with this hit ratio; needs --keys', source: MODEL };
export const REFILL = {
  text: 'until Σ λ e^(−λτ) is at most 1.5 × the engine load; needs --keys',
  source: `${MODEL}; τ is time in which the engine could serve all`,
};

/** Ranks that are a group of their own; those behind share groups that grow by `GROWTH`. */
const HEAD = 256;
const GROWTH = 1.05;

/** Groups of keys whose popularity falls with rank^-exponent. Sums over 10^9 keys take some hundred steps. */
export function zipfGroups(keys: number, exponent: number): readonly Group[] {
  const weighted: Group[] = [];
  let total = 0;
  for (let from = 1; from <= keys; ) {
    const count = from <= HEAD ? 1 : Math.min(keys - from + 1, Math.ceil(from * (GROWTH - 1)));
    const share = (from + (count - 1) / 2) ** -exponent;
    weighted.push({ keys: count, share });
    total += count * share;
    from += count;
  }
  return weighted.map((group) => ({ keys: group.keys, share: group.share / total }));
}

function sumOver({ groups, rate }: KeyTraffic, term: (perSecond: number, share: number) => number): number {
  return groups.reduce((sum, { keys, share }) => sum + keys * term(rate * share, share), 0);
}

/** One miss, then hits until the entry ends: of 1 + λT searches for a key, λT are hits. */
export function hitRatioOf(traffic: KeyTraffic, ttlMs: number): number {
  const seconds = ttlMs / 1000;
  return sumOver(traffic, (perSecond, share) => (share * perSecond * seconds) / (1 + perSecond * seconds));
}

const MAX_EXPONENT = 3;
const STEPS = 40;
/** Sums of some hundred terms differ by their rounding. */
const ROUNDING = 1e-9;

/**
 * The Zipf exponent with which this traffic has that hit ratio. Undefined when even equally popular keys have a higher
 * one, or the steepest popularity a lower one.
 */
export function exponentFor(keys: number, rate: number, ttlMs: number, hitRatio: number): number | undefined {
  const ratioAt = (exponent: number): number => hitRatioOf({ groups: zipfGroups(keys, exponent), rate }, ttlMs);
  let [low, high] = [0, MAX_EXPONENT];
  if (ratioAt(low) > hitRatio + ROUNDING || ratioAt(high) < hitRatio - ROUNDING) return undefined;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (ratioAt(middle) < hitRatio) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Share of searches that the memory of `processes` answers. In the life of an entry every process reads it once, the first
 * one from the engine; keys behind the first `fitting` ranks find no room.
 */
export function memoryRatioOf(
  traffic: KeyTraffic,
  { ttlMs, processes, fitting }: { readonly ttlMs: number; readonly processes: number; readonly fitting: number },
): number {
  const seconds = ttlMs / 1000;
  let rank = 0;
  let ratio = 0;
  for (const { keys, share } of traffic.groups) {
    const held = Math.max(0, Math.min(keys, fitting - rank));
    rank += keys;
    if (held === 0) break;
    const perSecond = traffic.rate * share;
    const inOneLife = 1 + perSecond * seconds;
    const readers = 1 + (processes - 1) * -Math.expm1((-perSecond * seconds) / processes);
    ratio += held * share * Math.max(0, 1 - readers / inOneLife);
  }
  return ratio;
}

/** Keys that are asked for at least once in this time. */
export function distinctKeys(traffic: KeyTraffic, seconds: number): number {
  return sumOver(traffic, (perSecond) => -Math.expm1(-perSecond * seconds));
}

/** The engine load counts as back when it is at most this multiple of the steady load. */
export const REFILLED_AT = 1.5;
const MAX_REFILL_STEPS = 2000;

/**
 * Time from the loss of every page until the engine load is at most 1.5 × the steady one. The engine admits what it can, and
 * every search that it cannot serve comes again with its key's next one. Undefined when it is not back within `ttlMs`.
 */
export function refillMs(traffic: KeyTraffic, steady: number, capacity: number, ttlMs: number): number | undefined {
  // In units of served time, the load of missing keys is Σ λ e^(−λτ); τ runs slower while the engine is full.
  const demand = (served: number): number => sumOver(traffic, (perSecond) => perSecond * Math.exp(-perSecond * served));
  const goal = REFILLED_AT * steady;
  const ttlSeconds = ttlMs / 1000;
  let [served, seconds, step] = [0, 0, 1e-3];
  let load = demand(0);
  for (let at = 0; at < MAX_REFILL_STEPS && seconds < ttlSeconds; at += 1) {
    if (load <= goal) return seconds * 1000;
    const next = demand(served + step);
    seconds += step * Math.max(1, (load + next) / 2 / capacity);
    served += step;
    step *= 1.02;
    load = next;
  }
  return undefined;
}
