import { amountText, perSecondText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import { changeText } from '../change-text.ts';
import type { ThreeClients } from '../one-and-three.ts';
import type { Load } from './load.ts';

export interface MixRow extends Load {
  readonly engine: string;
  readonly isTls: boolean;
}

export interface ReadRow extends MixRow {
  readonly ioThreads: number;
}

export interface CounterRow extends ThreeClients {
  readonly engine: string;
  readonly stores: 1 | 3;
}

export interface EngineRows {
  readonly mix: readonly MixRow[];
  readonly reads: readonly ReadRow[];
  readonly counters: readonly CounterRow[];
}

/** Runs of one and the same server differ by less, taken in turn. */
const AHEAD = 0.05;
/** A store that is asked more often does more at each turn: what a command costs compares at one rate only. */
const ONE_RATE = 1.2;
/** As in the experiment on domains: half of what was published. */
const LEAST_GAIN = 0.15;

/** Share of the time per operation that three stores save; negative when it takes longer. */
export function threeStoresGain(rows: readonly CounterRow[], engine: string): number | undefined {
  const [one, three] = ([1, 3] as const).map((stores) =>
    rows.find((row) => row.engine === engine && row.stores === stores),
  );
  return one && three && 1 - three.usPerOp / one.usPerOp;
}

/**
 * Is another engine ahead of Redis under the mix and with TLS, and does Redis gain most from three stores all the same?
 * Ahead is who needs less processor for as many commands: on a machine whose generator is full nothing else compares.
 */
export function enginesLesson({ mix, counters }: EngineRows): Lesson {
  const names = [...new Set(mix.map(({ engine }) => engine))];
  const redis = names.find((name) => name.startsWith('Redis'));
  if (redis === undefined) throw new Error('the lesson of engines needs Redis among the engines');
  const [plain, tls] = [best(mix, redis, false), best(mix, redis, true)];
  const gain = threeStoresGain(counters, redis);
  if (plain === undefined || tls === undefined || gain === undefined)
    throw new Error('the lesson of engines needs the mix with and without TLS, and one store and three');
  const isAhead = [plain, tls].map((one) => (one.isComparable ? one.saving >= AHEAD : undefined));
  const others = names
    .filter((name) => name !== redis)
    .flatMap((name) => {
      const own = threeStoresGain(counters, name);
      return own === undefined ? [] : [{ name, gain: own }];
    });
  const isMost = others.every((other) => other.gain <= gain + AHEAD);
  const claims = [...isAhead, gain >= LEAST_GAIN && isMost];
  const isWhole = ['keydb', 'dragonfly'].every((name) => names.some((one) => one.toLowerCase().startsWith(name)));
  const holds = heldBy(claims, isWhole);
  const words = {
    yes: 'Holds here',
    partly: 'Holds in part',
    no: 'Does not hold here',
    unseen: 'It could not be seen here',
  }[holds];
  const missing = ['KeyDB', 'Dragonfly'].filter(
    (name) => !names.some((one) => one.toLowerCase().startsWith(name.toLowerCase())),
  );
  const absent =
    missing.length === 0
      ? ''
      : `; ${missing.join(' and ')} ${missing.length === 1 ? 'was' : 'were'} not given, so what was published of ${missing.length === 1 ? 'it' : 'them'} was not checked`;
  const gains = [{ name: redis, gain }, ...others].map((one) => `${one.name} ${changeText(one.gain)}`).join(', ');
  return {
    holds,
    sentence: `${words}: ${aheadText(plain, redis, 'under the published mix')}; ${aheadText(tls, redis, 'with TLS')}; three stores instead of one change the time of an INCR by ${gains} (published: Redis −28 %, KeyDB −26 %, Dragonfly +19 %)${coresText(counters)}${absent}.`,
  };
}

/** @param claims undefined: not to be compared here. */
function heldBy(claims: readonly (boolean | undefined)[], isWhole: boolean): Lesson['holds'] {
  if (claims.every((claim) => claim === true) && isWhole) return 'yes';
  if (claims.includes(true)) return 'partly';
  return claims.includes(undefined) ? 'unseen' : 'no';
}

interface Best {
  readonly name: string;
  readonly isComparable: boolean;
  readonly perSecond: number;
  readonly redisPerSecond: number;
  readonly cores: number;
  readonly redisCores: number;
  /** Of Redis' cores; negative when the best of the others takes more. */
  readonly saving: number;
}

function best(rows: readonly MixRow[], redis: string, isTls: boolean): Best | undefined {
  const own = rows.filter((row) => row.isTls === isTls);
  const [base] = own.filter(({ engine }) => engine === redis);
  if (base === undefined) return undefined;
  // The best of those that can be compared at all.
  const others = own
    .filter(({ engine }) => engine !== redis)
    .toSorted((one, other) => one.coresPer100k - other.coresPer100k);
  const first = others.find((row) => isAtOneRate(row, base)) ?? others[0];
  if (first === undefined) return undefined;
  const [cores, redisCores] = [first.coresPer100k, base.coresPer100k];
  return {
    name: first.engine,
    isComparable: isAtOneRate(first, base),
    perSecond: first.perSecond,
    redisPerSecond: base.perSecond,
    cores,
    redisCores,
    saving: 1 - cores / redisCores,
  };
}

/** Where both stores were full, the rate itself says what a command costs. */
function isAtOneRate(one: MixRow, other: MixRow): boolean {
  const isFull = [one, other].every(({ limit }) => limit === 'store' || limit === 'both');
  const [least, most] = [Math.min(one.perSecond, other.perSecond), Math.max(one.perSecond, other.perSecond)];
  return isFull || most <= least * ONE_RATE;
}

function aheadText(best: Best, redis: string, where: string): string {
  const { name, isComparable, perSecond, redisPerSecond, cores, redisCores, saving } = best;
  if (!isComparable)
    return `${where} ${name} and ${redis} cannot be compared: they were asked at ${perSecondText(perSecond)} and ${perSecondText(redisPerSecond)}, and what a command costs depends on the rate`;
  const figures = `${amountText(cores)} against ${amountText(redisCores)} cores for 100,000 commands/s`;
  if (saving >= AHEAD) return `${name} is ahead of ${redis} ${where} (${figures})`;
  if (saving <= -AHEAD)
    return `${redis} is ahead of ${name} ${where} (${amountText(redisCores)} against ${amountText(cores)} cores for 100,000 commands/s)`;
  return `${name} and ${redis} are level ${where} (${figures})`;
}

function coresText(counters: readonly CounterRow[]): string {
  const isFull = counters.some(({ stores, limit }) => stores === 3 && limit !== 'neither');
  return isFull ? ', where three stores and their clients had no more cores to use' : '';
}
