import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EngineConnectionEvent } from '../../../src/engines/sphinx/engine.ts';
import {
  columnOf,
  eof,
  errorOf,
  type FakeSearchdOptions,
  GREETING,
  OK,
  packet,
  payloadsOf,
  reply,
  rowOf,
  startFakeSearchd,
} from '../../fakes/searchd.ts';
import { until } from '../../until.ts';
import { connectionsTo } from './harness.ts';

const { signal: never } = new AbortController();

/** Connections to a fake searchd, one at a time unless more are wanted. */
async function open(
  t: TestContext,
  { maxConnections = 1, ...server }: FakeSearchdOptions & { maxConnections?: number },
) {
  const searchd = await startFakeSearchd(server);
  const events: EngineConnectionEvent[] = [];
  const connections = connectionsTo(t, searchd, { maxConnections, observe: (event) => events.push(event) });
  const ended = (): readonly (string | undefined)[] =>
    events.filter(({ state }) => state === 'closed' || state === 'failed').map(({ detail }) => detail);
  return { searchd, connections, ended, ask: (sql = 'ask') => connections.ask(sql, never) };
}

const NONE_HELD = { open: 0, idle: 0, waiting: 0 };
const SET = payloadsOf([{ columns: ['id', 'title'], rows: [['1', 'гитара']] }]);
const [COUNT = OK, ID = OK, TITLE = OK, , ROW = OK] = SET;
const longText = 'x'.repeat(300);

/** Replies that no searchd sends. mysql2 alone drops the statement, reads another packet's bytes, or only prints a line. */
const DAMAGED: Readonly<Record<string, Buffer>> = {
  'a row where EOF must stand': Buffer.from(
    '01000001011a000002036465660000000269640269640c21001400000008000000000003000003026931',
    'hex',
  ),
  'a row of too few columns': reply(COUNT, ID, TITLE, eof(), rowOf(['1']), eof()),
  'a row of too many columns': reply(COUNT, ID, TITLE, eof(), rowOf(['1', 'a', 'b']), eof()),
  'a text that ends beyond its packet': reply(COUNT, ID, TITLE, eof(), Buffer.from('\x011\x20short'), eof()),
  'a text that ends beyond all packets': reply(
    COUNT,
    ID,
    TITLE,
    eof(),
    Buffer.from('\x011\xfd\xff\xff\xffshort', 'latin1'),
    eof(),
  ),
  'a length of 64 bits': reply(COUNT, ID, TITLE, eof(), Buffer.concat([Buffer.of(0xfe), Buffer.alloc(20, 1)]), eof()),
  'an empty row': Buffer.concat([reply(COUNT, ID, TITLE, eof()), packet(5, Buffer.alloc(0)), packet(6, eof())]),
  'EOF among the definitions': reply(COUNT, ID, eof(), ROW, eof()),
  'a cut definition': reply(COUNT, ID, TITLE.subarray(0, 9), eof(), ROW, eof()),
  'a cut EOF': reply(COUNT, ID, TITLE, eof(), ROW, eof().subarray(0, 4)),
  'a cut OK': reply(OK.subarray(0, 5)),
  'a cut error': reply(errorOf(1064, '').subarray(0, 5)),
  'an OK of a megabyte': reply(Buffer.concat([OK, Buffer.alloc(2 ** 20, 1)])),
  'an error of a megabyte': reply(errorOf(1064, 'x'.repeat(2 ** 20))),
  'an error of a megabyte among the rows': reply(COUNT, ID, TITLE, eof(), errorOf(1064, 'x'.repeat(2 ** 20))),
  'no columns': reply(Buffer.from([0xfc, 0, 0])),
  'four billion columns': reply(Buffer.concat([Buffer.of(0xfe), Buffer.alloc(8, 0xff)])),
  'a request for a local file': reply(Buffer.from('\xfb/etc/passwd', 'latin1')),
  'a wrong sequence number': Buffer.concat([packet(1, COUNT), packet(3, ID)]),
  'a repeated packet': Buffer.concat([packet(1, COUNT), packet(2, ID), packet(2, ID)]),
  'a packet that goes on in the next': Buffer.from([0xff, 0xff, 0xff, 1, 0]),
  'a packet after the end': Buffer.concat([reply(...SET), packet(SET.length + 1, ROW)]),
  'more rows than any page has': reply(COUNT, ID, TITLE, eof(), ...Array<Buffer>(100_001).fill(ROW)),
};

for (const [name, bytes] of Object.entries(DAMAGED)) {
  test(`a damaged reply ends its connection and its search alone: ${name}`, async (t) => {
    const { connections, ask, ended } = await open(t, {
      answer: (sql) => (sql === 'damaged' ? bytes : reply(...SET)),
    });
    await assert.rejects(ask('damaged'), { reason: 'engine-unavailable', message: /^a damaged reply: / });
    await until('the end of the connection', () => ended().length === 1);
    assert.deepEqual(connections.counts(), NONE_HELD);
    // A new connection that takes long on a busy machine is left by its first search.
    await until('a search to be served', async () => assert.deepEqual(await ask(), [[['1', 'гитара']]]));
  });
}

