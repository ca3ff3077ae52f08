import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/proxy/engine-proxy.ts';
import { type RedisStack, startCluster, until } from '../../../loadtest/stack/redis.ts';
import { startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { queriesOf } from '../../../loadtest/traffic/queries.ts';
import { type Changes, configurationOf, INDEX } from '../configuration.ts';
import { onGround, someGoods } from '../ground.ts';
import type { ServiceProcess } from '../process.ts';

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

export function startFleetBed({ checkout, processes, searches }: FleetBedOptions): Promise<FleetBed> {
  return onGround('fleet', async (ground) => {
    const goods = someGoods(DOCUMENTS);
    const engine = ground.keep(
      await startSearchd({
        directory: join(ground.directory, 'engine'),
        from: { domains: [{ ...goods, index: INDEX }] },
        maxConnections: ENGINE_CONNECTIONS,
      }),
    );
    const engineProxy = ground.keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const store = ground.keep(await startCluster({ flavour: 'redis', masters: 3 }));
    const names = Array.from({ length: processes }, (_, at) => `serpcache-${at + 1}`);
    const services = await ground.services(names, { checkout });
    return {
      services,
      store,
      engineProxy,
      texts: queriesOf(goods.documents, searches).repeated,
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
      stop: ground.stop,
    };
  });
}
