import { stat } from 'node:fs/promises';
import type { EngineProbe } from '../../operations/doctor/doctor.ts';
import type { EngineFacts } from '../../operations/doctor/facts.ts';
import type { Clock } from '../../runtime.ts';
import { metaValues, openFile } from './schema.ts';

interface SqliteProbeOptions {
  readonly file: string;
  readonly facts: Pick<EngineFacts, 'name' | 'domains' | 'index' | 'settings'>;
  readonly clock: Clock;
}

const EMBEDDED = { skipped: 'the engine is embedded' } as const;

/** The doctor's view of an embedded index: there is no server to ask, and the file tells its age and its size. */
export function createSqliteProbe({ file, facts, clock }: SqliteProbeOptions): EngineProbe {
  /** Figures that do not change while the file does not. */
  let built: (ReturnType<typeof metaOf> & { readonly mtimeMs: number }) | undefined;

  const look = async (): Promise<Pick<EngineFacts, 'indexStatus' | 'indexAge'>> => {
    try {
      const { mtimeMs } = await stat(file);
      if (built?.mtimeMs !== mtimeMs) built = { mtimeMs, ...metaOf(file) };
      const { documents, builtAtMs } = built;
      return {
        indexStatus: { known: { index_type: 'embedded', indexed_documents: documents } },
        indexAge: { known: { seconds: Math.max(0, clock.wallMs() - builtAtMs) / 1000, from: 'file' } },
      };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? `${error.code}` : 'it is no index';
      const skipped = { skipped: `the file of the index cannot be read (${code})` };
      return { indexStatus: skipped, indexAge: skipped };
    }
  };

  return {
    read: async () => ({
      ...facts,
      kind: 'sqlite',
      endpoint: 'embedded',
      version: { known: `SQLite ${process.versions['sqlite']}` },
      status: EMBEDDED,
      rttMs: EMBEDDED,
      agents: EMBEDDED,
      threads: EMBEDDED,
      maxConnections: EMBEDDED,
      ...(await look()),
    }),
    close: async () => {},
  };
}

/** @throws when the file is no index. */
function metaOf(file: string) {
  const database = openFile(file);
  try {
    const values = metaValues(database);
    return { documents: String(values.get('documents')), builtAtMs: Number(values.get('builtAtMs')) };
  } finally {
    database.close();
  }
}
