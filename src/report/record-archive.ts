import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Decoded } from '../schema/fields.ts';

/** The figures of one drill or one shadow. */
interface ArchivedRecord {
  readonly id: string;
  readonly startedAtMs: number;
  readonly samples: readonly unknown[];
}

/** The id of a record. A word that does not match is never used as a file name. */
export const RECORD_ID = /^[0-9]{8}-[0-9]{6}-[a-z0-9_-]{1,200}$/;

/** A time until 2100: a later one would always be first in the list and cannot be shown. */
export const recordTime = () =>
  Type.Number({ minimum: 0, maximum: Date.UTC(2100, 0, 1), description: 'Milliseconds since 1970-01-01T00:00Z.' });

/**
 * `20261121-064348-goods-canary-x7q2`: sorts by time, safe as a file name. `words` say what the record is about, such as
 * its domain.
 */
export function recordId(given: { atMs: number; words: readonly string[]; random: () => number }): string {
  const { atMs, words, random } = given;
  const [day = '', time = ''] = new Date(atMs).toISOString().replaceAll(/[-:]/g, '').split('T');
  const safe = words.map((word) =>
    word
      .toLowerCase()
      .replaceAll(/[^a-z0-9_-]/g, '-')
      .slice(0, 64),
  );
  // Two processes may begin a record within the same second.
  const suffix = Math.floor(random() * 36 ** 4).toString(36);
  return [day, time.slice(0, 6), ...safe, suffix.padStart(4, '0')].join('-');
}

/** JSON strings contain no raw line end, so the samples are found without parsing. */
const SAMPLES = ',"samples":[\n';

