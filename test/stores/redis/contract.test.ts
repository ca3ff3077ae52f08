import { after, before, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type RedisStack,
  type SentinelStack,
  startCluster,
  startSentinel,
  startStandalone,
} from '../../../loadtest/stack/redis.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { changeStreamContract } from '../../contract/change-stream.ts';
import { CONTENT_DOMAIN, contentContract } from '../../contract/content.ts';
import { controlStoreContract } from '../../contract/control-store.ts';
import { countersContract } from '../../contract/counters.ts';
import { storeContract } from '../../contract/store.ts';
import { optional } from '../../optional.ts';
import { clusterOf, connected, LONG_MS, openStore, sentinelOf, standaloneOf } from './harness.ts';
import { ADVISED_USER, secure, USER } from './users.ts';

const WINDOW_MS = 250;
const AT_ONCE = 4;
/** Sets pairs of names and values, with a lifetime unless it is 0: one connection instead of one for each name. */
const SET_ALL = `
for i = 2, #ARGV, 2 do
  redis.call('SET', ARGV[i], ARGV[i + 1])
  if ARGV[1] ~= '0' then redis.call('PEXPIRE', ARGV[i], ARGV[1]) end
end`;

/** All ports of a store, tested on the same servers one after another. */
function portsOver<S extends RedisStack>(
  name: string,
  start: () => Promise<S>,
  settingsOf: (stack: S) => RedisSettings,
  { owners = 1, flushes = true } = {},
): void {
  describe(name, { concurrency: 1 }, () => {
    let stack: S | undefined;
    before(async () => {
      stack = await start();
    });
    after(() => stack?.stop());

    /** Stores on empty servers; `stop` closes them. */
    const open = async (windows: readonly (number | undefined)[]) => {
      if (stack === undefined) throw new Error('the servers did not start');
      const settings = settingsOf(stack);
      const nodes = stack.nodes.slice(0, owners);
      const wipe = async (): Promise<void> => {
        await Promise.all(nodes.map((node) => node.command('FLUSHALL')));
      };
      await wipe();
      const stores = windows.map(
        (counterWindowMs) => openStore(settings, { contentDeadlineMs: LONG_MS, counterWindowMs }).store,
      );
      await Promise.all(stores.map((store) => connected(store, owners)));
      const [first = openStore(settings).store] = stores;
      return {
        first,
        stores,
        nodes,
        addresses: nodes.map(({ address }) => address),
        wipe,
        nodeOf: (key: string) => nodes.find(({ address }) => address === first.locate(key).node),
        async stop() {
          await Promise.all(stores.map((store: RedisStore) => store.close()));
        },
      };
    };

    storeContract(name, async () => {
      const { first, addresses, nodes, stop } = await open([undefined]);
      return {
        store: first,
        owners: addresses,
        keySlot: owners > 1 ? async (key) => Number(await nodes[0]?.command('CLUSTER', 'KEYSLOT', key)) : undefined,
        async stall() {
          await Promise.all(nodes.map((node) => node.pause()));
          return () => {
            for (const node of nodes) node.resume();
          };
        },
        async lose(address) {
          await nodes.find((node) => node.address === address)?.command('FLUSHALL');
        },
        stop,
      };
    });

    controlStoreContract(name, async () => {
      const { stores, wipe, stop } = await open([undefined, undefined]);
      const [store, other] = stores as [RedisStore, RedisStore];
      return { store: store.control, other: other.control, lose: wipe, stop };
    });

    changeStreamContract(name, async () => {
      const { stores, stop } = await open([undefined, undefined]);
      const [store, other] = stores as [RedisStore, RedisStore];
      return { stream: store.changes, other: other.changes, stop };
    });

    contentContract(name, async () => {
      const { first, addresses, nodeOf, stop } = await open([undefined]);
      if (first.content.nodes().length !== owners) throw new Error(`${CONTENT_DOMAIN}: not all owners are known`);
      return {
        content: first.content,
        owners: addresses,
        // As an administrator: our user has no right to some of these names.
        put: async (values, ttlMs = 0) => {
          const byNode = Map.groupBy(Object.entries(values), ([key]) => nodeOf(key));
          for (const [node, pairs] of byNode) await node?.command('EVAL', SET_ALL, 0, ttlMs, ...pairs.flat());
        },
        has: async (key) => (await nodeOf(key)?.command('EXISTS', key)) === 1,
        flushes,
        stop,
      };
    });

    countersContract(name, async () => {
      const { first, stores, nodeOf, stop } = await open([undefined, undefined, WINDOW_MS]);
      const [, other = first, brief = first] = stores;
      return {
        counters: first.counters,
        other: other.counters,
        brief: { counters: brief.counters, windowMs: WINDOW_MS },
        pass: (ms) => sleep(ms),
        async held(domain) {
          const names = Array.from({ length: 7 }, (_, index) => `sc1:${domain}:{popular:${domain}}:${index}`);
          const sizes = await Promise.all(names.map((key) => nodeOf(key)?.command('ZCARD', key)));
          return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
        },
        stop,
      };
    });
  });
}

// Each suite has its own servers, and mostly waits for keys to expire.
describe('the ports of a store', { concurrency: AT_ONCE }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    portsOver(`standalone ${flavour}`, () => startStandalone({ flavour }), standaloneOf);
    portsOver(`${flavour} cluster of 3`, () => startCluster({ flavour, masters: 3 }), clusterOf, { owners: 3 });
  }
  portsOver<SentinelStack>(
    'sentinel',
    () => startSentinel({ flavour: 'redis' }),
    (stack) => sentinelOf(stack),
  );
  portsOver(
    'standalone over TLS as an ACL user',
    () => startStandalone({ flavour: 'redis', tls: true, acl: USER }),
    (stack) => standaloneOf(stack, secure(stack)),
  );
  portsOver(
    'valkey cluster of 3 over TLS as the ACL user of the example',
    () => startCluster({ flavour: 'valkey', masters: 3, tls: true, acl: ADVISED_USER }),
    (stack) => clusterOf(stack, secure(stack)),
    { owners: 3, flushes: false },
  );
});

optional(
  'store-binary',
  process.env['SERPCACHE_STORE_BINARY'],
  'set SERPCACHE_STORE_BINARY to the path of a Redis-protocol server',
  (flavour) => portsOver(`standalone ${flavour}`, () => startStandalone({ flavour }), standaloneOf),
);
