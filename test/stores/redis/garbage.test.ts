import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProxiedCluster, type ProxiedNode, startProxiedCluster } from '../../../loadtest/fault-proxy/cluster.ts';
import { type Match, type RespProxy, startRespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';
import { leaseNames } from '../../../src/cache/lease.ts';
import { readOnce, type Store, type StoreEvent, type StoreRead } from '../../../src/cache/store.ts';
import { until } from '../../until.ts';
import { CONNECTION, connected, LONG_MS, openStore, SILENCE_MS, whilePaused } from './harness.ts';

const NAMES = Array.from({ length: 60 }, (_, index) => `sc1:goods:{${index}}`);
const FAULT_MS = 2000;
/** Maximum connections: one per failure until the breaker opens, then one probe and one slot map refresh per second. */
const mostOpened = (sinceMs: number): number => 6 + (3 * (performance.now() - sinceMs)) / 1000;

type WrongReply = (gets: number) => ReturnType<Match>;

const once =
  (bytes: string): WrongReply =>
  (gets) =>
    gets === 1 ? Buffer.from(bytes) : undefined;
const always = (bytes: string | Buffer): WrongReply => {
  const reply = Buffer.from(bytes);
  return () => reply;
};

/** The node's reply to GET and EVAL instead of the true one. */
const WRONG_REPLIES: Readonly<Record<string, WrongReply>> = {
  'another protocol': always('HTTP/1.1 400 Bad Request\r\n\r\n'),
  // ioredis decodes it as minus eleven and returns to where it began: an endless loop in one turn of the event loop.
  'an invalid length': always('$-1\r\n$%\r\n$-1\r\n'),
  'a number': always(':5\r\n'),
  'an unknown error': always('-WAT is this\r\n'),
  'the error LOADING': always('-LOADING Redis is loading the dataset in memory\r\n'),
  'the error BUSY': always('-BUSY Redis is busy running a script.\r\n'),
  'half a reply, then silence': () => ({ last: Buffer.from('$10\r\nabc'), end: 'silence' }),
  // Everything that follows counts as a part of this reply.
  'once a length of 60 MB': once('$60000000\r\n'),
  'once a list of a million': once('*1000000\r\n'),
};

interface Fixture {
  readonly sick: ProxiedNode<RespProxy>;
  readonly store: Store;
  readonly events: readonly StoreEvent[];
  readonly sickNames: readonly string[];
  readonly wellNames: readonly string[];
}

const assertRight = (read: StoreRead | undefined, name: string): void => {
  if (read?.kind === 'value') assert.equal(read.value.toString(), name);
};
/** Single and bulk reads and a lease, repeated while the fault lasts. */
const load = async (store: Store, names: readonly string[], untilMs: number, deadlineMs: number): Promise<void> => {
  for (let turn = 0; performance.now() < untilMs; turn += 1) {
    const name = names[turn % names.length] ?? '';
    assertRight(await readOnce(store, name, deadlineMs), name);
    if (turn % 10 === 0) {
      await store.leases.take(leaseNames(name), 'a', 1000, deadlineMs);
      const reads = await store.readMany(names, deadlineMs);
      for (const [index, each] of names.entries()) assertRight(reads[index], each);
    }
    await sleep(10);
  }
};

const assertRecovers = async (
  wrongReply: WrongReply,
  { sick, store, events, sickNames, wellNames }: Fixture,
): Promise<void> => {
  let gets = 0;
  const opened = sick.proxy.opened();
  const failures: string[] = [];
  const sinceMs = performance.now();
  const untilMs = sinceMs + FAULT_MS;
  sick.proxy.answer((command) => {
    if (!['GET', 'EVAL'].includes(String(command[0]).toUpperCase())) return undefined;
    gets += 1;
    return wrongReply(gets);
  });
  const watch = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const name = wellNames[Math.floor(performance.now()) % wellNames.length] ?? '';
      const read = await readOnce(store, name, LONG_MS);
      if (read.kind !== 'value' || read.value.toString() !== name) failures.push(`${name}: ${JSON.stringify(read)}`);
      await sleep(10);
    }
  };
  try {
    await Promise.all([load(store, sickNames, untilMs, 50), load(store, sickNames, untilMs, 50), watch()]);
  } finally {
    sick.proxy.answer();
  }
  assert.deepEqual(failures, []);
  assert.ok(gets > 0, 'the node was never asked');
  assert.ok(sick.proxy.opened() - opened <= mostOpened(sinceMs), `${sick.proxy.opened() - opened} connections`);
  const other = events.find((event) => event.kind === 'breaker' && event.node !== sick.node.address);
  assert.equal(other, undefined);

  for (const name of sickNames) {
    await until(`${name} to be served again`, async () => {
      const read = await readOnce(store, name, 1000);
      return read.kind === 'value' && read.value.toString() === name;
    });
  }
  await until('the nodes to be at rest', async () => store.nodes().every(({ outstanding }) => outstanding === 0));
  assert.ok(sick.proxy.connections() <= 2, 'connections are left behind');
};

