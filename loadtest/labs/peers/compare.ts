import { percentText, pointsText } from '../../../src/report/format.ts';
import type { Unit } from '../kit/text.ts';
import type { DeadEngineFigures, StampedeFigures } from './losing.ts';
import type { Peer } from './peer.ts';
import { bytesPerPage, type MemoryFigures, type PageFigures, type Spread } from './serving.ts';

/** The measurements of one peer. One that is absent failed, and `problems` says why. */
export interface Outcome {
  readonly peer: Pick<Peer, 'name' | 'setUp' | 'keeps'>;
  readonly page?: PageFigures;
  readonly many?: PageFigures;
  readonly memory?: MemoryFigures;
  readonly stampede?: StampedeFigures;
  readonly dead?: DeadEngineFigures;
  readonly problems: readonly string[];
}

/** Minimum of store reads per request at which pages count as coming from the store. */
const FROM_STORE = 0.5;

/** At full speed, or at the rate at which times are measured. False where it was not measured. */
function isFromStore(figures: PageFigures | undefined, at: 'storeCommands' | 'storeCommandsAtRate'): boolean {
  return (figures?.[at] ?? 0) >= FROM_STORE;
}

/** serpcache in normal operation, and with its pages in the store only. */
export const OURS = { memory: 'serpcache L1', store: 'serpcache L2' } as const;

function isOurs({ peer }: Pick<Outcome, 'peer'>): boolean {
  return peer.name === OURS.memory || peer.name === OURS.store;
}

export interface Figure {
  /** `requests per core, one page` */
  readonly what: string;
  readonly unit: Unit;
  readonly better: 'more' | 'less';
  /** Undefined: not measured. Infinity: it did not happen in time. */
  readonly of: (outcome: Outcome) => number | undefined;
  /** Name of the serpcache to compare with: memory with memory, shared store with shared store. Default: serpcache L1. */
  readonly ours?: (outcome: Outcome) => string;
  /** Differences below it are below the resolution of the clock or the count. */
  readonly resolution?: number;
  /** Whether the pages behind the figure come from the store. Peers are compared only when both answer the same. */
  readonly isFromStore?: (outcome: Outcome) => boolean;
  /** Largest round of a peer ÷ smallest. Absent: there is one round. */
  readonly spread?: (outcome: Outcome) => number | undefined;
  /** True when this row of serpcache does the same work as the other one: their difference is noise. */
  readonly isAlike?: (outcome: Outcome) => boolean;
}

const MILLISECONDS = { unit: 'ms', better: 'less' } as const;
/** The pages of a stampede and of a dead engine fit into the smallest L1. */
const always = (): boolean => true;
const QUERIES = { unit: 'text', better: 'less', isAlike: always } as const;
const likeKept = ({ peer }: Outcome): string => (peer.keeps === 'shared' ? OURS.store : OURS.memory);

/** About one request of a stampede. */
const SHARE_RESOLUTION = 0.005;
/** Two polls. */
const RECOVERY_RESOLUTION_SECONDS = 0.12;
/** The client's own time varies by the first in half of its requests, and by the second in the slowest. */
const [P50_RESOLUTION_MS, P99_RESOLUTION_MS] = [0.02, 0.5];
/** Difference between two runs of the same server: memory is allocated in larger pieces than a page. */
const PAGE_RESOLUTION_BYTES = 512;
/** A peer that refuses more has only the times and queries of the few requests that it admitted. */
const MOST_REFUSED = 0.05;

export const FIGURES: readonly Figure[] = [
  cached('requests per core', 'perCore', 'page'),
  cached('requests per core', 'perCore', 'many'),
  cached('p50', 'p50Ms', 'page'),
  cached('p99', 'p99Ms', 'page'),
  cached('p50', 'p50Ms', 'many'),
  cached('p99', 'p99Ms', 'many'),
  {
    // Files are read from the page cache, which is charged to no process.
    what: 'memory and files of a page, process and store',
    unit: 'bytes',
    better: 'less',
    of: ({ memory: kept }) => (kept === undefined ? undefined : bytesPerPage(kept)),
    ours: likeKept,
    resolution: PAGE_RESOLUTION_BYTES,
  },
  { what: 'engine queries for the hot page after a purge', ...QUERIES, of: stampeded('hot', 'queriesPerKey') },
  { what: 'engine queries for each of many pages after a purge', ...QUERIES, of: stampeded('many', 'queriesPerKey') },
  time('p99 of the hot page after a purge', stampeded('hot', 'p99Ms')),
  time('p99 of many pages after a purge', stampeded('many', 'p99Ms')),
  share('failed after a purge, hot page', 'less', ({ stampede }) => stampede?.hot.failedShare),
  share('failed after a purge, many pages', 'less', ({ stampede }) => stampede?.many.failedShare),
  share('fresh pages answered without an engine', 'more', ({ dead }) => dead?.freshShare),
  share('expired pages answered without an engine', 'more', ({ dead }) => dead?.expiredShare),
  {
    ...time('p99 of expired pages without an engine', ({ dead }) =>
      dead === undefined || dead.expiredShare < 1 - MOST_REFUSED ? undefined : dead.expiredP99Ms,
    ),
    isFromStore: ({ page }) => isFromStore(page, 'storeCommandsAtRate'),
  },
  time('time to refuse an unknown page without an engine', ({ dead }) =>
    dead === undefined ? undefined : (dead.unseenP50Ms ?? Number.POSITIVE_INFINITY),
  ),
  {
    what: 'until an answer is fresh after the engine is back',
    unit: 'seconds',
    better: 'less',
    of: ({ dead }) => (dead === undefined ? undefined : (dead.recoveredSeconds ?? Number.POSITIVE_INFINITY)),
    resolution: RECOVERY_RESOLUTION_SECONDS,
    isAlike: always,
  },
];

