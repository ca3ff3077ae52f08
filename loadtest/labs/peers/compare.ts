import { percentText, pointsText } from '../../../src/report/format.ts';
import type { Unit } from '../kit/finding.ts';
import type { DeadEngineFigures, Stampeded, StampedeFigures } from './losing.ts';
import { bytesPerPage, type MemoryFigures } from './memory.ts';
import type { Peer } from './peer.ts';
import type { PageFigures, Spread } from './serving.ts';

/** What was measured of one peer. What is absent could not be, and `problems` says why. */
export interface Outcome {
  readonly peer: Pick<Peer, 'name' | 'setUp' | 'keeps'>;
  /** One page, again and again. */
  readonly page?: PageFigures;
  /** Many pages in turn. */
  readonly many?: PageFigures;
  readonly memory?: MemoryFigures;
  readonly stampede?: StampedeFigures;
  readonly dead?: DeadEngineFigures;
  readonly problems: readonly string[];
}

/** Store reads for each request, from which on pages are said to come from the store. */
const FROM_STORE = 0.5;

/** At full speed, or at the rate that times are taken at. False where it was not measured. */
export function isFromStore(figures: PageFigures | undefined, at: 'full speed' | 'rate'): boolean {
  if (figures === undefined) return false;
  return (at === 'rate' ? figures.storeCommandsAtRate : figures.storeCommands) >= FROM_STORE;
}

/** Ours, as it is meant to run, and with its pages in the store alone. */
export const OURS = { memory: 'serpcache L1', store: 'serpcache L2' } as const;

export function isOurs({ peer }: Pick<Outcome, 'peer'>): boolean {
  return peer.name === OURS.memory || peer.name === OURS.store;
}

/** One figure in which peers are compared with serpcache. */
export interface Figure {
  /** `requests per core, one page` */
  readonly what: string;
  readonly unit: Unit;
  readonly better: 'more' | 'less';
  /** Undefined: not measured. Infinity: it did not happen within the time it was given. */
  readonly of: (outcome: Outcome) => number | undefined;
  /** Name of the serpcache to compare with: what is in memory with what is in memory, what is shared with what is shared. */
  readonly ours: (outcome: Outcome) => string;
  /** Smaller differences are what the clock or the count cannot tell apart. */
  readonly resolution?: number;
  /** Whether what it is measured of comes from the store: then it is compared with what does as well, and with nothing else. */
  readonly isFromStore?: (outcome: Outcome) => boolean;
  /** How many times more the largest of a peer's rounds was than the smallest. Absent: it is measured once. */
  readonly spread?: (outcome: Outcome) => number | undefined;
  /** Where both serpcaches do the same for it, their two rows are one thing measured twice: this says of one whether it does. */
  readonly isAlike?: (outcome: Outcome) => boolean;
}

const memory = (): string => OURS.memory;
const MILLISECONDS = { unit: 'ms', better: 'less' } as const;
/** What is asked for after a purge and without an engine fits into L1 at its smallest. */
const always = (): boolean => true;
const likeKept = ({ peer }: Outcome): string => (peer.keeps === 'shared' ? OURS.store : OURS.memory);

/** A search's worth of errors in a stampede is chance. */
const SHARE_RESOLUTION = 0.005;
/** Two looks. */
const RECOVERY_RESOLUTION_SECONDS = 0.12;
/** What the client itself takes varies by that much in half of all requests, and now and then by this much. */
const [P50_RESOLUTION_MS, P99_RESOLUTION_MS] = [0.02, 0.5];
/** Memory comes in larger pieces than a page: between two runs of the same. */
const PAGE_RESOLUTION_BYTES = 512;
/** Who refuses more has the times and the queries of the few he let in. */
const MOST_REFUSED = 0.05;

