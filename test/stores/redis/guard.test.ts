import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { readOnce, type StoreEvent } from '../../../src/cache/store.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { type RespCommand, type RespServer, startRespServer } from '../../fakes/resp-server.ts';
import { until } from '../../until.ts';
import { clusterOf, type OpenStore, openedFor, SILENCE_MS, sentinelOf, standaloneOf, startedFor } from './harness.ts';

const NAME = 'sc1:goods:{a}';
const VALUE = Buffer.from('the page');

type Kind = RedisSettings['kind'];

function settingsOf(kind: Kind, server: RespServer): RedisSettings {
  // The servers answer at once or never: on a slow machine a longer deadline costs nothing.
  const over = { deadlineMs: 1000, refreshMs: 1000, socketTimeoutMs: SILENCE_MS };
  if (kind === 'sentinel') return sentinelOf({ sentinels: [server] }, over);
  return (kind === 'cluster' ? clusterOf : standaloneOf)({ nodes: [server] }, over);
}

/** The messages of the connections that failed. */
const failuresIn = (events: readonly StoreEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === 'connection' && event.state === 'failed' ? [event.detail ?? ''] : []));

const serves = ({ store }: OpenStore): Promise<void> =>
  until('the store to serve', async () => {
    const read = await readOnce(store, NAME, 1000);
    if (read.kind === 'value') assert.deepEqual(read.value, VALUE);
    return read.kind === 'value';
  });

/** Replies to `name`, the first ones of a connection and those of every later one. */
const instead =
  (name: string, reply: string) =>
  ([command]: RespCommand): string | undefined =>
    command === name ? reply : undefined;

/** A decoder that trusts the length loops for ever. */
const ENDLESS_LOOP = '$-1\r\n$%\r\n$-1\r\n';

const range = (first: number | string, last: number | string, node: string): string =>
  `*1\r\n*3\r\n:${first}\r\n:${last}\r\n${node}`;
const NODE = '*3\r\n$9\r\n127.0.0.1\r\n:1\r\n$1\r\na\r\n';

/** Each ends, hangs or blocks a process in which ioredis 6.0.0 reads it. */
const FATAL: readonly (readonly [what: string, kind: Kind, command: string, reply: string])[] = [
  ['two nils to one GET', 'standalone', 'GET', '$-1\r\n$-1\r\n'],
  ['two nil lists to one GET', 'cluster', 'GET', '*-1\r\n*-1\r\n'],
  ['lists in lists', 'standalone', 'GET', '*1000000\r\n'.repeat(200)],
  ['an INFO of 2 MiB', 'standalone', 'INFO', `$${2 ** 21}\r\n${'a:1\r\n'.repeat(2 ** 21).slice(0, 2 ** 21)}\r\n`],
  ['an invalid length to a sentinel command', 'sentinel', 'SENTINEL', ENDLESS_LOOP],
  ['two nils to a sentinel command', 'sentinel', 'SENTINEL', '$-1\r\n$-1\r\n$-1\r\n$-1\r\n'],
  ['an address without a host', 'sentinel', 'SENTINEL', '*2\r\n$-1\r\n$1\r\n1\r\n'],
  ['an address with a port of 70,000', 'sentinel', 'SENTINEL', '*2\r\n$9\r\n127.0.0.1\r\n$5\r\n70000\r\n'],
  ['an invalid length to the refresh of the slot map', 'cluster', 'CLUSTER', ENDLESS_LOOP],
  ['a slot map that is nil', 'cluster', 'CLUSTER', '*-1\r\n'],
  ['a slot map of nils', 'cluster', 'CLUSTER', '*1\r\n*-1\r\n'],
  ['a slot map that is a string', 'cluster', 'CLUSTER', '+OK\r\n'],
  ['a slot map that is a number', 'cluster', 'CLUSTER', ':5\r\n'],
  ['a range whose node is nil', 'cluster', 'CLUSTER', range(0, 16_383, '*-1\r\n')],
  ['a range whose node is a number', 'cluster', 'CLUSTER', range(0, 16_383, ':1\r\n')],
  ['a range that ends at 163,830,000', 'cluster', 'CLUSTER', range(0, 163_830_000, NODE)],
  ['a range that ends at 2^53', 'cluster', 'CLUSTER', range(0, '9007199254740992', NODE)],
  [
    'a range of 1,001 nodes',
    'cluster',
    'CLUSTER',
    `*1\r\n*1003\r\n:0\r\n:16383\r\n${Array.from({ length: 1001 }, (_, port) => NODE.replace(':1\r', `:${port}\r`)).join('')}`,
  ],
  ['ranges that overlap', 'cluster', 'CLUSTER', `*2\r\n${`*3\r\n:0\r\n:9000\r\n${NODE}`.repeat(2)}`],
];

