import {
  amountText,
  bytesText,
  durationText,
  percentText,
  perSecondText,
  timesText,
} from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import { BIG_FIELDS, SMALL_FIELDS } from './hash.ts';
import type { HashRead, HashReads } from './hash-reads.ts';
import { type HashWrite, WRITE_PIPELINES } from './hash-writes.ts';
import { LINK_BYTES_PER_SECOND } from './link.ts';
import { PUBLISHED, SIZES, type Way } from './sizes.ts';
import type { Transfer } from './transfer.ts';

export interface ValueSizeRows {
  readonly near: readonly Transfer[];
  /** Text: why there was no link to measure over. */
  readonly link: readonly Transfer[] | string;
  readonly reads: Pick<HashReads, 'quietP99Ms'> & {
    readonly rows: readonly Pick<HashRead, 'fields' | 'alone' | 'besideP99Ms'>[];
  };
  readonly writes: readonly Pick<HashWrite, 'fields' | 'pipeline' | 'storeUs'>[];
}

/** Of the link's bits: what remains are headers, and both ends of a short measurement. */
const FULL_LINK = 0.85;
/** Of one core: a store that is idle for half of its time is not what limits. */
const IDLE = 0.5;
/** A hundredth of the fields was published to take a 500th of the time. Where a round trip is most of it, a fifth helps yet. */
const LEAST_READ_GAIN = 5;
/** Two runs of one load differ by a tenth, and a hash that leaves the processor's nearest cache may cost as much again. */
const MOST_GROWTH = 1.25;

interface Part {
  /** Undefined: could not be seen here. */
  readonly isSeen: boolean | undefined;
  readonly words: string;
}

/** Do large values fill a network while processors idle, and is a big hash slow to read, but not to write? */
export function valueSizeLesson(rows: ValueSizeRows): Lesson {
  const parts = [fullNetwork(rows), ...readInPieces(rows), sparesOthers(rows), writtenAlike(rows)];
  const holds = heldBy(parts.map(({ isSeen }) => isSeen));
  const start = {
    yes: 'Holds here',
    partly: 'Holds in part',
    no: 'Does not hold here',
    unseen: 'It could not be seen here',
  }[holds];
  return { holds, sentence: `${start}: ${[...parts.map(({ words }) => words), pipelined(rows)].join('; ')}.` };
}

function heldBy(parts: readonly Part['isSeen'][]): Lesson['holds'] {
  if (parts.every((isSeen) => isSeen === undefined)) return 'unseen';
  if (parts.every((isSeen) => isSeen === true)) return 'yes';
  return parts.includes(true) ? 'partly' : 'no';
}

function fullNetwork({ link, near }: ValueSizeRows): Part {
  const largest = SIZES.at(-1) ?? 0;
  const size = bytesText(largest);
  const here = find(near, 'SET', largest, 1);
  const loopback = `on loopback, where the processors themselves copy every byte, the same writes go at ${bytesText(here.bytesPerSecond)}/s with ${amountText(here.storeCores)} of a core busy in the store and ${amountText(here.generatorCores)} in the generator`;
  if (typeof link === 'string')
    return {
      isSeen: undefined,
      words: `whether SET of ${size} fills a network while the processor idles could not be seen (${link}): ${loopback}`,
    };
  const far = find(link, 'SET', largest, 1);
  const share = far.bytesPerSecond / LINK_BYTES_PER_SECOND;
  const isFull = share >= FULL_LINK;
  const isIdle = far.storeCores <= IDLE;
  const measured = `SET of ${size} over a link of 1 Gbit/s does ${perSecondText(far.perSecond)}, which is ${percentText(share)} of the link, with ${amountText(far.storeCores)} of a core busy in the store`;
  const verdict = isFull
    ? isIdle
      ? 'low rate, full network, idle processor, as published'
      : 'the network is full, but the store is not idle'
    : isIdle
      ? 'the store is idle, but the link is not full'
      : 'the store was busy before the link was full';
  return { isSeen: isFull && isIdle, words: `${measured}: ${verdict}; ${loopback}` };
}

