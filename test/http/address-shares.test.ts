import assert from 'node:assert/strict';
import { get as httpGet, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createAddressShares } from '../../src/http/transport/address-shares.ts';
import type { ConnectionEvent } from '../../src/http/transport/events.ts';
import { until } from '../until.ts';
import { adminHarness } from './admin/harness.ts';
import { openClient } from './harness.ts';

const POLL = 'GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n';

async function pollers(context: TestContext, port: number, count: number): Promise<readonly Socket[]> {
  const clients = Array.from({ length: count }, () => openClient(context, port, POLL).socket);
  await until('each connection was answered or closed', () =>
    clients.every(({ closed, bytesRead }) => closed || bytesRead > 0),
  );
  return clients;
}

/** The status of one request on a new connection; 0 when the connection was cut. */
function ask(port: number, localAddress: string): Promise<number> {
  return new Promise((resolve) => {
    const request = httpGet({ port, host: '127.0.0.1', localAddress, path: '/healthz', agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    });
    request.once('error', () => resolve(0));
  });
}

test('clients of one address occupy at most half of the admin listener, and other addresses are still served', async (context) => {
  const cut: ConnectionEvent['what'][] = [];
  const { listen } = adminHarness(context, { token: '', observeConnection: ({ what }) => cut.push(what) });
  const port = await listen();
  const clients = await pollers(context, port, 64);
  const open = (): number => clients.filter(({ closed, destroyed }) => !closed && !destroyed).length;
  await until('the rest were closed', () => open() <= 32);
  assert.equal(open(), 32);
  assert.deepEqual(new Set(cut), new Set(['share']));
  for (let i = 0; i < 10; i += 1) {
    assert.equal(await ask(port, '127.0.0.1'), 200, 'from the same address');
    assert.equal(await ask(port, '127.0.0.2'), 200, 'from another');
  }
});

interface FakeSocket {
  readonly socket: Socket;
  readonly isOpen: () => boolean;
}

let lastPort = 0;

function fakeSocket(remoteAddress: string): FakeSocket {
  let open = true;
  lastPort += 1;
  const socket = {
    remoteAddress,
    remotePort: lastPort,
    once: () => socket,
    destroy: () => {
      open = false;
    },
  };
  return { socket: socket as unknown as Socket, isOpen: () => open };
}

function shares(maxConnections: number, maxPerAddress: number) {
  const cut: ConnectionEvent['what'][] = [];
  const server = {} as Server;
  return {
    cut,
    ...createAddressShares({ server, maxConnections, maxPerAddress, observe: ({ what }) => cut.push(what) }),
  };
}

const atWork = { writableEnded: false } as ServerResponse;
const answered = { writableEnded: true } as ServerResponse;

test('an address at its maximum gives up its least recently used connection', () => {
  const { admits, answering, cut } = shares(64, 3);
  const own = Array.from({ length: 3 }, () => fakeSocket('192.0.2.1'));
  for (const { socket } of own) assert.equal(admits(socket), true);
  answering(own[0]?.socket as Socket, answered);
  assert.equal(admits(fakeSocket('192.0.2.1').socket), true);
  assert.deepEqual(
    own.map(({ isOpen }) => isOpen()),
    [true, false, true],
  );
  assert.equal(admits(fakeSocket('192.0.2.2').socket), true);
  assert.deepEqual(cut, ['share']);
});

test('a busy connection is not given up, and the new one is refused instead', () => {
  const { admits, answering, cut } = shares(64, 2);
  const [first, second] = [fakeSocket('2001:db8::1'), fakeSocket('2001:db8::2')];
  for (const { socket } of [first, second]) {
    admits(socket);
    answering(socket, atWork);
  }
  const third = fakeSocket('2001:db8::3');
  assert.equal(admits(third.socket), false, 'an IPv6 network has one share');
  assert.deepEqual([first.isOpen(), second.isOpen(), third.isOpen()], [true, true, false]);
  assert.equal(admits(fakeSocket('2001:db8:0:1::1').socket), true);
  assert.deepEqual(cut, ['share']);
});

test('connections without a remote address are counted only while they are open', () => {
  const { admits } = shares(2, 2);
  for (let i = 0; i < 5; i += 1) {
    const gone = fakeSocket('');
    assert.equal(admits(Object.assign(gone.socket, { remotePort: undefined })), true);
  }
  assert.equal(admits(fakeSocket('192.0.2.1').socket), true);
});

test('a full listener closes an idle connection of the address with the most connections', () => {
  const { admits, answering } = shares(6, 3);
  const held = ['c', 'a', 'a', 'a', 'b', 'b'].map((name) => fakeSocket(`192.0.2.${name.charCodeAt(0)}`));
  for (const { socket } of held) admits(socket);
  for (const { socket } of held.slice(1, 4)) answering(socket, atWork);
  assert.equal(admits(fakeSocket('192.0.2.1').socket), true);
  assert.deepEqual(
    held.map(({ isOpen }) => isOpen()),
    [true, true, true, true, false, true],
  );
});
