import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Connections } from '../../../src/engines/sphinx/engine.ts';
import {
  type FakeSearchd,
  type FakeSearchdOptions,
  GREETING,
  OK,
  packet,
  reply,
  startFakeSearchd,
} from '../../fakes/searchd.ts';
import { until } from '../../until.ts';
import { connectionsTo } from './harness.ts';

interface Harness {
  readonly connections: Connections;
  readonly searchd: FakeSearchd;
  readonly asked: () => readonly string[];
  /** Answers the statements `hang` received so far. */
  readonly answer: () => void;
}

/** Connections to a server that answers every statement except `hang` at once, with an empty reply. */
async function createHarness(
  t: TestContext,
  maxConnections: number,
  given: Pick<FakeSearchdOptions, 'greet'> = {},
): Promise<Harness> {
  const hanging: Socket[] = [];
  const searchd = await startFakeSearchd({
    ...given,
    answer: (sql, socket) => {
      if (sql !== 'hang') return reply(OK);
      hanging.push(socket);
      return undefined;
    },
  });
  const connections = connectionsTo(t, searchd, { maxConnections });
  const answer = (): void => {
    for (const socket of hanging.splice(0)) socket.write(reply(OK));
  };
  return { connections, searchd, asked: searchd.asked, answer };
}

test('when a query is given up, the waiter gets a new connection', async (t) => {
  const { connections, asked } = await createHarness(t, 1);
  const leave = new AbortController();
  const given = assert.rejects(connections.ask('hang', leave.signal), { reason: 'engine-timeout' });
  await until('the query', () => asked().includes('hang'));
  const waits = connections.ask('next', new AbortController().signal);
  assert.equal(connections.counts().waiting, 1);
  leave.abort();
  await Promise.all([given, waits]);
  assert.equal(asked().at(-1), 'next');
  assert.deepEqual(connections.counts(), { open: 1, idle: 1, waiting: 0 });
});

test('a waiter gets the connection that becomes idle, and a waiter beyond the bound is refused', async (t) => {
  const { connections, asked, answer } = await createHarness(t, 1);
  const { signal } = new AbortController();
  const first = connections.ask('hang', signal);
  await until('the query', () => asked().includes('hang'));
  const waits = connections.ask('next', signal);
  await assert.rejects(connections.ask('third', signal), { reason: 'engine-overloaded' });
  answer();
  await Promise.all([first, waits]);
  assert.deepEqual(asked().slice(-2), ['hang', 'next']);
  assert.deepEqual(connections.counts(), { open: 1, idle: 1, waiting: 0 });
});

test('closing rejects every waiter', async (t) => {
  const { connections, asked } = await createHarness(t, 1);
  const { signal } = new AbortController();
  const both = ['hang', 'next'].map((sql) =>
    assert.rejects(connections.ask(sql, signal), { reason: 'engine-unavailable' }),
  );
  await until('the query', () => asked().includes('hang'));
  connections.close();
  await Promise.all(both);
  assert.deepEqual(connections.counts(), { open: 0, idle: 0, waiting: 0 });
});

const { signal: never } = new AbortController();
const noGreeting = { reason: 'engine-unavailable', message: /does not greet/ };

/** A server that has ended its connections and lets new ones wait, as searchd does between SIGTERM and its end. */
async function createEnding(t: TestContext, maxConnections: number) {
  const state = { greets: true };
  const harness = await createHarness(t, maxConnections, {
    greet: () => (state.greets ? packet(0, GREETING) : undefined),
  });
  return {
    ...harness,
    greetNone: (): void => {
      state.greets = false;
    },
    end: (): void => {
      state.greets = false;
      for (const socket of harness.searchd.sockets()) socket.resetAndDestroy();
    },
    /** The connections that wait get their greeting. */
    greet: (): void => {
      state.greets = true;
      for (const socket of harness.searchd.sockets()) socket.write(packet(0, GREETING));
    },
  };
}

test('a server that ended a connection and greets no other costs a search no deadline', async (t) => {
  const { connections, searchd, end, greet } = await createEnding(t, 4);
  await connections.ask('first', never);
  end();
  await until('the end of the connections', () => connections.counts().open === 0);
  await Promise.all([1, 2].map(() => assert.rejects(connections.ask('next', never), noGreeting)));
  const accepted = searchd.accepted();
  for (let i = 0; i < 8; i += 1) await assert.rejects(connections.ask('later', never), noGreeting);
  assert.equal(searchd.accepted(), accepted, 'no more connections wait than before');
  greet();
  await until('the connection', () => connections.counts().idle > 0);
  await connections.ask('back', never);
  assert.equal(searchd.accepted(), accepted, 'the connections that waited are used');
});

test('a connection that ends also ends the wait for the greeting of another', async (t) => {
  const { connections, asked, searchd, greetNone } = await createEnding(t, 2);
  const first = assert.rejects(connections.ask('hang', never), { reason: 'engine-unavailable' });
  await until('the query', () => asked().includes('hang'));
  greetNone();
  const waits = assert.rejects(connections.ask('next', never), noGreeting);
  await until('the second connection', () => searchd.accepted() === 2);
  searchd.sockets()[0]?.resetAndDestroy();
  await Promise.all([first, waits]);
});

test('whoever waits for a free connection is refused with those that wait for a greeting', async (t) => {
  const { connections, end } = await createEnding(t, 1);
  await connections.ask('first', never);
  end();
  await until('the end of the connections', () => connections.counts().open === 0);
  await Promise.all([1, 2].map(() => assert.rejects(connections.ask('next', never), noGreeting)));
  assert.equal(connections.counts().waiting, 0);
});

test('a greeting that is late only because the server is slow is waited for', async (t) => {
  const { connections, searchd, greetNone, greet } = await createEnding(t, 1);
  greetNone();
  const asks = connections.ask('first', never);
  await until('the connection', () => searchd.accepted() === 1);
  // Longer than a search waits for a server in doubt.
  await new Promise((done) => setTimeout(done, 200));
  greet();
  await asks;
});
