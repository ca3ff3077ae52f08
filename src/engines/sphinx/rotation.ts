import type { ResultSets } from './connection.ts';
import type { StatementOptions } from './statement.ts';

/**
 * Sees the rotation of a plain index (`indexer --rotate`), or of a local part of a distributed one, between two readings.
 * searchd has no event and no counter of rotations: another index has other figures, so a restart over the same one is none.
 * Not seen: an index with the same figures (other numbers or words of equal length; see `indexerLine` in source.ts), agents,
 * whose figures searchd does not tell, and TRUNCATE and ATTACH of a real-time table, whose figures change with each document.
 * @param onReplaced called when one plain index at least was replaced since the reading before
 * @returns one reading. It throws SearchError; the next one is then compared with the one before.
 */
export function createRotationWatch(
  { index, dialect }: Pick<StatementOptions, 'index' | 'dialect'>,
  onReplaced: () => void,
) {
  let seen: string | undefined;
  return async (send: (sql: string) => Promise<ResultSets>): Promise<void> => {
    const rowsOf = async (sql: string) => (await send(sql))[0] ?? [];
    const all: string[] = [];
    for (const name of index.split(',').map((one) => one.trim())) {
      // A distributed index is described by its parts, and Sphinx refuses the statement below for it.
      const columns = await rowsOf(`DESCRIBE ${name}`);
      const locals = columns.filter(([, type]) => type === 'local').map(([part]) => part);
      for (const part of columns.some(([column]) => column === 'id') ? [name] : locals) {
        const status = await rowsOf(`SHOW ${dialect === 'manticore' ? 'TABLE' : 'INDEX'} ${part} STATUS`);
        all.push(`${part} ${plainFigures(Object.fromEntries(status))}`);
      }
    }
    const now = all.join('; ');
    const isReplaced = seen !== undefined && seen !== now;
    seen = now;
    if (isReplaced) onReplaced();
  };
}

/** Figures of SHOW INDEX … STATUS that UPDATE leaves as they are; undefined for a real-time table. */
export function plainFigures(status: Readonly<Record<string, string>>): string | undefined {
  const { indexed_documents: documents, indexed_bytes: bytes, disk_bytes: onDisk } = status;
  const isPlain = ['disk', 'local'].includes(status['index_type'] ?? status['table_type'] ?? '');
  return isPlain && documents !== undefined ? `${documents} ${bytes} ${onDisk}` : undefined;
}
