import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  MANTICORE_NEEDS,
  manticoreFolder,
  type RunningSearchd,
  type SearchServer,
  SPHINX,
  startSearchd,
} from '../../../loadtest/stack/sphinx.ts';
import {
  type Connections,
  createConnections,
  createSphinxEngine,
  type SphinxOptions,
} from '../../../src/engines/sphinx/engine.ts';
import type { SphinxSourceOptions } from '../../../src/engines/sphinx/source.ts';
import { systemClock } from '../../../src/runtime.ts';
import type { Engine } from '../../../src/search/engine.ts';
import type { FakeSearchd } from '../../fakes/searchd.ts';
import { optional } from '../../optional.ts';
import { LIMIT_MS } from '../../until.ts';

/** Registers tests for Sphinx, and for Manticore where this machine has it. */
export function eachServer(register: (name: 'Sphinx' | 'Manticore', server: SearchServer) => void): void {
  register('Sphinx', SPHINX);
  optional('Manticore', manticoreFolder(), MANTICORE_NEEDS, (folder) =>
    register('Manticore', { dialect: 'manticore', folder }),
  );
}

/** A new searchd with indexes built from documents, and engines over it. */
export async function openSphinx(options: {
  readonly server: SearchServer;
  readonly domains: SphinxSourceOptions['domains'];
  readonly maxConnections?: number;
}): Promise<{
  searchd: RunningSearchd;
  directory: string;
  engine: (given: Pick<SphinxOptions, 'domain' | 'index'> & Partial<SphinxOptions>) => Engine;
  remove: () => Promise<void>;
}> {
  const { server } = options;
  const directory = await temporaryDirectory();
  const remove = () => rm(directory, { recursive: true, force: true });
  const searchd = await startSearchd({
    directory,
    server,
    from: { domains: options.domains },
    maxConnections: options.maxConnections,
  }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    searchd,
    directory,
    engine: (given) => createSphinxEngine({ ...engineDefaults(searchd.port, server), ...given }),
    remove,
  };
}

export function engineDefaults(
  port: number,
  { dialect }: SearchServer = SPHINX,
): Omit<SphinxOptions, 'domain' | 'index'> {
  return {
    host: '127.0.0.1',
    port,
    ranker: 'proximity_bm25',
    idAttribute: 'doc_id',
    connectTimeoutMs: LIMIT_MS,
    hardDeadlineMs: LIMIT_MS,
    maxConnections: 8,
    maxMatches: 1000,
    snippetLength: 240,
    clock: systemClock,
    random: Math.random,
    dialect,
  };
}

/** Connections to a fake searchd, one at a time unless more are wanted. Both end with the test. */
export function connectionsTo(
  t: TestContext,
  searchd: FakeSearchd,
  over: Partial<Parameters<typeof createConnections>[0]>,
): Connections {
  const connections = createConnections({
    host: searchd.host,
    port: searchd.port,
    target: 'fake',
    maxConnections: 1,
    connectTimeoutMs: 60_000,
    idleMs: 60_000,
    monotonicMs: systemClock.monotonicMs,
    observe: () => undefined,
    ...over,
  });
  t.after(() => {
    connections.close();
    searchd.stop();
  });
  return connections;
}

export function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'serpcache-sphinx-'));
}
