import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Prepared statements by their SQL, the least recently used dropped past `max`. */
export function createStatements(database: DatabaseSync, max: number): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.delete(sql);
    prepared.set(sql, statement);
    if (prepared.size > max) {
      const [oldest] = prepared.keys();
      if (oldest !== undefined) prepared.delete(oldest);
    }
    return statement;
  };
}
