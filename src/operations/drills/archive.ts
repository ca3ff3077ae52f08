import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Figures } from '../meter/figures.ts';
import type { UnreadableReport } from './drills.ts';
import type { GuardState } from './guards.ts';
import {
  type DomainResult,
  DRILL_ID,
  type DrillPhase,
  type DrillState,
  decodeJournal,
  decodeJournalHead,
  encodeJournal,
  type Journal,
  MAX_SAMPLES,
  type Mark,
  type ReadJournal,
  type Sample,
  type Verdict,
} from './journal.ts';

/** The journals of drills, kept beyond the end of the process. */
export interface Archive {
  /** Never rejects: a drill goes on when its journal cannot be written. The latest of several waiting writes wins. */
  readonly write: (journal: Journal) => Promise<void>;
  /** Journals without samples, newest first, and files that are not valid journals. */
  readonly heads: () => Promise<{
    readonly journals: readonly Journal[];
    readonly unreadable: readonly UnreadableReport[];
  }>;
  /** Undefined: there is no such journal. */
  readonly read: (id: string) => Promise<ReadJournal | undefined>;
}

interface ArchiveOptions {
  /** Absent: journals are kept in memory, until the process ends. */
  readonly directory?: string;
  /** Number of newest journals kept. */
  readonly keep: number;
  readonly onFault: (id: string, detail: string) => void;
}

/** Maximum number of journals kept in memory: one may have megabytes. */
const MAX_IN_MEMORY = 8;
/** Several times the size of a journal with `MAX_SAMPLES` samples. */
const MAX_FILE_BYTES = 64 * 2 ** 20;
const SUFFIX = '.json';

/** One file per drill, replaced atomically, so that a reader always finds a whole journal. */
export function createArchive({ directory, keep, onFault }: ArchiveOptions): Archive {
  const inMemory = new Map<string, Journal>();
  const heads = new Map<string, { readonly stamp: string; readonly read: ReadJournal }>();
  const waiting = new Map<string, Journal>();
  let writing = Promise.resolve();

  const remember = (journal: Journal): void => {
    inMemory.delete(journal.id);
    inMemory.set(journal.id, journal);
    for (const id of inMemory.keys()) {
      if (inMemory.size <= Math.min(keep, MAX_IN_MEMORY)) break;
      inMemory.delete(id);
    }
  };

  const store = async (folder: string, journal: Journal): Promise<void> => {
    const file = fileOf(folder, journal.id);
    const draft = `${file}.part`;
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(draft, encodeJournal(journal), { mode: 0o640 });
      await rename(draft, file);
      inMemory.delete(journal.id);
      await prune(folder);
    } catch (error) {
      if (!inMemory.has(journal.id)) onFault(journal.id, error instanceof Error ? error.message : String(error));
      remember(journal);
      await rm(draft, { force: true }).catch(() => {});
    }
  };

  const idsIn = async (folder: string): Promise<readonly string[]> => {
    const names = await readdir(folder).catch(() => []);
    const ids = new Set(names.flatMap((name) => idOf(name.replace(/\.part$/, '')) ?? []));
    return [...ids].sort((a, b) => (a < b ? 1 : -1));
  };

  const prune = async (folder: string): Promise<void> => {
    for (const id of (await idsIn(folder)).slice(keep)) {
      heads.delete(id);
      await rm(fileOf(folder, id), { force: true });
      // Left by a process that was killed during a write.
      await rm(`${fileOf(folder, id)}.part`, { force: true });
    }
  };

  /** Undefined: there is no such file, or it was removed meanwhile. */
  const headOf = async (folder: string, id: string): Promise<ReadJournal | undefined> => {
    const file = fileOf(folder, id);
    try {
      const { mtimeMs, size } = await stat(file);
      const stamp = `${mtimeMs}-${size}`;
      const before = heads.get(id);
      if (before?.stamp === stamp) return before.read;
      const read =
        size > MAX_FILE_BYTES ? tooLarge(size) : withOwnId(id, decodeJournalHead(await readFile(file, 'utf8')));
      heads.set(id, { stamp, read });
      return read;
    } catch {
      return undefined;
    }
  };

  return {
    write: (journal) => {
      if (directory === undefined) {
        remember(journal);
        return Promise.resolve();
      }
      const isWaiting = waiting.has(journal.id);
      waiting.set(journal.id, journal);
      if (isWaiting) return writing;
      writing = writing.then(async () => {
        const latest = waiting.get(journal.id);
        waiting.delete(journal.id);
        if (latest !== undefined) await store(directory, latest);
      });
      return writing;
    },
    heads: async () => {
      const kept: Journal[] = [];
      const unreadable: UnreadableReport[] = [];
      if (directory !== undefined) {
        for (const id of (await idsIn(directory)).slice(0, keep)) {
          const read = await headOf(directory, id);
          if (read?.kind === 'journal') kept.push(read.journal);
          if (read?.kind === 'unreadable') unreadable.push({ id, where: fileOf(directory, id), why: read.why });
        }
      }
      const unwritten = [...inMemory.values()].map((journal) => ({ ...journal, samples: [] }));
      const journals = [...unwritten, ...kept.filter(({ id }) => !inMemory.has(id))];
      return { journals: journals.sort((a, b) => b.startedAtMs - a.startedAtMs), unreadable };
    },
    read: async (id) => {
      const here = inMemory.get(id);
      if (here !== undefined) return { kind: 'journal', journal: here };
      // The id comes from a caller: only a valid id becomes a part of a path.
      if (directory === undefined || !DRILL_ID.test(id)) return undefined;
      const file = fileOf(directory, id);
      const size = await stat(file).then(
        (found) => found.size,
        () => undefined,
      );
      if (size === undefined) return undefined;
      if (size > MAX_FILE_BYTES) return tooLarge(size);
      const text = await readFile(file, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : withOwnId(id, decodeJournal(text));
    },
  };
}

