import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Journal } from './journal.ts';
import { decodeJournal, decodeJournalHead, encodeJournal } from './journal-text.ts';

/** Where journals outlive the process. */
export interface Archive {
  /** Never rejects: a drill goes on when its report cannot be kept. The latest of several waiting writes wins. */
  readonly write: (journal: Journal) => Promise<void>;
  /** Without samples, newest first. */
  readonly heads: () => Promise<readonly Journal[]>;
  readonly read: (id: string) => Promise<Journal | undefined>;
}

export interface ArchiveOptions {
  /** Absent: kept in memory, until the process ends. */
  readonly directory?: string;
  /** Newest journals kept. */
  readonly keep: number;
  readonly onFault: (id: string, detail: string) => void;
}

/** Of those that no directory keeps: a journal may hold megabytes. */
const MAX_IN_MEMORY = 8;
const FILE = /^([0-9]{8}-[0-9]{6}-[a-z0-9_-]{1,200})\.json$/;

/** One file per drill, replaced atomically: whoever reads it finds a whole one. */
export function createArchive({ directory, keep, onFault }: ArchiveOptions): Archive {
  const inMemory = new Map<string, Journal>();
  const known = new Map<string, { readonly stamp: string; readonly head: Journal }>();
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
    const ids = new Set(names.flatMap((name) => FILE.exec(name.replace(/\.part$/, ''))?.[1] ?? []));
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

  const headOf = async (folder: string, id: string): Promise<readonly Journal[]> => {
    const file = join(folder, `${id}.json`);
    try {
      const { mtimeMs, size } = await stat(file);
      const stamp = `${mtimeMs}-${size}`;
      const before = known.get(id);
      if (before?.stamp === stamp) return [before.head];
      const head = decodeJournalHead(await readFile(file, 'utf8'));
      if (head?.id !== id) return [];
      known.set(id, { stamp, head });
      return [head];
    } catch {
      return [];
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
      if (directory !== undefined) {
        for (const id of (await idsIn(directory)).slice(0, keep)) kept.push(...(await headOf(directory, id)));
      }
      const unwritten = [...inMemory.values()].map((journal) => ({ ...journal, samples: [] }));
      return [...unwritten, ...kept.filter(({ id }) => !inMemory.has(id))].sort(
        (a, b) => b.startedAtMs - a.startedAtMs,
      );
    },
    read: async (id) => {
      const here = inMemory.get(id);
      // The id came from a caller: nothing but a name of ours becomes a path.
      if (here !== undefined || directory === undefined || !FILE.test(`${id}.json`)) return here;
      const text = await readFile(join(directory, `${id}.json`), 'utf8').catch(() => undefined);
      const journal = text === undefined ? undefined : decodeJournal(text);
      return journal?.id === id ? journal : undefined;
    },
  };
}