const TESTS: Readonly<Record<string, (fixture: Fixture) => Promise<void>>> = {
  ...Object.fromEntries(
    Object.entries(WRONG_REPLIES).map(([what, wrongReply]) => [
      `${what}: its keys miss or are right, the others serve, connections stay few, and it serves again`,
      (fixture: Fixture) => assertRecovers(wrongReply, fixture),
    ]),
  ),
  'two replies to one command: the connection ends when a reply does not fit its command, and then all replies fit again':
    async ({ sick, store, events, sickNames }) => {
      const ended = (): boolean => events.some((event) => event.kind === 'connection' && event.state !== 'open');
      let gets = 0;
      sick.proxy.answer((command) => {
        if (String(command[0]).toUpperCase() !== 'GET') return undefined;
        gets += 1;
        return gets % 50 === 0 && !ended() ? Buffer.from('$-1\r\n$-1\r\n') : undefined;
      });
      // Some commands are in flight: a reply that none waits for ends the connection at once, and proves nothing here.
      sick.proxy.delay(10);
      /** Since the connection ended, in a row. */
      let right = 0;
      const name = (turn: number): string => sickNames[turn % sickNames.length] ?? '';
      const worker = async (turn: number): Promise<void> => {
        for (let next = turn; right < 300; next += 1) {
          await sleep(next % 7);
          const read = await readOnce(store, name(next), 1000);
          if (read.kind === 'value') {
            const fits = read.value.toString() === name(next);
            right = fits && ended() ? right + 1 : 0;
          }
          if (next % 20 === 0) await store.leases.look(leaseNames(name(next)), 1000);
        }
      };
      try {
        await Promise.all(Array.from({ length: 8 }, (_, turn) => worker(turn)));
      } finally {
        sick.proxy.answer();
        sick.proxy.delay(0);
      }
      await until('its keys to be served', async () => (await readOnce(store, name(0), 1000)).kind === 'value');
    },
  'a node that is stopped for longer than its socket timeout: few connections are opened': async ({
    sick,
    store,
    sickNames,
  }) => {
    const opened = sick.proxy.opened();
    const sinceMs = performance.now();
    await whilePaused(sick.node, async () => {
      await load(store, sickNames, sinceMs + 5000, 50);
    });
    // One reconnection, and at most one refresh per second.
    const most = 1 + (performance.now() - sinceMs) / 1000;
    assert.ok(sick.proxy.opened() - opened <= most, `${sick.proxy.opened() - opened} connections`);
    await until(
      'its keys to be served',
      async () => (await readOnce(store, sickNames[0] ?? '', 1000)).kind === 'value',
    );
  },
};

/** The tests mostly wait for the end of a fault, so several run at the same time, each over its own cluster. */
const CLUSTERS = 3;

describe('a node that answers garbage', { concurrency: true }, () => {
  for (let at = 0; at < CLUSTERS; at += 1) {
    describe(`in cluster ${at + 1}`, { concurrency: 1 }, () => {
      let cluster: ProxiedCluster<RespProxy>;
      let fixture: Fixture;
      before(async () => {
        cluster = await startProxiedCluster({ flavour: 'redis', startProxy: startRespProxy });
      });
      after(() => cluster?.stop());
      beforeEach(async () => {
        const { store, events } = openStore({
          ...CONNECTION,
          kind: 'cluster',
          nodes: cluster.nodes,
          socketTimeoutMs: SILENCE_MS,
        });
        await connected(store, 3);
        const [sick] = cluster.shards as readonly [ProxiedNode<RespProxy>];
        const isSick = (name: string): boolean => store.locate(name).node === sick.node.address;
        const sickNames = NAMES.filter(isSick);
        const wellNames = NAMES.filter((name) => !isSick(name));
        fixture = { sick, store, events, sickNames, wellNames };
        for (const name of NAMES) assert.equal((await store.write(name, Buffer.from(name), 600_000)).kind, 'stored');
      });
      afterEach(() => fixture.store.close());
      for (const [name, run] of Object.entries(TESTS).filter((_, index) => index % CLUSTERS === at)) {
        test(name, () => run(fixture));
      }
    });
  }
});
