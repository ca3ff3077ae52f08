/**
 * `node test/http/lane/differential.ts [--streams N] [--seed N] [--first N] [--folder DIR]`: sends the same byte streams,
 * generated or made of the files of a folder, to a public server with the lane and to one without it, and compares all
 * answers, the end of each connection, and the events and log lines. It ends by itself.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRandom, seedOf } from '../../../loadtest/random.ts';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../../../src/commands/arguments.ts';
import { type Comparer, createComparer, shown } from './compare.ts';
import { faultOf, folderStreams } from './folder.ts';
import { type Played, play } from './play.ts';
import { HIT_TARGETS, type Vocabulary } from './requests.ts';
import { CLOCK_STEP_MS, type Sides, startSides } from './servers.ts';
import { shrunk } from './shrink.ts';
import { STREAM_KINDS, type Stream, type StreamKind, streamOf } from './streams.ts';

export interface DifferentialOptions {
  /** Maximum number; the files of a folder may make fewer. */
  readonly streams: number;
  /** Its files are the streams, see folder.ts. */
  readonly folder?: string;
  readonly seed: number;
  /** Number of the first stream. */
  readonly first?: number;
  /** Stops after this number of differences. */
  readonly maxDifferences?: number;
  /** `off`: compares two servers without a lane, which shows that the comparison itself makes no difference. */
  readonly lane?: 'auto' | 'off';
}

interface KindSums {
  streams: number;
  answers: number;
  /** Answers to requests that Node's parser has not read. */
  byLane: number;
}