function fileOf(folder: string, id: string): string {
  return join(folder, `${id}${SUFFIX}`);
}

function idOf(file: string): string | undefined {
  const id = file.endsWith(SUFFIX) ? file.slice(0, -SUFFIX.length) : '';
  return DRILL_ID.test(id) ? id : undefined;
}

/** A journal in a file with the name of another drill is a copy and is not accepted. */
function withOwnId(id: string, read: ReadJournal): ReadJournal {
  if (read.kind === 'unreadable' || read.journal.id === id) return read;
  return { kind: 'unreadable', why: `it is the journal of ${read.journal.id}` };
}

function tooLarge(size: number): ReadJournal {
  return { kind: 'unreadable', why: `${size} bytes are more than the ${MAX_FILE_BYTES} that a journal may have` };
}

/** Writes the journal of a running drill, in memory. */
export interface JournalWriter {
  /** The journal so far. `withSamples` false: its head, for other processes. */
  readonly read: (withSamples?: boolean) => Journal;
  readonly sample: (sample: Sample) => void;
  readonly mark: (mark: Mark) => void;
  readonly state: (state: DrillState) => void;
  /** Replaces the previous result of the domain. */
  readonly result: (result: DomainResult) => void;
  readonly end: (verdict: Verdict, endedAtMs: number) => void;
}

/** Maximum number of marks of guards: a guard that breaks and holds again every other second would fill any journal. */
const MAX_GUARD_MARKS = 400;

export function createJournalWriter(begun: Omit<Journal, 'samples' | 'marks' | 'learned'>): JournalWriter {
  let head: Omit<Journal, 'samples' | 'marks' | 'learned'> = begun;
  let samples: Sample[] = [];
  const marks: Mark[] = [];
  const results = new Map<string, DomainResult>();
  let guardMarks = 0;
  return {
    read: (withSamples = true) => ({
      ...head,
      samples: withSamples ? [...samples] : [],
      marks: [...marks],
      learned: [...results.values()],
    }),
    sample: (sample) => {
      if (samples.length >= MAX_SAMPLES) samples = samples.filter((_, index) => index % 2 === 0);
      samples.push(sample);
    },
    mark: (mark) => {
      const isGuardMark = mark.kind === 'guard' || mark.kind === 'guard-holds';
      if (isGuardMark && guardMarks >= MAX_GUARD_MARKS) return;
      if (isGuardMark) guardMarks += 1;
      marks.push(mark);
    },
    state: (state) => {
      head = { ...head, state };
    },
    result: (result) => {
      results.set(result.domain, result);
    },
    end: (verdict, endedAtMs) => {
      head = { ...head, state: { kind: 'over' }, verdict, endedAtMs };
    },
  };
}

/** Writes samples and marks of one domain, with their time and the domain. */
interface DomainRecorder {
  readonly mark: (details: MarkDetails) => void;
  /** Also marks guards that have broken, or hold again, at this tick. */
  readonly sample: (at: SamplePosition, figures: Figures | undefined, guards: readonly GuardState[]) => void;
}

interface SamplePosition {
  readonly phase: DrillPhase;
  readonly stage: number;
}

/** A mark without `atMs` and `domain`. */
type MarkDetails = Mark extends infer One ? (One extends Mark ? Omit<One, 'atMs' | 'domain'> : never) : never;

interface DomainRecorderOptions {
  readonly domain: string;
  readonly writer: Pick<JournalWriter, 'mark' | 'sample'>;
  /** Time since the journal began. */
  readonly elapsedMs: () => number;
  readonly onMark: (mark: Mark) => void;
}

export function createDomainRecorder({ domain, writer, elapsedMs, onMark }: DomainRecorderOptions): DomainRecorder {
  const mark = (details: MarkDetails): void => {
    const written = { atMs: Math.round(elapsedMs()), domain, ...details } as Mark;
    writer.mark(written);
    onMark(written);
  };
  return {
    mark,
    sample: (at, figures, guards) => {
      if (figures !== undefined) {
        const states = guards.map(({ rule, value, broken }) => {
          return { figure: rule.figure, ...(value === undefined ? {} : { value }), broken };
        });
        writer.sample({ atMs: Math.round(elapsedMs()), domain, ...at, figures, guards: states });
      }
      for (const { rule, value = 0, turned } of guards) {
        const { figure, max, then } = rule;
        if (turned === 'breached') mark({ kind: 'guard', figure, value, max, then });
        if (turned === 'holds') mark({ kind: 'guard-holds', figure });
      }
    },
  };
}
