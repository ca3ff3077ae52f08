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

/** Where journals outlive the process. */
export interface Archive {
  /** Never rejects: a drill goes on when its report cannot be kept. The latest of several waiting writes wins. */
  readonly write: (journal: Journal) => Promise<void>;
  /** Without samples, newest first. */
  readonly heads: () => Promise<readonly Journal[]>;
  /** Files that the latest `heads` found to be no journals. */
  readonly unreadable: () => readonly UnreadableReport[];
  /** Undefined: there is none. */
  readonly read: (id: string) => Promise<ReadJournal | undefined>;
}

interface ArchiveOptions {
  /** Absent: kept in memory, until the process ends. */
  readonly directory?: string;
  /** Newest journals kept. */
  readonly keep: number;
  readonly onFault: (id: string, detail: string) => void;
}

/** Of those that no directory keeps: a journal may hold megabytes. */
const MAX_IN_MEMORY = 8;
/** Several times what a journal with every sample takes. */
const MAX_FILE_BYTES = 64 * 2 ** 20;
const ENDING = '.json';

/** One file per drill, replaced atomically: whoever reads it finds a whole one. */
export function createArchive({ directory, keep, onFault }: ArchiveOptions): Archive {
  const inMemory = new Map<string, Journal>();
  const known = new Map<string, { readonly stamp: string; readonly read: ReadJournal }>();
  let unreadable: readonly UnreadableReport[] = [];
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
    const file = join(folder, `${journal.id}.json`);
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
      known.delete(id);
      await rm(join(folder, `${id}.json`), { force: true });
      // Of a process that was killed while it wrote.
      await rm(join(folder, `${id}.json.part`), { force: true });
    }
  };

  /** Undefined: there is no such file, or it is gone by now. */
  const headOf = async (folder: string, id: string): Promise<ReadJournal | undefined> => {
    const file = join(folder, `${id}.json`);
    try {
      const { mtimeMs, size } = await stat(file);
      const stamp = `${mtimeMs}-${size}`;
      const before = known.get(id);
      if (before?.stamp === stamp) return before.read;
      const read = size > MAX_FILE_BYTES ? tooLarge(size) : named(id, decodeJournalHead(await readFile(file, 'utf8')));
      known.set(id, { stamp, read });
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
      const found: UnreadableReport[] = [];
      if (directory !== undefined) {
        for (const id of (await idsIn(directory)).slice(0, keep)) {
          const read = await headOf(directory, id);
          if (read?.kind === 'journal') kept.push(read.journal);
          if (read?.kind === 'unreadable') found.push({ id, where: join(directory, `${id}.json`), why: read.why });
        }
      }
      unreadable = found;
      const unwritten = [...inMemory.values()].map((journal) => ({ ...journal, samples: [] }));
      return [...unwritten, ...kept.filter(({ id }) => !inMemory.has(id))].sort(
        (a, b) => b.startedAtMs - a.startedAtMs,
      );
    },
    unreadable: () => unreadable,
    read: async (id) => {
      const here = inMemory.get(id);
      // The id came from a caller: nothing but a name of ours becomes a path.
      if (here !== undefined) return { kind: 'journal', journal: here };
      if (directory === undefined || !DRILL_ID.test(id)) return undefined;
      const file = join(directory, `${id}${ENDING}`);
      const size = await stat(file).then(
        (found) => found.size,
        () => undefined,
      );
      if (size === undefined) return undefined;
      if (size > MAX_FILE_BYTES) return tooLarge(size);
      const text = await readFile(file, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : named(id, decodeJournal(text));
    },
  };
}

function idOf(file: string): string | undefined {
  const id = file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : '';
  return DRILL_ID.test(id) ? id : undefined;
}

/** A journal under another name than its own is somebody's copy. */
function named(id: string, read: ReadJournal): ReadJournal {
  if (read.kind === 'unreadable' || read.journal.id === id) return read;
  return { kind: 'unreadable', why: `it is the journal of ${read.journal.id}` };
}

