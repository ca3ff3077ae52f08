import { setTimeout as sleep } from 'node:timers/promises';
import { allNodes, answeredByProxies, faultEffect, firstNode, infoGrew } from '../fault-effects.ts';
import { openRawConnections, type RawConnections } from '../raw-connections.ts';
import type { Harness, Row } from '../row.ts';

const clusterIsDown = faultEffect(
  'cluster_state',
  (harness) =>
    Promise.all(
      allNodes(harness).map(
        async (node) => /^cluster_state:(\w+)/m.exec(String(await node.command('CLUSTER', 'INFO')))?.[1],
      ),
    ),
  (before, during) => before.every((state) => state === 'ok') && during.every((state) => state === 'fail'),
);

/** The store answers with errors, or without some of its data. */
export const STORE_REPLIES: readonly Row[] = [
  {
    name: 'readonly',
    store: 'behind-resp',
    summary: 'a read-only store (READONLY) is still read',
    ...refusing((name) =>
      WRITES.has(name) ? "-READONLY You can't write against a read only replica.\r\n" : undefined,
    ),
    effect: answeredByProxies,
    bounds: { hitRatioDuring: 0.8, recoverySeconds: 15 },
  },
  {
    name: 'demoted',
    store: 'single',
    summary: 'a store that became a replica is still read, and takes writes again when it is the master',
    begin: (harness) => eachNode(harness, ['REPLICAOF', '127.0.0.1', '1']),
    end: (harness) => eachNode(harness, ['REPLICAOF', 'NO', 'ONE']),
    effect: infoGrew('errorstat_READONLY', allNodes),
    bounds: { hitRatioDuring: 0.8 },
  },
  {
    name: 'no-info',
    store: 'behind-resp',
    summary: 'a store that refuses INFO and CLIENT, as proxies do, serves on new connections too',
    begin: async (harness) => {
      refuse(harness, (name) => (name === 'INFO' || name === 'CLIENT' ? '-ERR unknown command\r\n' : undefined));
      for (const proxy of harness.store().resp) proxy.cut();
    },
    end: async (harness) => refuse(harness),
    effect: answeredByProxies,
    bounds: { hitRatioDuring: 0.8, connectionsOpened: 60 },
  },
  {
    name: 'loading',
    store: 'behind-resp',
    summary: 'a store that is still loading is a miss, quickly',
    ...refusing((name) => (DATA.has(name) ? '-LOADING Redis is loading the dataset in memory\r\n' : undefined)),
    effect: answeredByProxies,
    bounds: { hitRatioDuring: 0.4 },
  },
  {
    name: 'reply-too-many',
    store: 'behind-resp',
    summary: 'a second reply to one GET in ten costs its connection, and no page that belongs to another search',
    ...refusing(inEvery(10, 'GET', '$-1\r\n$-1\r\n')),
    effect: answeredByProxies,
    bounds: { hitRatioDuring: 0.4 },
  },
  {
    name: 'lists-in-lists',
    store: 'behind-resp',
    summary: 'lists in lists, 2 KB that announce 200 million elements, cost their connection and no memory',
    ...refusing(inEvery(10, 'GET', '*1000000\r\n'.repeat(200))),
    effect: answeredByProxies,
    bounds: { hitRatioDuring: 0.4 },
  },
  {
    name: 'out-of-memory',
    summary: 'a store without memory (OOM, noeviction) is still read, and takes writes again when it has memory',
    begin: (harness) => configure(harness, ['maxmemory-policy', 'noeviction'], ['maxmemory', '1']),
    end: (harness) => configure(harness, ['maxmemory', '256mb'], ['maxmemory-policy', 'allkeys-lru']),
    effect: infoGrew('errorstat_OOM', allNodes),
    bounds: { hitRatioDuring: 0.9 },
  },
  {
    name: 'cluster-down',
    summary: 'slots without a node (CLUSTERDOWN) cost their own keys a miss',
    begin: (harness) => everySlot(harness, 'DELSLOTSRANGE', true),
    end: (harness) => everySlot(harness, 'ADDSLOTSRANGE', false),
    effect: clusterIsDown,
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 30 },
    discardStore: true,
  },
  evictionStorm(),
];

