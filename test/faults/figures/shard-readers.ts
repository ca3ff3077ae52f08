import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ReaderTask, ShardReads } from './shard-reader.ts';

/** Processes that read from a cluster, all the time. */
export interface ShardReaders {
  readonly begin: () => Promise<void>;
  /** What became of the reads since `begin`, of all processes together, by shard. */
  readonly end: () => Promise<readonly ShardReads[]>;
  readonly stop: () => Promise<void>;
}

export async function startShardReaders(task: Omit<ReaderTask, 'seed'>, processes: number): Promise<ShardReaders> {
  const children = Array.from({ length: processes }, () => fork(join(import.meta.dirname, 'shard-reader.ts')));
  const ask = async (child: ChildProcess, message: object | string): Promise<unknown> => {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
    child.send(message);
    const [said] = await answer;
    return said;
  };
  const askAll = (message: string): Promise<unknown[]> => Promise.all(children.map((child) => ask(child, message)));
  await Promise.all(children.map((child, seed) => ask(child, { ...task, seed })));
  return {
    begin: async () => {
      await askAll('begin');
    },
    end: async () => {
      const noted = (await askAll('end')) as ShardReads[][];
      return task.nodes.map((_, shard) => together(noted.flatMap((shards) => shards[shard] ?? [])));
    },
    stop: async () => {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.disconnect();
      await Promise.all(ended);
    },
  };
}

const ANSWER_MS = 20_000;

function together(parts: readonly ShardReads[]): ShardReads {
  const sum = (what: 'values' | 'slow' | 'refused' | 'overdue'): number =>
    parts.reduce((total, part) => total + part[what], 0);
  return {
    durationsMs: parts.flatMap(({ durationsMs }) => durationsMs),
    values: sum('values'),
    slow: sum('slow'),
    refused: sum('refused'),
    overdue: sum('overdue'),
  };
}
