import { accessSync, constants, statSync } from 'node:fs';
import { linesOf } from '../catalogue/csv.ts';
import { createProgress } from '../catalogue/progress.ts';
import type { WarmUp } from '../operations/warm/warm.ts';
import { duration, grouped } from './admin/format.ts';
import { type Desk, operatorCommand } from './admin/operator-command.ts';
import { pause } from './admin/pause.ts';
import { fileBytes, quoted, UsageError, type Words } from './arguments.ts';
import type { Command } from './command.ts';

const MAX_PER_SECOND = 50;

export const warm: Command = operatorCommand({
  name: 'warm',
  usage: '<domain> [--from popular | --queries FILE[.gz]] [--max-per-second 50] [--from-line N]',
  summary: "fill a domain's cache with what its engine has to spare, behind people and never at their cost",
  options: [
    { name: 'from', takes: 'popular', about: 'what is asked most, unless a file is named' },
    { name: 'queries', takes: 'FILE', about: 'one a line: words, or q=…&filter=…; what follows a tab is ignored' },
    { name: 'max-per-second', takes: 'N', about: `engine calls at most; ${MAX_PER_SECOND} unless said` },
    { name: 'from-line', takes: 'N', about: 'go on with a file here' },
    { name: 'top', takes: 'N', about: 'with popular: how many of them' },
  ],
  takes: { min: 1, max: 1 },
  details: ['Ctrl-C stops the warm-up and prints the command that goes on with it.'],
  run: async (desk) => {
    const { words, client, output } = desk;
    const [domain = ''] = words.positionals;
    const file = words.text('queries');
    const from = words.text('from') ?? (file === undefined ? 'popular' : 'queries');
    if (from !== (file === undefined ? 'popular' : 'queries')) {
      throw new UsageError('--from popular, or --queries FILE: one of them');
    }
    const top = words.number('top');
    const maxPerSecond = words.number('max-per-second') ?? MAX_PER_SECOND;
    const fromLine = words.number('from-line', { least: 1, most: Number.MAX_SAFE_INTEGER, whole: true }) ?? 1;
    const ask = { domain, from, maxPerSecond, ...(top === undefined ? {} : { top }) };
    if (file !== undefined) assertReadable(file);
    const started = await client.post<WarmUp>('/admin/warm', ask, { evenIfStopped: true });
    const feed = file === undefined ? undefined : feedFile(desk, { id: started.id, domain, file, fromLine });
    try {
      const fed = (await feed?.done) ?? started;
      const over = isOver(fed) ? fed : await followWarmUp(desk, fed);
      if (over.state === 'stopped') throw new Error('somebody stopped it before its end');
      output.result(over, () => warmUpText(over));
    } catch (error) {
      const stopped = await stop(desk, started.id);
      const line = feed?.reached(stopped);
      const resume = resumeCommand(words, line);
      if (stopped !== undefined) output.result({ ...stopped, resume, fromLine: line }, () => warmUpText(stopped));
      output.remark(`go on with it: ${resume}`);
      throw error;
    }
  },
});

/** Before anything is begun. */
function assertReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new UsageError(`${file} cannot be read`);
  }
}

/** Undefined where it cannot be told any more: it stops by itself when nobody feeds it. */
async function stop({ client }: Desk, id: string): Promise<WarmUp | undefined> {
  try {
    return await client.post<WarmUp>(`/admin/warm/${encodeURIComponent(id)}/stop`, {}, { evenIfStopped: true });
  } catch {
    return undefined;
  }
}

/** A query file on its way into a warm-up. */
export interface Feed {
  /** When all lines were taken, or the warm-up ended before. */
  readonly done: Promise<WarmUp>;
  /** The line to go on with: all before it are settled. */
  readonly reached: (latest: WarmUp | undefined) => number;
}

export interface FeedOptions {
  readonly id: string;
  readonly domain: string;
  readonly file: string;
  readonly fromLine: number;
}

/** What one request takes. */
const MAX_QUERIES = 500;
const MAX_PIECE_BYTES = 48 * 1024;
const MAX_QUERY_CHARACTERS = 2048;
const MAX_LINE_BYTES = 8192;
/** While it has no room: as long as it takes to make some at the lowest rate worth watching. */
const NO_ROOM_MS = 500;

interface Numbered {
  readonly line: number;
  readonly query: string;
}