/** Of what time the published ones are, of a reply or of the whole hash, nobody said: both are told. */
function readInPieces({ reads }: ValueSizeRows): readonly Part[] {
  const [many, few] = [read(reads.rows, 3000).alone, read(reads.rows, 30).alone];
  if (many === undefined || few === undefined)
    return [
      { isSeen: undefined, words: 'what a reply of fewer fields saves could not be seen: too few were answered' },
    ];
  const gain = many.replyMs / few.replyMs;
  const execution = many.executionUs / few.executionUs;
  const why = execution >= LEAST_READ_GAIN ? ', because most of what is left is the round trip of a reply' : '';
  const isWholeSooner = few.wholeMs <= many.wholeMs * MOST_GROWTH;
  return [
    {
      isSeen: gain >= LEAST_READ_GAIN,
      words: `a reply of 3,000 fields takes ${durationText(many.replyMs)} and one of 30 ${durationText(few.replyMs)}, ${timesText(gain)} less (${timesText(execution)} less of the store's own time) where 500 × were published${gain >= LEAST_READ_GAIN ? '' : why}`,
    },
    {
      isSeen: isWholeSooner,
      words: `${isWholeSooner ? 'and' : 'yet'} the whole hash takes ${durationText(few.wholeMs)} in pieces of 30 and ${durationText(many.wholeMs)} in pieces of 3,000`,
    },
  ];
}

/** As many fields a second either way: whoever reads in pieces sends more commands for them. */
function sparesOthers({ reads }: ValueSizeRows): Part {
  const [whole, few] = [read(reads.rows, BIG_FIELDS).besideP99Ms, read(reads.rows, 30).besideP99Ms];
  const quiet = reads.quietP99Ms;
  if (whole === undefined || few === undefined || quiet === undefined)
    return { isSeen: undefined, words: 'what others feel beside either could not be seen: too few were answered' };
  // What they wait when nobody reads the hash is neither way's doing.
  const isSpared = few <= Math.max(whole, quiet) * MOST_GROWTH;
  return {
    isSeen: isSpared,
    words: `${isSpared ? (few < whole ? 'pieces spare others' : 'pieces cost others no more') : 'pieces do not spare others'}: small reads have a p99 of ${durationText(whole)} beside whole reads and ${durationText(few)} beside pieces of 30 (${durationText(quiet)} beside nothing)`,
  };
}

/** By the store's processor time: rates of two runs differ by more than this on a machine that others use as well. */
function writtenAlike({ writes }: ValueSizeRows): Part {
  const us = (fields: number, pipeline: number): number => {
    const row = writes.find((one) => one.fields === fields && one.pipeline === pipeline);
    if (row === undefined) throw new Error(`no row for ${pipeline} HSET at once into a hash of ${fields} fields`);
    return row.storeUs;
  };
  const [single, many] = WRITE_PIPELINES;
  const growth = us(BIG_FIELDS, single) / us(SMALL_FIELDS, single);
  const costs = (pipeline: number): string =>
    `${amountText(us(BIG_FIELDS, pipeline))} µs instead of ${amountText(us(SMALL_FIELDS, pipeline))}`;
  const isAlike = growth <= MOST_GROWTH;
  return {
    isSeen: isAlike,
    words: `a big hash ${isAlike ? 'does not slow' : 'does slow'} writes: a field of 20,000 takes ${costs(single)} of the store's processor for one of 30, and ${costs(many)} when ${many} are sent at once and packets cost less`,
  };
}

function pipelined({ near }: ValueSizeRows): string {
  const [one, many] = [find(near, 'SET', 4096, 1), find(near, 'SET', 4096, PUBLISHED.pipeline)];
  return `SET of 4 KiB goes from ${perSecondText(one.perSecond)} to ${perSecondText(many.perSecond)} with 5,000 at once (published ${perSecondText(PUBLISHED.pipelinedSetPerSecond)} on another machine)`;
}

function find(rows: readonly Transfer[], way: Way, bytes: number, pipeline: number): Transfer {
  const row = rows.find((one) => one.way === way && one.bytes === bytes && one.pipeline === pipeline);
  if (row === undefined) throw new Error(`no row for ${way} of ${bytes} bytes, ${pipeline} at once`);
  return row;
}

/** The first of so many fields: HMGET, not HSCAN. */
function read<Read extends { readonly fields: number }>(rows: readonly Read[], fields: number): Read {
  const row = rows.find((one) => one.fields === fields);
  if (row === undefined) throw new Error(`no row for reads of ${fields} fields`);
  return row;
}
