import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Connection, openConnection } from '../../../src/engines/sphinx/connection.ts';
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
      const crowd: Connection[] = [];
      const address = { host: '127.0.0.1', port: opened.searchd.port, connectTimeoutMs: LIMIT_MS };
      // One that searchd is still closing may count for a moment.
      await until('the crowd', async () => {
        while (crowd.length < MOST_CONNECTIONS) {
          crowd.push(await openConnection({ ...address, onClose: () => {} }, AbortSignal.timeout(LIMIT_MS)));
        }
      });
      const engine = opened.engine({ domain: CONTRACT_DOMAIN, index: 'contract' });
      const search = () => engine.search(ask('гитара'), AbortSignal.timeout(LIMIT_MS));
      try {
        await assert.rejects(search(), { name: 'SearchError', reason: 'engine-overloaded' });
        await assert.rejects(engine.probe(AbortSignal.timeout(LIMIT_MS)), { reason: 'engine-overloaded' });
      } finally {
        for (const connection of crowd) connection.destroy();
      }
      await until('an answer', async () => (await search()).total > 0);
      await engine.close();
    });
  });
});