/** Everything that is measured of each peer and where more or less is better, in the order it is told. */
export const FIGURES: readonly Figure[] = [
  cached('requests per core', 'perCore', 'page'),
  cached('requests per core', 'perCore', 'many'),
  cached('p50', 'p50Ms', 'page'),
  cached('p99', 'p99Ms', 'page'),
  cached('p50', 'p50Ms', 'many'),
  cached('p99', 'p99Ms', 'many'),
  {
    // Files are read from memory too, which no process is charged with.
    what: 'memory and files of a page, process and store',
    unit: 'bytes',
    better: 'less',
    of: ({ memory: kept }) => (kept === undefined ? undefined : bytesPerPage(kept)),
    ours: likeKept,
    resolution: PAGE_RESOLUTION_BYTES,
  },
  {
    what: 'engine queries for the hot page after a purge',
    unit: 'text',
    better: 'less',
    of: stampeded(
      ({ hot }) => hot,
      ({ queriesPerKey }) => queriesPerKey,
    ),
    ours: memory,
    isAlike: always,
  },
  {
    what: 'engine queries for each of many pages after a purge',
    unit: 'text',
    better: 'less',
    of: stampeded(
      ({ many }) => many,
      ({ queriesPerKey }) => queriesPerKey,
    ),
    ours: memory,
    isAlike: always,
  },
  time(
    'p99 of the hot page after a purge',
    stampeded(
      ({ hot }) => hot,
      ({ p99Ms }) => p99Ms,
    ),
  ),
  time(
    'p99 of many pages after a purge',
    stampeded(
      ({ many }) => many,
      ({ p99Ms }) => p99Ms,
    ),
  ),
  share('failed after a purge, hot page', 'less', ({ stampede }) => stampede?.hot.failedShare),
  share('failed after a purge, many pages', 'less', ({ stampede }) => stampede?.many.failedShare),
  share('fresh pages answered without an engine', 'more', ({ dead }) => dead?.freshShare),
  share('expired pages answered without an engine', 'more', ({ dead }) => dead?.expiredShare),
  {
    ...time('p99 of expired pages without an engine', ({ dead }) =>
      dead === undefined || dead.expiredShare < 1 - MOST_REFUSED ? undefined : dead.expiredP99Ms,
    ),
    isFromStore: ({ page }) => isFromStore(page, 'rate'),
  },
  time('time to refuse an unknown page without an engine', ({ dead }) =>
    dead === undefined ? undefined : (dead.unseenP50Ms ?? Number.POSITIVE_INFINITY),
  ),
  {
    what: 'until an answer is fresh after the engine is back',
    unit: 'seconds',
    better: 'less',
    of: ({ dead }) => (dead === undefined ? undefined : (dead.recoveredSeconds ?? Number.POSITIVE_INFINITY)),
    ours: memory,
    resolution: RECOVERY_RESOLUTION_SECONDS,
    isAlike: always,
  },
];

/** Of cached pages: best of all rounds. */
function cached(what: string, key: Spread, of: 'page' | 'many'): Figure {
  const fromStore = (outcome: Outcome): boolean => isFromStore(outcome[of], key === 'perCore' ? 'full speed' : 'rate');
  return {
    what: `${what}, ${of === 'page' ? 'one page' : 'many pages'}`,
    ...(key === 'perCore' ? ({ unit: 'per-second', better: 'more' } as const) : MILLISECONDS),
    of: (outcome) => outcome[of]?.[key],
    // Both of ours have one page in memory.
    ours: (outcome) => (of === 'many' && fromStore(outcome) ? OURS.store : OURS.memory),
    isFromStore: fromStore,
    ...(key !== 'perCore' && { resolution: key === 'p50Ms' ? P50_RESOLUTION_MS : P99_RESOLUTION_MS }),
    spread: (outcome) => outcome[of]?.spreads[key],
    isAlike: (outcome) => outcome[of] !== undefined && !fromStore(outcome),
  };
}

function time(what: string, of: Figure['of']): Figure {
  return { what, ...MILLISECONDS, of, ours: memory, resolution: P99_RESOLUTION_MS, isAlike: always };
}

function stampeded(
  pick: (figures: StampedeFigures) => Stampeded,
  of: (one: Stampeded) => number | undefined,
): Figure['of'] {
  return ({ stampede }) => {
    const one = stampede === undefined ? undefined : pick(stampede);
    return one === undefined || one.failedShare > MOST_REFUSED ? undefined : of(one);
  };
}

