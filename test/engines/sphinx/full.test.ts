import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN } from '../../contract/engine.ts';
import { ask } from '../../contract/engine-truth.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { eachServer, openSphinx } from './harness.ts';

const MOST_CONNECTIONS = 6;

eachServer((name, server) => {
  describe(`searchd of ${name} full`, () => {
    let opened: Awaited<ReturnType<typeof openSphinx>>;
    before(async () => {
      opened = await openSphinx({
        server,
        domains: [{ domain: CONTRACT_DOMAIN, index: 'contract', documents: CONTRACT_DOCUMENTS.slice(0, 50) }],
        maxConnections: MOST_CONNECTIONS,
      });
    });
    after(async () => {
      await opened?.searchd.stop();
      await opened?.remove();
    });

    it('refuses with engine-overloaded (max_children, max_connections), and answers once a connection is free', async () => {
      const crowd = await occupyAll(opened.searchd.port, MOST_CONNECTIONS);
      const engine = opened.engine({ domain: CONTRACT_DOMAIN, index: 'contract' });
      const search = () => engine.search(ask('гитара'), AbortSignal.timeout(LIMIT_MS));
      try {
        await assert.rejects(search(), { name: 'SearchError', reason: 'engine-overloaded' });
        await assert.rejects(engine.probe(AbortSignal.timeout(LIMIT_MS)), { reason: 'engine-overloaded' });
      } finally {
        for (const socket of crowd) socket.destroy();
      }
      await until('an answer', async () => (await search()).total > 0);
      await engine.close();
    });
  });
});

/** Connections that only take up searchd's limit. One that searchd is still closing may count for a moment: try again. */
async function occupyAll(port: number, count: number): Promise<Socket[]> {
  const held: Socket[] = [];
  while (held.length < count) {
    const { socket, greeted } = await occupy(port);
    if (greeted) held.push(socket);
    else await sleep(20);
  }
  return held;
}

/** A greeting is a packet of type 10, a refusal of type 255. */
function occupy(port: number): Promise<{ socket: Socket; greeted: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.once('data', (packet) => resolve({ socket, greeted: packet[4] === 10 }));
    socket.once('close', () => resolve({ socket, greeted: false }));
  });
}