/** A figure of cached pages: the best of all rounds. */
function cached(what: string, key: Spread, of: 'page' | 'many'): Figure {
  const commands = key === 'perCore' ? 'storeCommands' : 'storeCommandsAtRate';
  const fromStore = (outcome: Outcome): boolean => isFromStore(outcome[of], commands);
  return {
    what: `${what}, ${of === 'page' ? 'one page' : 'many pages'}`,
    ...(key === 'perCore' ? ({ unit: 'per-second', better: 'more' } as const) : MILLISECONDS),
    of: (outcome) => outcome[of]?.[key],
    // Both serpcaches have one page in memory.
    ours: (outcome) => (of === 'many' && fromStore(outcome) ? OURS.store : OURS.memory),
    isFromStore: fromStore,
    resolution: { perCore: undefined, p50Ms: P50_RESOLUTION_MS, p99Ms: P99_RESOLUTION_MS }[key],
    spread: (outcome) => outcome[of]?.spreads[key],
    isAlike: (outcome) => outcome[of] !== undefined && !fromStore(outcome),
  };
}

function time(what: string, of: Figure['of']): Figure {
  return { what, ...MILLISECONDS, of, resolution: P99_RESOLUTION_MS, isAlike: always };
}

function stampeded(pages: 'hot' | 'many', key: 'queriesPerKey' | 'p99Ms'): Figure['of'] {
  return ({ stampede }) => {
    const one = stampede?.[pages];
    return one === undefined || one.failedShare > MOST_REFUSED ? undefined : one[key];
  };
}

function share(what: string, better: Figure['better'], of: Figure['of']): Figure {
  return { what, unit: 'share', better, of, resolution: SHARE_RESOLUTION, isAlike: always };
}

/** Smaller ratios are level on every machine. */
const LEAST = 1.05;

/**
 * How far repeated measurements of the same thing differ: rounds of either side, and the rows of serpcache where
 * both do the same work. A factor; for shares the difference itself. @param ours all rows of serpcache
 */
function noiseOf(figure: Figure, both: readonly Outcome[], ours: readonly Outcome[]): number {
  const alike = ours.flatMap((one) => (figure.isAlike?.(one) ? (figure.of(one) ?? []) : []));
  const [most, least] = [Math.max(...alike), Math.min(...alike)];
  const isPair = alike.length > 1 && most > least;
  if (figure.unit === 'share') return isPair ? most - least : 0;
  return Math.max(LEAST, isPair ? most / least : 1, ...both.map((one) => figure.spread?.(one) ?? 1));
}

/** The figures whose noise is above the minimum: the smallest and the largest of all peers, as `12 %` or `2 points`. */
export function noiseRows(compared: readonly Compared[]) {
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

export type Compared = ReturnType<typeof compareAll>[number];

/** Each peer against serpcache in each figure that both have from the same tier. serpcache is not compared with itself. */
export function compareAll(outcomes: readonly Outcome[]) {
  return FIGURES.flatMap((figure) =>
    outcomes.flatMap((outcome) => {
      if (isOurs(outcome)) return [];
      const oursName = figure.ours?.(outcome) ?? OURS.memory;
      const own = outcomes.find(({ peer }) => peer.name === oursName);
      const [theirs, ours] = [figure.of(outcome), own === undefined ? undefined : figure.of(own)];
      if (own === undefined || theirs === undefined || ours === undefined) return [];
      if (figure.isFromStore?.(outcome) !== figure.isFromStore?.(own)) return [];
      const noise = noiseOf(figure, [outcome, own], outcomes.filter(isOurs));
      return [
        { figure, peer: outcome.peer.name, theirs, oursName, ours, noise, ...compare(figure, theirs, ours, noise) },
      ];
    }),
  );
}

/** @param noise smaller differences are level: a factor; for shares a difference. */
function compare(figure: Figure, theirs: number, ours: number, noise: number) {
  const [more, less] = [Math.max(theirs, ours), Math.min(theirs, ours)];
  const isNoise = figure.unit === 'share' ? more - less <= noise : less > 0 && more / less <= noise;
  const isLevel = more === less || more - less < (figure.resolution ?? 0) || isNoise;
  const isPeer = figure.better === 'more' ? theirs > ours : theirs < ours;
  const ahead: 'neither' | 'peer' | 'serpcache' = isLevel ? 'neither' : isPeer ? 'peer' : 'serpcache';
  /** Better ÷ worse, at least 1. Undefined where one of them is zero or never happened. */
  const factor = less > 0 && Number.isFinite(more) ? more / less : undefined;
  return { ahead, factor };
}
