import { statSync } from 'node:fs';
import { fileBytes, fileLines } from '../catalogue/file.ts';
import type { WarmUp } from '../operations/warm/warm.ts';
import { countText, durationText } from '../report/format.ts';
import { sleep } from './admin-client.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { assertReadable, type OperatorContext, operatorCommand, resumeCommand } from './operator-command.ts';
import { createProgress } from './terminal.ts';

const MAX_PER_SECOND = 50;

/** Fills the cache of a domain from its popular queries or from a file of queries, and shows the progress. */
export const warm: Command = operatorCommand({
  name: 'warm',
  usage: '<domain> [--from popular | --queries FILE[.gz|.zst]] [--max-per-second 50] [--from-line N]',
  summary: "fill a domain's cache with the spare capacity of its engine; searches of people always go first",
  options: [
    { name: 'from', takes: 'popular', about: 'the most frequent queries; the default without --queries' },
    {
      name: 'queries',
      takes: 'FILE',
      about: 'one query per line: words, or q=…&filter=…; text after a tab is ignored',
    },
    { name: 'max-per-second', takes: 'N', about: `maximum rate of engine calls; ${MAX_PER_SECOND} by default` },
    { name: 'from-line', takes: 'N', about: 'resume a file from this line' },
    { name: 'top', takes: 'N', about: 'with popular: number of queries' },
  ],
  takes: { min: 1, max: 1 },
  details: ['Ctrl-C stops the warm-up and prints the command that resumes it.'],
  run: async (context) => {
    const { args, client, output } = context;
    const [domain = ''] = args.positionals;
    const file = args.text('queries');
    const from = args.text('from') ?? (file === undefined ? 'popular' : 'queries');
    if (from !== (file === undefined ? 'popular' : 'queries')) {
      throw new UsageError('--from popular, or --queries FILE: only one of them');
    }
    const maxPerSecond = args.number('max-per-second') ?? MAX_PER_SECOND;
    const ask = { domain, from, maxPerSecond, top: args.number('top') };
    const fromLine = args.number('from-line', { least: 1, most: Number.MAX_SAFE_INTEGER, whole: true }) ?? 1;
    if (file !== undefined) assertReadable(file);
    const started = await client.post<WarmUp>('/admin/warm', ask, { evenIfStopped: true });
    const feed = file === undefined ? undefined : feedFile(context, started, file, fromLine);
    try {
      const fed = (await feed?.done) ?? started;
      const over = isOver(fed) ? fed : await followWarmUp(context, fed);
      if (over.state === 'stopped') throw new Error('another operator stopped it before its end');
      output.result(over, () => warmUpText(over));
    } catch (error) {
      const stopped = await stop(context, started.id);
      const line = feed?.reached(stopped);
      const resume = resumeCommand('warm', KEPT, args, line);
      if (stopped !== undefined) output.result({ ...stopped, resume, fromLine: line }, () => warmUpText(stopped));
      output.remark(`go on with it: ${resume}`);
      throw error;
    }
  },
});

/** Undefined when the service does not answer: a warm-up without new queries stops by itself. */
async function stop({ client }: OperatorContext, id: string): Promise<WarmUp | undefined> {
  try {
    return await client.post<WarmUp>(`/admin/warm/${encodeURIComponent(id)}/stop`, {}, { evenIfStopped: true });
  } catch {
    return undefined;
  }
}

/** Limits of one request. */
const MAX_QUERIES = 500;
const MAX_PIECE_BYTES = 48 * 1024;
const MAX_QUERY_CHARACTERS = 2048;
const MAX_LINE_BYTES = 8192;
/** Interval between tries while the service has no room for more queries. */
const NO_ROOM_MS = 500;

interface Numbered {
  readonly line: number;
  readonly query: string;
}

/** Sends a query file to a warm-up in batches, from this line on. */
function feedFile(context: OperatorContext, { id, domain }: WarmUp, file: string, fromLine: number) {
  const { client, clock, stderr, signal } = context;
  const path = `/admin/warm/${encodeURIComponent(id)}/queries`;
  // Reading a file that is gone by now reports the reason.
  const totalBytes = Math.max(1, statSync(file, { throwIfNoEntry: false })?.size ?? 1);
  const source = fileBytes(file, signal);
  const progress = createProgress({ label: `warming ${domain}`, unit: 'queries', output: stderr, clock });
  /** Line numbers that are taken and not settled yet, in order. The service's own bound limits their number. */
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
      await sleep(NO_ROOM_MS, signal);
    }
  };

  const run = async (): Promise<WarmUp> => {
    let batch: Numbered[] = [];
    let batchBytes = 0;
    for await (const { number, bytes } of fileLines(source.chunks, MAX_LINE_BYTES)) {
      if (number < fromLine) continue;
      const query = bytes?.toString('utf8').split('\t')[0]?.trim();
      if (query === '') continue;
      if (query === undefined || query.length > MAX_QUERY_CHARACTERS) {
        progress.note(`skipped: line ${number} is too long`);
        continue;
      }
      batch.push({ line: number, query });
      nextLine = batch[0]?.line ?? number;
      batchBytes += Buffer.byteLength(JSON.stringify(query)) + 1;
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
    /** Resolves when the service has taken all lines, or the warm-up has ended. */
    done: run().finally(progress.finish),
    /** The line to resume from: all lines before it are settled. */
    reached: (latest: WarmUp | undefined): number => {
      if (latest !== undefined) settle(latest);
      return outstanding[0] ?? nextLine;
    },
  };
}

const POLL_MS = 500;

function isOver({ state }: WarmUp): boolean {
  return state === 'done' || state === 'stopped';
}

/** Waits until a warm-up has settled all its queries, and shows progress. */
async function followWarmUp({ client, stderr, clock, signal }: OperatorContext, started: WarmUp): Promise<WarmUp> {
  const { id, domain, taken } = started;
  const progress = createProgress({ label: `warming ${domain}`, total: taken, unit: 'queries', output: stderr, clock });
  try {
    for (;;) {
      const { warmUps } = await client.get<{ warmUps: readonly WarmUp[] }>('/admin/warm');
      const warmUp = warmUps.find((each) => each.id === id);
      if (warmUp === undefined) throw new Error(`the service does not know the warm-up ${id} any more`);
      progress.update(warmUp.settled);
      if (isOver(warmUp)) return warmUp;
      await sleep(POLL_MS, signal);
    }
  } finally {
    progress.finish();
  }
}

function warmUpText({ domain, state, settled, cached, computed, invalid, failed, seconds }: WarmUp): string {
  const parts = [
    `${countText(computed)} computed`,
    `${countText(cached)} were cached`,
    ...(invalid > 0 ? [`${countText(invalid)} are no search`] : []),
    ...(failed > 0 ? [`${countText(failed)} failed or were refused`] : []),
  ];
  return `${domain}: warm-up ${state}, ${countText(settled)} queries in ${durationText(seconds * 1000)}: ${parts.join(', ')}`;
}

const KEPT = ['queries', 'from', 'max-per-second', 'top', 'reason', 'admin', 'token-file'];