function tooLarge(size: number): ReadJournal {
  return { kind: 'unreadable', why: `${size} bytes are more than the ${MAX_FILE_BYTES} that a journal may have` };
}

/** The journal of a drill that runs, as it is being written. */
export interface JournalWriter {
  /** As it stands. `withSamples` false: the head alone, to be told to other processes. */
  readonly read: (withSamples?: boolean) => Journal;
  readonly sample: (sample: Sample) => void;
  readonly mark: (mark: Mark) => void;
  readonly state: (state: DrillState) => void;
  /** Takes the place of what was learned of the domain before. */
  readonly learned: (learned: DomainResult) => void;
  readonly end: (verdict: Verdict, endedAtMs: number) => void;
}

/** A guard that breaks and holds every other second would fill any journal. */
const MAX_GUARD_MARKS = 400;

export function createJournalWriter(begun: Omit<Journal, 'samples' | 'marks' | 'learned'>): JournalWriter {
  let head: Omit<Journal, 'samples' | 'marks' | 'learned'> = begun;
  let samples: Sample[] = [];
  const marks: Mark[] = [];
  const learned = new Map<string, DomainResult>();
  let guardMarks = 0;
  return {
    read: (withSamples = true) => ({
      ...head,
      samples: withSamples ? [...samples] : [],
      marks: [...marks],
      learned: [...learned.values()],
    }),
    sample: (sample) => {
      if (samples.length >= MAX_SAMPLES) samples = samples.filter((_, place) => place % 2 === 0);
      samples.push(sample);
    },
    mark: (mark) => {
      const isOfGuard = mark.kind === 'guard' || mark.kind === 'guard-holds';
      if (isOfGuard && guardMarks >= MAX_GUARD_MARKS) return;
      if (isOfGuard) guardMarks += 1;
      marks.push(mark);
    },
    state: (state) => {
      head = { ...head, state };
    },
    learned: (one) => {
      learned.set(one.domain, one);
    },
    end: (verdict, endedAtMs) => {
      head = { ...head, state: { kind: 'over' }, verdict, endedAtMs };
    },
  };
}

/** What one domain's drill writes into the journal, with its time and its domain. */
interface DomainRecorder {
  readonly mark: (what: MarkDetails) => void;
  /** Guards that have just broken, or hold again, are marked as well. */
  readonly sample: (place: Place, figures: Figures | undefined, guards: readonly GuardState[]) => void;
}

interface Place {
  readonly phase: DrillPhase;
  readonly stage: number;
}

/** Of each form of a mark what is not the same for all. */
type MarkDetails = Mark extends infer One ? (One extends Mark ? Omit<One, 'atMs' | 'domain'> : never) : never;

interface DomainRecorderOptions {
  readonly domain: string;
  readonly book: Pick<JournalWriter, 'mark' | 'sample'>;
  /** Since the journal began. */
  readonly elapsedMs: () => number;
  readonly onMark: (mark: Mark) => void;
}

export function createDomainRecorder({ domain, book, elapsedMs, onMark }: DomainRecorderOptions): DomainRecorder {
  const mark = (what: MarkDetails): void => {
    const written = { atMs: Math.round(elapsedMs()), domain, ...what } as Mark;
    book.mark(written);
    onMark(written);
  };
  return {
    mark,
    sample: (place, figures, guards) => {
      if (figures !== undefined) {
        const states = guards.map(({ rule, value, broken }) => {
          return { figure: rule.figure, ...(value === undefined ? {} : { value }), broken };
        });
        book.sample({ atMs: Math.round(elapsedMs()), domain, ...place, figures, guards: states });
      }
      for (const { rule, value = 0, turned } of guards) {
        const { figure, max, then } = rule;
        if (turned === 'breached') mark({ kind: 'guard', figure, value, max, then });
        if (turned === 'holds') mark({ kind: 'guard-holds', figure });
      }
    },
  };
}