function share(what: string, better: Figure['better'], of: Figure['of']): Figure {
  return { what, unit: 'share', better, of, ours: memory, resolution: SHARE_RESOLUTION, isAlike: always };
}

/** What is nearer is level on every machine. */
const LEAST = 1.05;

/**
 * How far apart one and the same thing was: rounds of either of both that are compared, and the rows of serpcache where
 * they differ in nothing. A factor; of shares the difference itself. @param ours all rows of serpcache
 */
export function noiseOf(figure: Figure, both: readonly Outcome[], ours: readonly Outcome[]): number {
  const alike = ours.flatMap((one) => (figure.isAlike?.(one) ? (figure.of(one) ?? []) : []));
  const [most, least] = [Math.max(...alike), Math.min(...alike)];
  const isPair = alike.length > 1 && most > least;
  if (figure.unit === 'share') return isPair ? most - least : 0;
  return Math.max(LEAST, isPair ? most / least : 1, ...both.map((one) => figure.spread?.(one) ?? 1));
}

/** The figures whose noise is above the minimum: the smallest and the largest of all peers, as `12 %` or `2 points`. */
export function noiseRows(compared: readonly { readonly figure: Figure; readonly noise: number }[]) {
  return [...Map.groupBy(compared, ({ figure }) => figure)].flatMap(([figure, some]) => {
    const all = some.map(({ noise }) => noise);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    if (most <= (figure.unit === 'share' ? 0 : LEAST)) return [];
    return [{ what: figure.what, least: textOf(figure, least), most: textOf(figure, most) }];
  });
}

function textOf({ unit }: Figure, noise: number): string {
  if (!Number.isFinite(noise)) return 'without end';
  return unit === 'share' ? pointsText(noise * 100) : percentText(noise - 1);
}

/** One peer against serpcache in one figure. */
export interface Compared {
  readonly figure: Figure;
  readonly peer: string;
  readonly theirs: number;
  readonly oursName: string;
  readonly ours: number;
  readonly ahead: 'peer' | 'serpcache' | 'neither';
  /** How many times better whoever is ahead is. Undefined where one of both is nothing, or never came. */
  readonly factor: number | undefined;
  /** What is not further apart is level: a factor, of shares a difference. */
  readonly noise: number;
}

/** Every figure that both have of what both have in the same place, of every peer; nothing of serpcache with itself. */
export function compareAll(outcomes: readonly Outcome[], figures: readonly Figure[] = FIGURES): readonly Compared[] {
  return figures.flatMap((figure) =>
    outcomes.flatMap((outcome) => {
      if (isOurs(outcome)) return [];
      const oursName = figure.ours(outcome);
      const own = outcomes.find(({ peer }) => peer.name === oursName);
      const [theirs, ours] = [figure.of(outcome), own === undefined ? undefined : figure.of(own)];
      if (own === undefined || theirs === undefined || ours === undefined) return [];
      if (figure.isFromStore?.(outcome) !== figure.isFromStore?.(own)) return [];
      const noise = noiseOf(figure, [outcome, own], outcomes.filter(isOurs));
      return [compare({ figure, peer: outcome.peer.name, theirs, oursName, ours, noise })];
    }),
  );
}

function compare(given: Omit<Compared, 'ahead' | 'factor'>): Compared {
  const { figure, theirs, ours, noise } = given;
  const [more, less] = [Math.max(theirs, ours), Math.min(theirs, ours)];
  const isNoise = figure.unit === 'share' ? more - less <= noise : less > 0 && more / less <= noise;
  const isLevel = more === less || more - less < (figure.resolution ?? 0) || isNoise;
  const isPeer = figure.better === 'more' ? theirs > ours : theirs < ours;
  return {
    ...given,
    ahead: isLevel ? 'neither' : isPeer ? 'peer' : 'serpcache',
    factor: less > 0 && Number.isFinite(more) ? more / less : undefined,
  };
}