describe('a reply that ioredis must not see', { concurrency: 4 }, () => {
  const start = (t: TestContext): Promise<RespServer> => startedFor(t, startRespServer(new Map([[NAME, VALUE]])));
  const open = (t: TestContext, kind: Kind, server: RespServer) =>
    openedFor(t, settingsOf(kind, server), { random: () => 0 });

  for (const [what, kind, command, reply] of FATAL) {
    test(`${what} costs its connection, and the store serves when the server is right again`, async (t) => {
      const server = await start(t);
      server.answer(instead(command, reply));
      const opened = open(t, kind, server);
      await until('the reply to be refused', async () => {
        if (command === 'GET') await readOnce(opened.store, NAME, 100);
        // A nil before the violation is a sentinel that does not know the master.
        return failuresIn(opened.events).some((detail) => /\ba reply (?:that|of)\b|sentinels are/.test(detail));
      });
      server.answer();
      await serves(opened);
    });
  }

  test('a handshake whose reply drips ends, and the next connection serves', async (t) => {
    const server = await start(t);
    server.answer(instead('INFO', '$60000000\r\n'));
    const opened = open(t, 'standalone', server);
    const drip = setInterval(() => server.send('x'), 20);
    t.after(() => clearInterval(drip));
    await until('the end of the handshake', () =>
      failuresIn(opened.events).some((detail) => /handshake timed out/.test(detail)),
    );
    clearInterval(drip);
    server.answer();
    await serves(opened);
  });

  test('a nil that nobody asked for costs its connection', async (t) => {
    const server = await start(t);
    const opened = open(t, 'standalone', server);
    for (const bytes of ['$-1\r\n', '*-1\r\n', '-ERR idle\r\n']) {
      await serves(opened);
      const before = failuresIn(opened.events).length;
      server.send(bytes);
      await until('the connection to end', () => failuresIn(opened.events).length > before);
      assert.match(failuresIn(opened.events).at(-1) ?? '', /^a reply that no command waits for/, JSON.stringify(bytes));
    }
    await serves(opened);
  });

  test('a reply before the violation reaches its command, and the damaged one does not', async (t) => {
    const server = await start(t);
    const opened = open(t, 'standalone', server);
    await serves(opened);
    let gets = 0;
    server.answer(([command]) => {
      if (command !== 'GET') return undefined;
      gets += 1;
      // The length of the second one is too small: a decoder takes its first bytes for the value.
      return gets === 1 ? '$1\r\na\r\n' : '$2\r\nabc\r\n';
    });
    const reads = await Promise.all([readOnce(opened.store, NAME, 1000), readOnce(opened.store, NAME, 1000)]);
    assert.deepEqual(reads[0], { kind: 'value', value: Buffer.from('a') });
    assert.deepEqual(reads[1], { kind: 'fault', fault: 'store-down' });
  });

  test('an endless reply is cut by its bytes, and not by time', async (t) => {
    const server = await start(t);
    const opened = open(t, 'standalone', server);
    await serves(opened);
    server.answer(([command]) => (command === 'GET' ? `+${'x'.repeat(100_000)}` : undefined));
    await until('the reply to be refused', async () => {
      await readOnce(opened.store, NAME, 100);
      return failuresIn(opened.events).some((detail) => detail.startsWith('a reply that is too large'));
    });
    server.answer();
    await serves(opened);
  });
});
