import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import { sphinxConfiguration } from '../../src/engines/sphinx/configuration.ts';
import { openConnection } from '../../src/engines/sphinx/connection.ts';
import { numericId, replaceStatement } from '../../src/engines/sphinx/source.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { freePort } from './process.ts';
import { type RunningSearchd, type SearchServer, SPHINX, startSearchd } from './sphinx.ts';

interface RealtimeOptions {
  /** Holds the configuration, the table and the logs. */
  readonly directory: string;
  readonly domain: SearchDomain;
  readonly index: string;
  readonly documents: Iterable<Document>;
  /** Sphinx when absent. */
  readonly server?: SearchServer;
  /** 64 when absent. */
  readonly maxConnections?: number;
}

/** Changes the documents of a real-time table. A resolved call can be searched. Calls are sent one after another. */
export interface DocumentWriter {
  /** Adds documents, or replaces those of the same id. @throws when a value does not fit its attribute */
  readonly replaceDocuments: (documents: Iterable<Document>) => Promise<void>;
  /** Ids that are not in the table are ignored. */
  readonly deleteDocuments: (ids: readonly string[]) => Promise<void>;
  readonly close: () => void;
}

const HOST = '127.0.0.1';
/** Documents of one statement: a megabyte for the demo's, below `max_packet_size`. */
const BATCH = 1000;
const CONNECT_MS = 10_000;

/** A searchd with one real-time table that holds the documents: 100,000 of the demo's in 20 s. */
export async function startRealtimeSearchd(options: RealtimeOptions): Promise<{
  readonly searchd: RunningSearchd;
  readonly writer: DocumentWriter;
  readonly stop: () => Promise<void>;
}> {
  const { domain, index, documents, server = SPHINX, maxConnections = 64 } = options;
  const directory = resolve(options.directory);
  await mkdir(join(directory, 'data'), { recursive: true });
  const port = await freePort();
  const configFile = join(directory, 'sphinx.conf');
  const searchd = { dialect: server.dialect, host: HOST, port, maxConnections };
  await writeFile(
    configFile,
    sphinxConfiguration({ directory, domains: [{ domain, index }], searchd, realtime: true }),
  );
  const running = await startSearchd({ directory, from: { configFile, port }, built: true, server });
  try {
    const writer = await openWriter({ port, domain, index });
    await writer.replaceDocuments(documents);
    const stop = async (): Promise<void> => {
      writer.close();
      await running.stop();
    };
    return { searchd: running, writer, stop };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

export async function openWriter(to: {
  readonly port: number;
  readonly domain: SearchDomain;
  readonly index: string;
}): Promise<DocumentWriter> {
  const { port, domain, index } = to;
  const options = { host: HOST, port, connectTimeoutMs: CONNECT_MS, onClose: () => {} };
  const connection = await openConnection(options, AbortSignal.timeout(CONNECT_MS));
  return {
    replaceDocuments: async (documents) => {
      for (const batch of batches(documents)) await connection.send(replaceStatement(index, domain, batch));
    },
    deleteDocuments: async (ids) => {
      for (const batch of batches(ids)) {
        await connection.send(`DELETE FROM ${index} WHERE id IN (${batch.map(numericId).join(',')})`);
      }
    },
    close: connection.destroy,
  };
}

function* batches<T>(items: Iterable<T>): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * The ads of all demo domains as documents of `goods`, and then once more under other ids and titles, until there are
 * `count`: 50,000 have the titles of the demo.
 */
export function* manyGoods(count: number): Generator<Document> {
  let left = count;
  for (let round = 0; left > 0; round += 1) {
    for (const { name } of DEMO_DOMAINS) {
      for (const ad of demoDocuments(name)) {
        if (left === 0) return;
        left -= 1;
        yield round === 0 ? ad : { ...ad, id: `${ad.id}${round}`, title: `${ad.title} вариант ${round}` };
      }
    }
  }
}