/** JSON with one sample per line and the samples last, so that the head can be read without them. */
export function encodeRecord<R extends ArchivedRecord>({ samples, ...head }: R): string {
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)}${SAMPLES}${lines}\n]}\n`;
}

const MAX_WHY_CHARACTERS = 200;

/**
 * Validates records by a schema: another version, or anyone with access to a store, may have written them. Nothing throws.
 * @param what the kind of record in words: `journal`
 * @param of what it is about: `a drill`
 */
export function createRecordReader<S extends TSchema>(schema: S, what: string, of: string) {
  type Record = Decoded<S>;
  const shape = Compile(schema);
  const isRecord = (value: unknown): value is Record => shape.Check(value);
  const noRecord: ReadRecord<Record> = { kind: 'unreadable', why: `it is no ${what} of ${of}` };
  const read = (value: unknown): ReadRecord<Record> => {
    if (isRecord(value)) return { kind: 'record', record: value };
    const [first] = shape.Errors(value);
    if (first === undefined) return noRecord;
    const where = first.instancePath === '' ? `the ${what}` : first.instancePath;
    return { kind: 'unreadable', why: `${where} ${first.message}`.slice(0, MAX_WHY_CHARACTERS) };
  };
  const decode = (text: string): ReadRecord<Record> => {
    try {
      return read(JSON.parse(text));
    } catch {
      return { kind: 'unreadable', why: 'it is no JSON' };
    }
  };
  /** The record without its samples. */
  const decodeHead = (text: string): ReadRecord<Record> => {
    const end = text.indexOf(SAMPLES);
    return end < 0 ? noRecord : decode(`${text.slice(0, end)},"samples":[]}`);
  };
  return { what, read, decode, decodeHead };
}

type ReadRecord<R> =
  | { readonly kind: 'record'; readonly record: R }
  /** `why`: in words for people, bounded. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** Records kept beyond the end of the process. */
export type RecordArchive<R extends ArchivedRecord> = ReturnType<typeof createRecordArchive<R>>;

interface RecordArchiveOptions<R> {
  readonly reader: {
    readonly what: string;
    readonly decode: (text: string) => ReadRecord<R>;
    readonly decodeHead: (text: string) => ReadRecord<R>;
  };
  /** Absent: records are kept in memory, until the process ends. */
  readonly directory?: string;
  /** Number of newest records kept. */
  readonly keep: number;
  readonly onFault: (id: string, detail: string) => void;
}

/** Maximum number of records kept in memory: one may have megabytes. */
const MAX_IN_MEMORY = 8;
/** Several times the size of a record with the maximum number of samples. */
const MAX_FILE_BYTES = 64 * 2 ** 20;

/** One file per record, replaced atomically, so that a reader always finds a whole record. */
export function createRecordArchive<R extends ArchivedRecord>(options: RecordArchiveOptions<R>) {
  const { directory, keep, onFault } = options;
  const { what, decode, decodeHead } = options.reader;
  const inMemory = new Map<string, R>();
  const heads = new Map<string, { readonly stamp: string; readonly read: ReadRecord<R> }>();
  const waiting = new Map<string, R>();
  let writing = Promise.resolve();

  const remember = (record: R): void => {
    inMemory.delete(record.id);
    inMemory.set(record.id, record);
    for (const id of inMemory.keys()) {
      if (inMemory.size <= Math.min(keep, MAX_IN_MEMORY)) break;
      inMemory.delete(id);
    }
  };

  const store = async (folder: string, record: R): Promise<void> => {
    const file = fileOf(folder, record.id);
    const draft = `${file}.part`;
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(draft, encodeRecord(record), { mode: 0o640 });
      await rename(draft, file);
      inMemory.delete(record.id);
      await prune(folder);
    } catch (error) {
      if (!inMemory.has(record.id)) onFault(record.id, error instanceof Error ? error.message : String(error));
      remember(record);
      await rm(draft, { force: true }).catch(() => {});
    }
  };

  const prune = async (folder: string): Promise<void> => {
    for (const id of (await idsIn(folder)).slice(keep)) {
      heads.delete(id);
      await rm(fileOf(folder, id), { force: true });
      // Left by a process that was killed during a write.
      await rm(`${fileOf(folder, id)}.part`, { force: true });
    }
  };

  /** A record in a file with the name of another one is a copy and is not accepted. */
  const withOwnId = (id: string, read: ReadRecord<R>): ReadRecord<R> => {
    if (read.kind === 'unreadable' || read.record.id === id) return read;
    return { kind: 'unreadable', why: `it is the ${what} of ${read.record.id}` };
  };
  const tooLarge = (size: number): ReadRecord<R> => {
    return { kind: 'unreadable', why: `${size} bytes are more than the ${MAX_FILE_BYTES} that a ${what} may have` };
  };

  /** Undefined: there is no such file, or it was removed meanwhile. */
  const headOf = async (folder: string, id: string): Promise<ReadRecord<R> | undefined> => {
    const file = fileOf(folder, id);
    try {
      const { mtimeMs, size } = await stat(file);
      const stamp = `${mtimeMs}-${size}`;
      const before = heads.get(id);
      if (before?.stamp === stamp) return before.read;
      const read = size > MAX_FILE_BYTES ? tooLarge(size) : withOwnId(id, decodeHead(await readFile(file, 'utf8')));
      heads.set(id, { stamp, read });
      return read;
    } catch {
      return undefined;
    }
  };

  return {
    /** Never rejects: the work goes on when its record cannot be written. The latest of several waiting writes wins. */
    write: (record: R): Promise<void> => {
      if (directory === undefined) {
        remember(record);
        return Promise.resolve();
      }
      const isWaiting = waiting.has(record.id);
      waiting.set(record.id, record);
      if (isWaiting) return writing;
      writing = writing.then(async () => {
        const latest = waiting.get(record.id);
        waiting.delete(record.id);
        if (latest !== undefined) await store(directory, latest);
      });
      return writing;
    },
    /** Records without samples, newest first, and files that are not valid records. */
    heads: async () => {
      const kept: R[] = [];
      const unreadable: { readonly id: string; readonly where: string; readonly why: string }[] = [];
      if (directory !== undefined) {
        for (const id of (await idsIn(directory)).slice(0, keep)) {
          const read = await headOf(directory, id);
          if (read?.kind === 'record') kept.push(read.record);
          if (read?.kind === 'unreadable') unreadable.push({ id, where: fileOf(directory, id), why: read.why });
        }
      }
      const unwritten = [...inMemory.values()].map((record) => ({ ...record, samples: [] }));
      const records = [...unwritten, ...kept.filter(({ id }) => !inMemory.has(id))];
      return { records: records.sort((a, b) => b.startedAtMs - a.startedAtMs), unreadable };
    },
    /** Undefined: there is no such record. */
    read: async (id: string): Promise<ReadRecord<R> | undefined> => {
      const here = inMemory.get(id);
      if (here !== undefined) return { kind: 'record', record: here };
      // The id comes from a caller: only a valid id becomes a part of a path.
      if (directory === undefined || !RECORD_ID.test(id)) return undefined;
      const file = fileOf(directory, id);
      try {
        const { size } = await stat(file);
        return size > MAX_FILE_BYTES ? tooLarge(size) : withOwnId(id, decode(await readFile(file, 'utf8')));
      } catch {
        return undefined;
      }
    },
  };
}

/** Newest first. */
async function idsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const ids = names.map((name) => name.replace(/\.json(?:\.part)?$/, '')).filter((id) => RECORD_ID.test(id));
  return [...new Set(ids)].sort().reverse();
}

function fileOf(folder: string, id: string): string {
  return join(folder, `${id}.json`);
}
