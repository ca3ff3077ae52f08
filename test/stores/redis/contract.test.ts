import { describe } from 'node:test';
import {
  type RedisStack,
  type SentinelStack,
  startCluster,
  startSentinel,
  startStandalone,
} from '../../../loadtest/stack/redis.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { type StoreUnderTest, storeContract } from '../../contract/store.ts';
import { optional } from '../../optional.ts';
import { clusterOf, connected, openStore, sentinelOf, standaloneOf } from './harness.ts';
import { ADVISED_USER, secure, USER } from './users.ts';

const over =
  <S extends RedisStack>(start: () => Promise<S>, settingsOf: (stack: S) => RedisSettings, owners = 1) =>
  async (): Promise<StoreUnderTest> => {
    const stack = await start();
    const { store } = openStore(settingsOf(stack));
    try {
      await connected(store, owners);
    } catch (error) {
      await store.close();
      await stack.stop();
      throw error;
    }
    return {
      store,
      owners: stack.nodes.slice(0, owners).map(({ address }) => address),
      ...(owners > 1 && {
        keySlot: async (name: string) => Number(await stack.nodes[0]?.command('CLUSTER', 'KEYSLOT', name)),
      }),
      async stall() {
        const stalled = stack.nodes.slice(0, owners);
        await Promise.all(stalled.map((node) => node.pause()));
        return () => {
          for (const node of stalled) node.resume();
        };
      },
      async lose(address) {
        await stack.nodes.find((node) => node.address === address)?.command('FLUSHALL');
      },
      async stop() {
        await store.close();
        await stack.stop();
      },
    };
  };

/** The tests of one contract run one after another. */
const contractOver: typeof storeContract = (name, setUp) =>
  describe(name, { concurrency: 1 }, () => storeContract(name, setUp));

// Each contract has its own servers, and mostly waits for keys to expire.
describe('over real servers', { concurrency: 4 }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    contractOver(
      `standalone ${flavour}`,
      over(() => startStandalone({ flavour }), standaloneOf),
    );
    contractOver(
      `${flavour} cluster of 3`,
      over(() => startCluster({ flavour, masters: 3 }), clusterOf, 3),
    );
  }

  contractOver(
    'sentinel',
    over<SentinelStack>(() => startSentinel({ flavour: 'redis' }), sentinelOf),
  );

  contractOver(
    'standalone over TLS as an ACL user',
    over(
      () => startStandalone({ flavour: 'redis', tls: true, acl: USER }),
      (stack) => standaloneOf(stack, secure(stack)),
    ),
  );
  contractOver(
    'valkey cluster of 3 over TLS as the ACL user of the example',
    over(
      () => startCluster({ flavour: 'valkey', masters: 3, tls: true, acl: ADVISED_USER }),
      (stack) => clusterOf(stack, secure(stack)),
      3,
    ),
  );
});

optional(
  'store-binary',
  process.env['SERPCACHE_STORE_BINARY'],
  'set SERPCACHE_STORE_BINARY to the path of a Redis-protocol server',
  (flavour) =>
    storeContract(
      `standalone ${flavour}`,
      over(() => startStandalone({ flavour }), standaloneOf),
    ),
);