export function feedFile(desk: Desk, { id, domain, file, fromLine }: FeedOptions): Feed {
  const { client, clock, stderr, signal } = desk;
  const path = `/admin/warm/${encodeURIComponent(id)}/queries`;
  const totalBytes = sizeOf(file);
  const source = fileBytes(file, signal);
  const progress = createProgress({ label: `warming ${domain}`, unit: 'queries', output: stderr, clock });
  /** Taken and not settled yet, in order: no more than the service has room for. */
  const outstanding: number[] = [];
  let settled = 0;
  let nextLine = fromLine;

  const settle = (warmUp: WarmUp): void => {
    outstanding.splice(0, warmUp.settled - settled);
    settled = warmUp.settled;
    progress.update(settled, source.bytesRead() / totalBytes);
  };

  const send = async (batch: readonly Numbered[], last: boolean): Promise<WarmUp> => {
    for (let rest = batch; ; ) {
      signal.throwIfAborted();
      const queries = rest.map(({ query }) => query);
      const { taken, warmUp } = await client.post<{ taken: number; warmUp: WarmUp }>(path, { queries, last });
      outstanding.push(...rest.slice(0, taken).map(({ line }) => line));
      rest = rest.slice(taken);
      nextLine = rest[0]?.line ?? nextLine;
      settle(warmUp);
      if (rest.length === 0 || isOver(warmUp)) return warmUp;
      await pause(NO_ROOM_MS, signal);
    }
  };

  const run = async (): Promise<WarmUp> => {
    let batch: Numbered[] = [];
    let batchBytes = 0;
    for await (const { number, bytes } of linesOf(source.chunks, MAX_LINE_BYTES)) {
      if (number < fromLine) continue;
      const query = bytes?.toString('utf8').split('\t')[0]?.trim();
      if (query === '') continue;
      if (query === undefined || query.length > MAX_QUERY_CHARACTERS) {
        progress.note(`skipped: line ${number} is too long`);
        continue;
      }
      batch.push({ line: number, query });
      nextLine = batch[0]?.line ?? number;
      batchBytes += bytesInJson(query);
      if (batch.length < MAX_QUERIES && batchBytes < MAX_PIECE_BYTES) continue;
      const warmUp = await send(batch, false);
      if (isOver(warmUp)) return warmUp;
      batch = [];
      batchBytes = 0;
      nextLine = number + 1;
    }
    return send(batch, true);
  };

  return {
    done: run().finally(progress.finish),
    reached: (latest) => {
      if (latest !== undefined) settle(latest);
      return outstanding[0] ?? nextLine;
    },
  };
}

function bytesInJson(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}

function sizeOf(file: string): number {
  try {
    return Math.max(1, statSync(file).size);
  } catch {
    // Reading it says why.
    return 1;
  }
}

const LOOK_MS = 500;

export function isOver({ state }: WarmUp): boolean {
  return state === 'done' || state === 'stopped';
}

/** Waits until what a warm-up has taken is settled, with progress. */
export async function followWarmUp({ client, stderr, clock, signal }: Desk, started: WarmUp): Promise<WarmUp> {
  const { id, domain, taken } = started;
  const progress = createProgress({ label: `warming ${domain}`, total: taken, unit: 'queries', output: stderr, clock });
  try {
    for (;;) {
      const { warmUps } = await client.get<{ warmUps: readonly WarmUp[] }>('/admin/warm');
      const warmUp = warmUps.find((each) => each.id === id);
      if (warmUp === undefined) throw new Error(`the service does not know the warm-up ${id} any more`);
      progress.update(warmUp.settled);
      if (isOver(warmUp)) return warmUp;
      await pause(LOOK_MS, signal);
    }
  } finally {
    progress.finish();
  }
}

export function warmUpText({ domain, state, settled, cached, computed, invalid, failed, seconds }: WarmUp): string {
  const parts = [
    `${grouped(computed)} computed`,
    `${grouped(cached)} were cached`,
    ...(invalid > 0 ? [`${grouped(invalid)} are no search`] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed or were refused`] : []),
  ];
  return `${domain}: warm-up ${state}, ${grouped(settled)} queries in ${duration(seconds * 1000)}: ${parts.join(', ')}`;
}

const KEPT = ['queries', 'from', 'max-per-second', 'top', 'reason', 'admin', 'token-file'];

/** The command that goes on with an interrupted warm-up, as a shell takes it. */
export function resumeCommand(words: Words, fromLine: number | undefined): string {
  const options = KEPT.flatMap((name) => words.texts(name).flatMap((value) => [`--${name}`, quoted(value)]));
  const line = fromLine === undefined ? [] : ['--from-line', String(fromLine)];
  return ['serpcache warm', ...words.positionals.map(quoted), ...options, ...line].join(' ');
}
