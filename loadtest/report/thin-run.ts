import { basename } from 'node:path';
import type { RunRecord, Second } from '../judge/record.ts';
import { machineText } from '../labs/kit/machine.ts';
import { MAX_RECORD_BYTES, recordText } from '../labs/kit/publish.ts';
import type { Sample } from '../sample/sample.ts';

/** A run as it is published: `run.json` without the members that no table and no plot of a page needs. */
export interface ThinnedRun {
  readonly version: 1;
  readonly name: string;
  readonly command: string;
  readonly commit: string;
  readonly startedAt: string;
  readonly tookSeconds: number;
  readonly machine: string;
  /** One of this number of samples is kept: 1 keeps all. */
  readonly sampleStride: number;
  readonly run: Omit<RunRecord, 'seconds' | 'samples' | 'command' | 'commit'> & {
    readonly seconds: Packed;
    readonly samples: Packed;
  };
}

/**
 * Records of one shape as a table with a row for each. A path is made of `/name` for a member and `#0` for an item of a list;
 * null stands for an absent value.
 */
interface Packed {
  /** Values that are the same in all records, by path. */
  readonly same: Readonly<Record<string, Leaf>>;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Leaf[])[];
}

/** A list or an object is an empty one. */
type Leaf = unknown;

/** Members of a sample that no verdict, no table and no published plot reads. */
const UNREAD =
  /\/(?:keys|receivedBytes|sentBytes|connectionsOpened|sheds|misses|memory\w+|loopLagP99Ms|flushedShare|stolenSeconds|outcomes|storeCommands)(?:[/#]|$)/;

/** @throws when the commit of the measured code is unknown, or when the run was not made on the local stack. */
export function thinRun(record: RunRecord): ThinnedRun {
  const { command, commit, seconds, samples, summary, ...rest } = record;
  if (commit === undefined) throw new Error(`${record.id} does not say which commit was measured`);
  if (record.stack !== 'local') throw new Error(`${record.id} was not measured on the local stack: it names machines`);
  const { target, queries } = summary;
  const thinned = (sampleStride: number): ThinnedRun => ({
    version: 1,
    name: summary.script,
    command,
    commit,
    startedAt: new Date(summary.startedAtMs).toISOString(),
    tookSeconds: summary.durationMs / 1000,
    machine: machineText(record.machine),
    sampleStride,
    run: {
      ...rest,
      summary: {
        ...summary,
        target: { baseUrls: target.baseUrls.slice(0, 1), adminUrls: target.adminUrls },
        queries: { ...queries, file: basename(queries.file) },
      },
      seconds: pack(seconds),
      samples: pack(
        samples.filter((_, at) => at % sampleStride === 0),
        (path) => !UNREAD.test(path),
      ),
    },
  });
  // Counters lose nothing when samples are left out; levels lose peaks, so all samples are kept if they fit.
  let stride = 1;
  while (stride < samples.length && Buffer.byteLength(recordText(thinned(stride))) > MAX_RECORD_BYTES) stride *= 2;
  return thinned(stride);
}

/** The run for tables and plots, without the members that were left out. */
export function runOfThinned({ run, command, commit }: ThinnedRun): RunRecord {
  return {
    ...run,
    command,
    commit,
    seconds: unpack(run.seconds) as readonly Second[],
    samples: unpack(run.samples) as readonly Sample[],
  };
}

export function pack(records: readonly object[], isKept: (path: string) => boolean = () => true): Packed {
  const found = records.map((record) => new Map([...leavesOf(record)].filter(([path]) => isKept(path))));
  const paths = [...new Set(found.flatMap((leaves) => [...leaves.keys()]))];
  const isSame = (path: string): boolean =>
    found.every((leaves) => JSON.stringify(leaves.get(path)) === JSON.stringify(found[0]?.get(path)));
  const columns = paths.filter((path) => !isSame(path));
  return {
    same: Object.fromEntries(paths.filter(isSame).map((path) => [path, found[0]?.get(path)])),
    columns,
    rows: found.map((leaves) => columns.map((path) => leaves.get(path) ?? null)),
  };
}

export function unpack({ same, columns, rows }: Packed): readonly unknown[] {
  return rows.map((row) => {
    const record: Record<string, unknown> = {};
    for (const [path, leaf] of [...Object.entries(same), ...columns.map((path, at) => [path, row[at]] as const)]) {
      if (leaf !== null && leaf !== undefined) put(record, path.split(/(?=[/#])/), structuredClone(leaf));
    }
    return record;
  });
}

function* leavesOf(value: unknown, path = ''): Generator<readonly [path: string, leaf: Leaf]> {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (members.length === 0) yield [path, typeof value === 'number' ? rounded(value) : value];
  for (const [name, one] of members) yield* leavesOf(one, `${path}${Array.isArray(value) ? '#' : '/'}${name}`);
}

/** Three decimals: microseconds, milliseconds of processor time and tenths of a per cent are finer than a page shows. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function put(into: Record<string, unknown>, [step = '', ...rest]: readonly string[], leaf: Leaf): void {
  const name = step.slice(1);
  if (rest.length === 0) {
    into[name] = leaf;
    return;
  }
  into[name] ??= rest[0]?.startsWith('#') ? [] : {};
  put(into[name] as Record<string, unknown>, rest, leaf);
}
