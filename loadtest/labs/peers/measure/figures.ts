import type { Unit } from '../../kit/finding.ts';
import type { Spread } from './cached-page.ts';
import { bytesPerPage } from './memory.ts';
import { isFromStore, OURS, type Outcome } from './outcome.ts';
import type { Stampeded, StampedeFigures } from './stampede.ts';

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
