import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { createSqliteEngine } from '../../../src/engines/sqlite/engine.ts';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN, engineContract } from '../../contract/engine.ts';

engineContract('the sqlite engine', openEngine, { takesDocuments: true });

async function openEngine() {
  const directory = await mkdtemp(join(tmpdir(), 'serpcache-sqlite-'));
  const file = join(directory, 'contract.sqlite');
  await buildIndex({ file, domain: CONTRACT_DOMAIN, documents: CONTRACT_DOCUMENTS, builtAtMs: 0 });
  const engine = await createSqliteEngine({ file, domain: CONTRACT_DOMAIN, workers: 2, snippetLength: 240 });
  return {
    engine,
    close: async () => {
      await engine.close();
      await rm(directory, { recursive: true });
    },
  };
}
