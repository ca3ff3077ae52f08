import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/proxy/engine-proxy.ts';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, until } from '../../../loadtest/stack/redis.ts';
import { type RunningSearchd, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { DEMO_DOMAINS, demoDocuments } from '../../../src/catalogue/demo.ts';
import { writeSphinxSource } from '../../../src/engines/sphinx/source.ts';
import type { Document } from '../../../src/search/document.ts';
import type { SearchDomain } from '../../../src/search/domain.ts';
import { type Changes, configurationOf, INDEX } from '../configuration.ts';
import { createServiceProcess, type ServiceProcess } from '../process.ts';
import { queriesOf } from '../queries.ts';

/** Several serpcache processes over one store cluster and one engine, whose searches a proxy counts. */
export interface FleetBed {
  readonly services: readonly ServiceProcess[];
  readonly store: RedisStack;
  readonly engineProxy: EngineProxy;
  /** Searches, by rank. */
  readonly texts: readonly string[];
  readonly configuration: (changes: Changes) => string;
  /** Every node runs, the cluster is whole and holds nothing. */
  readonly emptyStore: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface FleetBedOptions {
  readonly checkout: string;
  readonly processes: number;
  readonly searches: number;
}

const DOCUMENTS = 2000;
/** More than all processes together may hold, also while each still takes itself for the only one. */
const ENGINE_CONNECTIONS = 512;

export async function startFleetBed({ checkout, processes, searches }: FleetBedOptions): Promise<FleetBed> {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-fleet-'));
  const cleanUp: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of cleanUp.splice(0).toReversed()) await end().catch(() => undefined);
  };
  const keep = <T extends { readonly stop: () => Promise<void> }>(part: T): T => {
    cleanUp.push(part.stop);
    return part;
  };
  try {
    const domain = DEMO_DOMAINS.find(({ name }) => name === 'goods');
    if (domain === undefined) throw new Error('the demo has no goods');
    const documents = [...demoDocuments('goods')].slice(0, DOCUMENTS);
    const engine = keep(await startEngine(join(directory, 'engine'), { ...domain, answerProfile: '' }, documents));
    const engineProxy = keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const store = keep(await startCluster({ flavour: 'redis', masters: 3 }));
    const ports = await freePorts(2 * processes);
    const services = Array.from({ length: processes }, (_, at) =>
      keep(
        createServiceProcess({
          name: `serpcache ${at + 1}`,
          directory: join(directory, `serpcache-${at + 1}`),
          ports: [ports[2 * at] ?? 0, ports[2 * at + 1] ?? 0],
          checkout,
          nodeOptions: '',
        }),
      ),
    );
    return {
      services,
      store,
      engineProxy,
      texts: queriesOf(documents, searches).repeated,
      configuration: (changes) =>
        configurationOf(
          {
            store: { kind: 'cluster', nodes: store.nodes.map(({ host, port }) => ({ host, port })) },
            engine: { host: engineProxy.host, port: engineProxy.port },
          },
          changes,
        ),
      emptyStore: async () => {
        await until('a store that is whole and empty', async () => {
          for (const node of store.nodes) {
            if (!String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok')) return false;
            await node.command('FLUSHALL');
          }
          return true;
        });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEngine(
  directory: string,
  domain: SearchDomain,
  documents: readonly Document[],
): Promise<RunningSearchd> {
  const [port = 0] = await freePorts(1);
  const { configFile } = await writeSphinxSource({
    directory,
    domains: [{ domain, index: INDEX, documents }],
    searchd: { host: '127.0.0.1', port, maxConnections: ENGINE_CONNECTIONS },
  });
  const written = await readFile(configFile, 'utf8');
  // Five by default: of a fleet that opens all its connections in one moment most wait a second for their SYN's retry.
  await writeFile(configFile, written.replace('searchd\n{', 'searchd\n{\n  listen_backlog = 512'));
  return startSearchd({ directory, from: { configFile, port } });
}