test('replies of every well-formed kind are read whole, in whatever pieces they arrive', async (t) => {
  const sets = [
    {
      columns: ['id', 'title'],
      rows: [
        ['1', longText],
        ['2', null],
        ['3', ''],
      ],
    },
    { columns: ['name', 'value'], rows: [] },
    { columns: ['one'], rows: Array.from({ length: 300 }, (_, row) => [`${row}`]) },
  ];
  const bytes = reply(...payloadsOf(sets));
  const { ask, searchd } = await open(t, {
    answer: (sql, socket) => {
      const piece = Number(sql);
      if (piece === 0) return bytes;
      let at = 0;
      const next = (): void => {
        socket.write(bytes.subarray(at, at + piece));
        at += piece;
        if (at < bytes.length) setImmediate(next);
      };
      next();
      return undefined;
    },
  });
  for (const piece of [0, 1, 3, 7, 500])
    assert.deepEqual(
      await ask(`${piece}`),
      sets.map(({ rows }) => rows),
      `${piece}`,
    );
  assert.equal(searchd.accepted(), 1);
});

test('a refused statement leaves its connection open', async (t) => {
  const { ask, searchd } = await open(t, {
    answer: (sql) => (sql === 'bad' ? reply(errorOf(1064, 'syntax')) : reply(...SET)),
  });
  await assert.rejects(ask('bad'), { reason: 'engine-rejected', message: 'syntax' });
  await ask();
  assert.equal(searchd.accepted(), 1);
});

/** Bytes that arrive while no statement waits. */
const UNASKED: Readonly<Record<string, Buffer>> = {
  'a cut error': Buffer.from('03000000ff2804', 'hex'),
  'an error': packet(0, errorOf(1053, 'shutdown in progress')),
  'an error of one byte': packet(0, Buffer.of(0xff)),
  'an OK': packet(1, OK),
  'a reply': reply(...SET),
  'an empty packet': packet(0, Buffer.alloc(0)),
};
for (const [name, bytes] of Object.entries(UNASKED)) {
  test(`what arrives without a statement ends its connection alone: ${name}`, async (t) => {
    const { searchd, connections, ask, ended } = await open(t, { answer: () => reply(...SET) });
    await ask();
    searchd.sockets()[0]?.write(bytes);
    await until('the end of the connection', () => ended().length === 1);
    assert.deepEqual(connections.counts(), NONE_HELD);
    assert.match(ended()[0] ?? '', /^a damaged reply: /);
    await until('a search to be served', async () => assert.ok(await ask()));
  });
}

const cut = (payload: Buffer): readonly Buffer[] =>
  [1, 2, 5, 9, 20, 30, 44, 50].map((length) => payload.subarray(0, length));

/** The first packets of a server that is none. */
const HANDSHAKES: Readonly<Record<string, { readonly greet?: Buffer; readonly welcome?: Buffer }>> = {
  'an empty greeting': { greet: packet(0, Buffer.alloc(0)) },
  'the greeting of another protocol': { greet: packet(0, Buffer.from('\x09old\0', 'latin1')) },
  'another service': { greet: Buffer.from('SSH-2.0-OpenSSH_9.9\r\n'.repeat(4)) },
  'a cut error for a greeting': { greet: packet(0, Buffer.from([0xff, 0x10])) },
  'a greeting with a wrong number': { greet: packet(7, GREETING) },
  'an answer with a wrong number': { welcome: packet(9, OK) },
  'a demand for an unknown login': { welcome: packet(2, Buffer.from('\xfenothing\0', 'latin1')) },
  'a cut demand for a login': { welcome: packet(2, Buffer.of(0xfe)) },
  'more of a login that was not begun': { welcome: packet(2, Buffer.from([0x01, 0x04])) },
  'a second factor': { welcome: packet(2, Buffer.of(0x02)) },
  'a row for an answer': { welcome: packet(2, ROW) },
  'a cut error for an answer': { welcome: packet(2, Buffer.of(0xff)) },
};
for (const [name, { greet, welcome }] of Object.entries(HANDSHAKES)) {
  test(`a damaged handshake ends its connection alone: ${name}`, async (t) => {
    const { ask, ended, connections } = await open(t, {
      greet: greet && (() => greet),
      welcome: welcome && (() => welcome),
    });
    await assert.rejects(ask(), { reason: 'engine-unavailable' });
    await until('the end of the connection', () => ended().length === 1);
    assert.deepEqual(connections.counts(), NONE_HELD);
  });
}

test('a cut greeting gives a connection or an error, never a crash', async (t) => {
  for (const greeting of cut(GREETING)) {
    const { ask } = await open(t, { greet: () => packet(0, greeting) });
    await ask().catch((error) => assert.equal(error.reason, 'engine-unavailable'));
  }
});

test('a fault of our own at the end of a connection is not taken for a fault of the reply', async (t) => {
  const searchd = await startFakeSearchd({ answer: () => reply(columnOf('x')) });
  const ours = new Error('of our own');
  const thrown = new Promise((resolve) => {
    process.setUncaughtExceptionCaptureCallback(resolve);
  });
  t.after(() => process.setUncaughtExceptionCaptureCallback(null));
  const connections = connectionsTo(t, searchd, {
    observe: ({ state }) => {
      if (state === 'closed') throw ours;
    },
  });
  await assert.rejects(connections.ask('ask', never), { reason: 'engine-unavailable' });
  assert.equal(await thrown, ours);
});
