import { statSync } from 'node:fs';
import { linesOf } from '../../catalogue/lines.ts';
import { createProgress } from '../../catalogue/progress.ts';
import type { WarmUp } from '../../warm/warm.ts';
import type { Desk } from '../admin/operator-command.ts';
import { pause } from '../admin/pause.ts';
import { fileBytes } from '../file-bytes.ts';
import { isOver } from './follow.ts';

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