export interface DifferentialResult {
  readonly streams: number;
  /** Each with its seed, its bytes and both answers. */
  readonly differences: readonly string[];
  /** Streams with the difference that compare.ts knows. */
  readonly known: number;
  readonly kinds: Readonly<Record<StreamKind, KindSums>>;
  /** Number of answers of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

const DEFAULT_STREAMS = 20_000;
const ALL_KINDS: readonly StreamKind[] = [...STREAM_KINDS, 'file'];
/** Streams that are sent at the same time; a listener holds at most 511 connections that it has not accepted. */
const BATCH = 128;
/** One batch in this number writes log lines. */
const LOGGED = 8;

export async function runDifferential(options: DifferentialOptions): Promise<DifferentialResult> {
  const { seed, first = 0, maxDifferences = 5 } = options;
  const startedMs = performance.now();
  const sides = await startSides(options.lane);
  try {
    await sides.put(HIT_TARGETS, 0);
    const vocabulary: Vocabulary = { targets: HIT_TARGETS, etagOf: sides.etagOf };
    const files = options.folder === undefined ? undefined : folderStreams(options.folder, seed, vocabulary);
    const total = Math.min(options.streams, files === undefined ? Infinity : files.count - first);
    const comparer = createComparer(sides.agesOf);
    const differences: string[] = [];
    const kinds = Object.fromEntries(
      ALL_KINDS.map((kind): [StreamKind, KindSums] => [kind, { streams: 0, answers: 0, byLane: 0 }]),
    ) as Record<StreamKind, KindSums>;
    const statuses: Record<string, number> = {};
    // The content of memory depends on the batches before.
    for (let batch = 0; batch < Math.floor(first / BATCH); batch += 1) await changeContent(sides, seed, batch);
    let [done, known] = [0, 0];
    while (done < total && differences.length < maxDifferences) {
      const from = first + done;
      await changeContent(sides, seed, Math.floor(from / BATCH));
      comparer.timePassed();
      const count = Math.min(BATCH - (from % BATCH), total - done);
      const streams = Array.from({ length: count }, (_, at) =>
        files === undefined ? streamOf(seed, from + at, vocabulary) : files.streamOf(from + at),
      );
      const played = await playAll(sides, streams, comparer);
      for (const [at, { stream, lane, alone, difference, known: isKnown, answers }] of played.streams.entries()) {
        const sums = kinds[stream.kind];
        sums.streams += 1;
        if (isKnown) known += 1;
        sums.answers += answers;
        sums.byLane += Math.max(0, answers - lane.requests);
        for (const [, status = ''] of alone.text.matchAll(STATUS)) statuses[status] = (statuses[status] ?? 0) + 1;
        if (difference === undefined || differences.length >= maxDifferences) continue;
        differences.push(await explained(sides, stream, `seed ${seed}, stream ${from + at}`, difference));
      }
      // Other answers are other events.
      if (played.reports !== undefined && played.streams.every(({ difference }) => difference === undefined)) {
        const name = `seed ${seed}, one of the streams ${from} to ${from + count - 1}`;
        const found = await culprit(sides, played, name);
        if (found !== undefined) differences.push(found);
      }
      done += count;
    }
    differences.push(...comparer.faults());
    return { streams: done, differences, known, kinds, statuses, durationMs: performance.now() - startedMs };
  } finally {
    await sides.close();
  }
}

const STATUS = /HTTP\/1\.1 (\d{3}) /g;

/** Replaces and removes pages and moves the clock, so that no page stays as it was when it was answered first. */
async function changeContent(sides: Sides, seed: number, batch: number): Promise<void> {
  const random = createRandom(seedOf(seed, 'content', batch));
  sides.advance(CLOCK_STEP_MS * random.between(1, 60));
  sides.log(batch % LOGGED === 0);
  await sides.put([random.pick(HIT_TARGETS), random.pick(HIT_TARGETS)], random.between(0, 1));
  if (random.chance(0.3)) sides.remove(random.pick(HIT_TARGETS));
}

interface PlayedBatch {
  readonly streams: readonly {
    readonly stream: Stream;
    readonly lane: Played;
    readonly alone: Played;
    readonly difference: string | undefined;
    readonly known: boolean;
    readonly answers: number;
  }[];
  /** The difference between the events and log lines of all streams. */
  readonly reports: string | undefined;
}

async function playAll(sides: Sides, streams: readonly Stream[], comparer: Comparer): Promise<PlayedBatch> {
  const both = [sides.lane, sides.alone];
  const played = await play(streams, both);
  // A client that has gone leaves slow searches behind; their ends are reported, too.
  for (const { word } of streams) for (const side of both) side.release(word);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  return {
    streams: streams.map((stream, at) => {
      const [lane, alone] = played[at] ?? [];
      if (lane === undefined || alone === undefined) throw new Error('a stream was not played');
      const comparison = comparer.compare(stream, lane, alone);
      const fault = stream.kind === 'file' ? (faultOf(stream, lane) ?? faultOf(stream, alone)) : undefined;
      return { stream, lane, alone, ...comparison, ...(fault && { difference: `${fault}\n${shown(stream)}` }) };
    }),
    reports: reportsOf(sides),
  };
}

/** Events and log lines that one server has and the other has not. */
function reportsOf(sides: Sides): string | undefined {
  const counts = new Map<string, number>();
  for (const report of sides.lane.takeReports()) counts.set(report, (counts.get(report) ?? 0) + 1);
  for (const report of sides.alone.takeReports()) counts.set(report, (counts.get(report) ?? 0) - 1);
  const lines = [...counts]
    .filter(([, count]) => count !== 0)
    .map(([report, count]) => `  ${count > 0 ? 'lane' : 'alone'} ${Math.abs(count)} × ${report}`);
  return lines.length === 0 ? undefined : ['different events or log lines', ...lines.slice(0, 20)].join('\n');
}

/** Maximum number of further trials of one stream, to find a shorter one with a difference of the same sort. */
const MAX_TRIALS = 150;

interface Difference {
  readonly in: 'answers' | 'reports';
  readonly text: string;
}

/** One stream alone. */
async function trial(sides: Sides, stream: Stream): Promise<Difference | undefined> {
  sides.advance(CLOCK_STEP_MS);
  const { streams, reports } = await playAll(sides, [stream], createComparer(sides.agesOf));
  const difference = streams[0]?.difference;
  if (difference !== undefined) return { in: 'answers', text: difference };
  return reports === undefined ? undefined : { in: 'reports', text: `${shown(stream)}\n${reports}` };
}

/** The shortest stream that was found, with its difference. */
async function shortened(sides: Sides, stream: Stream, first: Difference): Promise<string> {
  let last = first;
  const differs = async (shorter: Stream): Promise<boolean> => {
    const again = await trial(sides, shorter);
    if (again?.in !== first.in) return false;
    last = again;
    return true;
  };
  await shrunk(stream, differs, MAX_TRIALS);
  return last === first ? first.text : `shortened: ${last.text}`;
}

async function explained(sides: Sides, stream: Stream, name: string, difference: string): Promise<string> {
  const again = await trial(sides, stream);
  if (again?.in !== 'answers') return `${name}: ${difference}\n  (not when it is sent again alone)`;
  return `${name}: ${await shortened(sides, stream, again)}`;
}

/** Sends the streams of a batch again, and then one by one, to find the one whose events differ. */
async function culprit(sides: Sides, { streams, reports }: PlayedBatch, name: string): Promise<string | undefined> {
  const others = streams.filter(({ known }) => !known).map(({ stream }) => stream);
  if (others.length < streams.length) {
    sides.advance(CLOCK_STEP_MS);
    if ((await playAll(sides, others, createComparer(sides.agesOf))).reports === undefined) return undefined;
  }
  for (const stream of others) {
    const again = await trial(sides, stream);
    if (again !== undefined) return `${name}: ${await shortened(sides, stream, again)}`;
  }
  return `${name}: ${reports}\n  (in no stream that is sent again alone)`;
}

/** One line for each kind, the statuses and the speed. */
export function summaryOf({ streams, kinds, statuses, differences, known, durationMs }: DifferentialResult): string {
  const share = ({ answers, byLane }: KindSums): string =>
    `${answers === 0 ? 0 : Math.round((100 * byLane) / answers)} %`;
  const lines = ALL_KINDS.filter((kind) => kinds[kind].streams > 0).map(
    (kind) =>
      `  ${kind.padEnd(8)} ${kinds[kind].streams} streams, ${kinds[kind].answers} answers, ${share(kinds[kind])} by the lane`,
  );
  const counts = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  const seconds = durationMs / 1000;
  return [
    `${streams} streams, ${differences.length} differences (and ${known} known ones), ${seconds.toFixed(1)} s, ${Math.round(streams / seconds)} streams/s`,
    ...lines,
    `  answers by status: ${counts.join(', ')}`,
  ].join('\n');
}

const PROGRAM: Program = {
  command: 'node test/http/lane/differential.ts',
  usage: '[--streams N] [--seed N] [--first N] [--folder DIR]',
  about: ['Sends byte streams to a server with the lane and to one without it, and compares what both do.'],
  options: [
    { name: 'streams', takes: 'N', about: `number of streams; ${DEFAULT_STREAMS} by default, of a folder all` },
    { name: 'folder', takes: 'DIR', about: 'send the files of a folder, each whole, in pieces and between searches' },
    { name: 'seed', takes: 'N', about: 'seed of the generator; a new one by default' },
    { name: 'first', takes: 'N', about: 'number of the first stream; 0 by default' },
    { name: 'without-lane', about: 'compare two servers without a lane: there must be no difference' },
    { name: 'differences', takes: 'N', about: 'stop after this number of differences; 5 by default' },
  ],
  takes: { min: 0, max: 0 },
};

async function main({ number, text, has }: ParsedArguments): Promise<number> {
  const range = { least: 0, most: 2 ** 32 - 1, whole: true };
  const seed = number('seed', range) ?? seedOf(Date.now());
  const first = number('first', range) ?? 0;
  const maxDifferences = number('differences', range) ?? 5;
  console.log(`seed ${seed}`);
  const folder = text('folder');
  const streams = number('streams', range) ?? (folder === undefined ? DEFAULT_STREAMS : range.most);
  const lane = has('without-lane') ? 'off' : 'auto';
  const result = await runDifferential({ streams, seed, first, maxDifferences, lane, folder });
  for (const difference of result.differences) console.log(`\n${difference}`);
  console.log(summaryOf(result));
  return result.differences.length === 0 ? EXIT.passed : EXIT.failed;
}

if (import.meta.main) process.exitCode = await runProgram(PROGRAM, main);
