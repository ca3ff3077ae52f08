import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
} from '../../../../src/report/format.ts';
import type { Lesson, Limit } from '../../kit/finding.ts';
import type { AtOneRateRow } from './at-one-rate.ts';

export interface ConnectionsFigures {
  readonly askedPerSecond: number;
  /** From few connections to many. */
  readonly atOneRate: readonly Pick<
    AtOneRateRow,
    'connections' | 'perSecond' | 'errorShare' | 'p99Ms' | 'storeUs' | 'bytesEach' | 'limit'
  >[];
  /** From few connections to many. */
  readonly fullSpeed: readonly { readonly clients: number; readonly perSecond: number; readonly limit: Limit }[];
  /** With as many commands under way in each. */
  readonly pools: readonly { readonly connections: number; readonly perSecond: number; readonly limit: Limit }[];
  readonly threads: readonly { readonly threads: number; readonly perSecond: number; readonly limit: Limit }[];
  /** Of the generator. */
  readonly cores: number;
}

/** A shard that loses more than that, or answers less than that, has fallen. */
const [FALLEN_ERRORS, FALLEN_ANSWERS] = [0.01, 0.9];
/** Less is within what two runs of the same differ by on a busy machine. */
const [DEARER, SLOWER, LATER] = [1.5, 0.67, 3];
/** With fewer cores than threads, threads take turns. */
const PUBLISHED_THREADS = 7;
/** Of the best: a pool that reaches it is large enough. */
const ENOUGH = 0.9;

/** Whether it is the number of connections that hurts a store. */
export function connectionsLesson(figures: ConnectionsFigures): Lesson {
  const { atOneRate, fullSpeed, askedPerSecond } = figures;
  const [few, many] = [atOneRate[0], atOneRate.at(-1)];
  if (few === undefined || many === undefined) return { holds: 'no', sentence: 'Nothing was measured.' };
  const rest = [fullSpeedWords(fullSpeed), poolWords(figures.pools), threadWords(figures.threads, figures.cores)];
  const said = (holds: Lesson['holds'], first: string): Lesson => ({
    holds,
    sentence: [first, ...rest].filter((text) => text !== '').join(' '),
  });
  const fell = atOneRate.find(
    (row) => row.errorShare > FALLEN_ERRORS || row.perSecond < FALLEN_ANSWERS * askedPerSecond,
  );
  if (fell !== undefined) {
    const own = `with ${countText(fell.connections)} connections ${perSecondText(fell.perSecond)} of ${perSecondText(askedPerSecond)} were answered and ${percentText(fell.errorShare)} failed`;
    if (fell.limit === 'store' || fell.limit === 'both' || fell.errorShare > FALLEN_ERRORS)
      return said('yes', `Yes, the number alone can fell a store: ${own}.`);
    // What is not asked in time, or waits for a core that somebody else has, no store can answer.
    const why =
      fell.limit === 'generator'
        ? 'the generator was full there, so that may be its own fall'
        : 'neither the store nor the generator was full there, so others had the cores of this machine';
    return said('partly', `Partly: ${own}, but ${why}.`);
  }
  const range = `from ${countText(few.connections)} to ${countText(many.connections)} connections at ${perSecondText(askedPerSecond)} in all nothing fell, though a published shard did at 2,000`;
  const dearer = many.storeUs / few.storeUs;
  const price = `a command cost the store ${timesText(dearer)} the processor time (${amountText(many.storeUs)} µs instead of ${amountText(few.storeUs)})`;
  const wait = `p99 went from ${durationText(few.p99Ms)} to ${durationText(many.p99Ms)}${isFull(many.limit) ? `, with ${fullWord(many.limit)} full,` : ''}`;
  const memory = `each connection took ${bytesText(Math.max(...atOneRate.map((row) => row.bytesEach)))} of the store's memory at most`;
  const [slowFew, slowMany] = [fullSpeed[0], fullSpeed.at(-1)];
  const isSlower =
    slowFew !== undefined &&
    slowMany !== undefined &&
    slowMany.limit !== 'generator' &&
    slowMany.perSecond < SLOWER * slowFew.perSecond;
  const isLater = many.p99Ms >= LATER * few.p99Ms && !isFull(many.limit);
  return dearer >= DEARER || isSlower || isLater
    ? said('partly', `Partly: ${range}; but numbers are not free: ${price}, ${wait} and ${memory}.`)
    : said('no', `No, it is not the number that hurts: ${range}; ${price}, ${wait} and ${memory}.`);
}

function fullSpeedWords(rows: ConnectionsFigures['fullSpeed']): string {
  const [few, many] = [rows[0], rows.at(-1)];
  if (few === undefined || many === undefined || few === many) return '';
  return `At full speed ${countText(many.clients)} had ${timesText(many.perSecond / few.perSecond)} the rate of ${countText(few.clients)}${isFull(many.limit) ? `, with ${fullWord(many.limit)} full` : ''}.`;
}

function poolWords(rows: ConnectionsFigures['pools']): string {
  const best = Math.max(...rows.map((row) => row.perSecond));
  const enough = rows.find((row) => row.perSecond >= ENOUGH * best);
  if (enough === undefined) return '';
  const largest = rows.at(-1);
  const share = `${percentText(enough.perSecond / best)} of the best rate of any`;
  return enough === largest
    ? `Of one process only the pool of ${enough.connections} reached ${share}.`
    : `Of one process a pool of ${enough.connections} reached ${share}${largest === undefined ? '' : `, one of ${largest.connections} ${percentText(largest.perSecond / best)}`}.`;
}

function threadWords(rows: ConnectionsFigures['threads'], cores: number): string {
  const best = rows.toSorted((one, other) => other.perSecond - one.perSecond)[0];
  const most = rows.at(-1);
  if (best === undefined || most === undefined) return '';
  const room = cores === 1 ? 'one core' : `${cores} cores`;
  return best === most
    ? `The more client threads the better, up to ${most.threads} on ${room}.`
    : `Client threads did best at ${best.threads} on ${room}; ${most.threads} had ${timesText(most.perSecond / best.perSecond)} that rate${cores < PUBLISHED_THREADS ? ', and on so few cores the published gain of 7–10 cannot be shown' : ''}.`;
}

function isFull(limit: Limit): boolean {
  return limit === 'generator' || limit === 'both';
}

function fullWord(limit: Limit): string {
  return limit === 'both' ? 'both' : `the ${limit}`;
}
