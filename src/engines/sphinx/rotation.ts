import type { ResultSets } from './connection.ts';
import type { Dialect } from './rows.ts';

interface RotationWatchOptions {
  /** One index or several, as a search names them. */
  readonly index: string;
  readonly dialect: Dialect;
  /** One plain index at least was replaced since the reading before. */
  readonly onReplaced: () => void;
}

/**
 * Sees the rotation of a plain index (`indexer --rotate`), or of a local part of a distributed one, between two readings.
 * searchd has no event and no counter of rotations: another index has other figures, so a restart over the same one is none.
 * Not seen: an index with the same figures (other numbers or words of equal length; see `indexerLine` in source.ts), agents,
 * whose figures searchd does not tell, and TRUNCATE and ATTACH of a real-time table, whose figures change with each document.
 */
export function createRotationWatch({ index, dialect, onReplaced }: RotationWatchOptions) {
  const names = index.split(',').map((name) => name.trim());
  let seen: string | undefined;

  return {
    /** @throws SearchError; the next reading is then compared with the one before. */
    read: async (send: (sql: string) => Promise<ResultSets>): Promise<void> => {
      const rowsOf = async (sql: string) => (await send(sql))[0] ?? [];
      const all: string[] = [];
      for (const name of names) {
        const columns = await rowsOf(`DESCRIBE ${name}`);
        // A distributed index is described by its parts; Sphinx refuses the statement below for it.
        const isDistributed = !columns.some(([column]) => column === 'id');
        const locals = columns.filter(([, type]) => type === 'local').map(([part]) => part ?? '');
        for (const part of isDistributed ? locals : [name]) {
          const status = await rowsOf(`SHOW ${dialect === 'manticore' ? 'TABLE' : 'INDEX'} ${part} STATUS`);
          all.push(`${part} ${figuresOf(Object.fromEntries(status))}`);
        }
      }
      const now = all.join('; ');
      const isReplaced = seen !== undefined && seen !== now;
      seen = now;
      if (isReplaced) onReplaced();
    },
  };
}

/** The names of both servers. */
const PLAIN: ReadonlySet<string> = new Set(['disk', 'local']);

/** Figures of SHOW INDEX … STATUS that UPDATE leaves as they are; undefined for a real-time table. */
export function figuresOf(status: Readonly<Record<string, string>>): string | undefined {
  const { indexed_documents: documents, indexed_bytes: bytes, disk_bytes: onDisk } = status;
  const isPlain = PLAIN.has(status['index_type'] ?? status['table_type'] ?? '');
  return isPlain && documents !== undefined ? `${documents} ${bytes} ${onDisk}` : undefined;
}
