import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineWords } from '../labs/kit/machine.ts';
import { type Figure, figureOf } from './verdict.ts';

/** The figure that a bench is judged by, and how it was measured. */
export interface CommittedFigure extends Figure {
  /** The figure of each start, in the order they were measured. */
  readonly starts: readonly number[];
  /** Load on each of both servers, at each start. */
  readonly seconds: number;
  readonly command: string;
  /** Commit of the measured code; absent outside of a repository. */
  readonly commit?: string;
  readonly machine: string;
  readonly startedAt: string;
}

export type CommittedFigures = Readonly<Record<string, CommittedFigure>>;

export const COMMITTED_FILE = join(import.meta.dirname, 'committed.json');
const VERSION = 1;

/** Empty where there is no file. @throws when it holds something else. */
export function readCommitted(file = COMMITTED_FILE): CommittedFigures {
  if (!existsSync(file)) return {};
  try {
    const { version, benches } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly version?: unknown;
      readonly benches?: CommittedFigures;
    };
    const isWhole =
      version === VERSION &&
      Object.values(benches ?? {}).every(({ figure, noise }) => [figure, noise].every(Number.isFinite));
    if (benches === undefined || !isWhole) throw new Error(`it is not version ${VERSION}`);
    return benches;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Replaces the figure of one bench; those of others stay. */
export function writeCommitted(name: string, committed: CommittedFigure, file = COMMITTED_FILE): void {
  const text = JSON.stringify({ version: VERSION, benches: { ...readCommitted(file), [name]: committed } }, null, 2);
  // In one step: an interrupted write must not take the other figures along.
  writeFileSync(`${file}.new`, `${text}\n`);
  renameSync(`${file}.new`, file);
}

export interface Measured {
  readonly name: string;
  readonly commit: string | undefined;
  readonly starts: readonly number[];
  readonly seconds: number;
  readonly startedAt: string;
}

export async function committedOf({ name, commit, starts, seconds, startedAt }: Measured): Promise<CommittedFigure> {
  // The figure is that of the starts as they are written.
  const written = starts.map((start) => Number(start.toFixed(4)));
  return {
    ...figureOf(written),
    starts: written,
    seconds,
    command: `npm run bench -- ${name} --commit`,
    ...(commit !== undefined && { commit }),
    machine: await machineWords(['node', 'redis-server', 'wrk']),
    startedAt,
  };
}