const WRITES = new Set(['SET', 'DEL', 'UNLINK', 'EVAL', 'EVALSHA', 'FCALL', 'ZADD', 'PEXPIRE']);
const DATA = new Set([...WRITES, 'GET', 'GETBUFFER', 'EXISTS', 'ZCOUNT']);

/** The reply to one in `count` of the commands with this name. */
function inEvery(count: number, command: string, reply: string): (name: string) => string | undefined {
  let asked = 0;
  return (name) => {
    if (name !== command) return undefined;
    asked += 1;
    return asked % count === 0 ? reply : undefined;
  };
}

type ErrorFor = (command: string) => string | undefined;

function refusing(errorFor: ErrorFor): Pick<Row, 'begin' | 'end'> {
  return {
    begin: async (harness) => refuse(harness, errorFor),
    end: async (harness) => refuse(harness),
  };
}

/** Without `errorFor` every command passes. */
function refuse(harness: Harness, errorFor: ErrorFor = () => undefined): void {
  for (const proxy of harness.store().resp) {
    proxy.answer(([name]) => {
      const error = errorFor(String(name).toUpperCase());
      return error === undefined ? undefined : Buffer.from(error);
    });
  }
}

async function eachNode(harness: Harness, command: readonly string[]): Promise<void> {
  for (const node of harness.store().nodes) await node.command(...command);
}

async function configure(harness: Harness, ...settings: readonly (readonly [string, string])[]): Promise<void> {
  for (const [name, value] of settings) await eachNode(harness, ['CONFIG', 'SET', name, value]);
}

/**
 * Divides the slots among the masters as the test cluster does. Lost slots are removed by a command to every node, because
 * a node learns of another node's change only from its next gossip message.
 */
async function everySlot(
  harness: Harness,
  command: 'DELSLOTSRANGE' | 'ADDSLOTSRANGE',
  onEveryNode: boolean,
): Promise<void> {
  const { nodes } = harness.store();
  for (const [at, node] of nodes.entries()) {
    const range = (index: number): [number, number] => [
      Math.floor((16_384 * index) / nodes.length),
      Math.floor((16_384 * (index + 1)) / nodes.length) - 1,
    ];
    if (onEveryNode) await node.command('CLUSTER', command, 0, 16_383);
    else await node.command('CLUSTER', command, ...range(at));
  }
}

/** 2,000 foreign clients write to one node that has reached its memory limit. */
function evictionStorm(): Row {
  const connections: RawConnections[] = [];
  const VALUE = 'x'.repeat(2000);
  let at = 0;
  return {
    name: 'eviction-storm',
    summary: 'a node that evicts under 2,000 other clients costs misses',
    faultMs: 4000,
    begin: async (harness) => {
      const [node] = harness.store().nodes;
      if (node === undefined) return;
      // Otherwise the node disconnects clients, the subject's among them, before it evicts a key.
      await node.command('CONFIG', 'SET', 'maxmemory-clients', '0');
      connections.push(
        await openRawConnections({
          port: node.port,
          size: 2000,
          trickle: () => `SET {${TAG}}:${at++} ${VALUE}\r\n`,
        }),
      );
      await sleep(1000);
      // The limit is the current usage, client buffers included, so that each new value evicts others.
      const used = Number(/^used_memory:(\d+)/m.exec(String(await node.command('INFO', 'memory')))?.[1]);
      await node.command('CONFIG', 'SET', 'maxmemory', used);
      // On a busy machine the steps above can take the whole fault time; this leaves time for evictions.
      await sleep(EVICTING_MS);
    },
    end: async (harness) => {
      for (const each of connections.splice(0)) await each.close();
      await configure(harness, ['maxmemory', '256mb'], ['maxmemory-clients', '25%']);
    },
    effect: infoGrew('evicted_keys', firstNode),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  };
}

const EVICTING_MS = 1000;
/** A hash tag in slot 3300, which belongs to the first master. */
const TAG = 'b';
