import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { createServer, type TlsOptions } from 'node:tls';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type Certificates, makeCertificates } from '../../../loadtest/stack/redis-node.ts';
import {
  MANTICORE_NEEDS,
  manticoreFolder,
  type RunningSearchd,
  type SearchServer,
  SPHINX,
  startSearchd,
} from '../../../loadtest/stack/sphinx.ts';
import type { EngineTlsSettings } from '../../../src/config/settings.ts';
import { createSphinxEngine } from '../../../src/engines/sphinx/engine.ts';
import { writeSphinxSource } from '../../../src/engines/sphinx/source.ts';
import { SearchError } from '../../../src/resilience/search-error.ts';
import type { SearchDomain } from '../../../src/search/domain.ts';
import { ask } from '../../contract/engine-truth.ts';
import { optional } from '../../optional.ts';
import { engineDefaults, temporaryDirectory } from './harness.ts';

const domain: SearchDomain = { name: 'goods', attributes: [], context: [], answerProfile: '' };
const documents = [{ id: 'a', title: 'кроссовки', description: 'летние', attributes: {} }];
const source = { domains: [{ domain, index: 'goods', documents }] };

/** The result of one search with these settings: the ids found, or the error. */
async function asked(t: TestContext, server: SearchServer, port: number, tls?: EngineTlsSettings, host = '127.0.0.1') {
  const engine = createSphinxEngine({ ...engineDefaults(port, server), host, domain, index: 'goods', tls });
  t.after(engine.close);
  try {
    const request = ask('кроссовки', { domain: 'goods' });
    return (await engine.search(request, new AbortController().signal)).results.map(({ id }) => id);
  } catch (error) {
    assert.ok(error instanceof SearchError);
    return error;
  }
}

function assertRefused(result: unknown, message: RegExp): void {
  assert.ok(result instanceof SearchError, `not refused: ${JSON.stringify(result)}`);
  assert.equal(result.reason, 'engine-unavailable');
  assert.match(result.message, message);
}

/** Like stunnel before a searchd: terminates TLS and forwards the content. */
async function startTunnel(t: TestContext, to: number, options: TlsOptions): Promise<number> {
  const server = createServer(options, (outer) => {
    const inner = connect({ port: to, host: '127.0.0.1' });
    for (const socket of [outer, inner]) socket.on('error', () => undefined);
    outer.pipe(inner).pipe(outer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

describe('TLS to the engine', () => {
  let directory = '';
  let own: Certificates;
  let foreign: Certificates;
  before(async () => {
    directory = await temporaryDirectory();
    for (const name of ['own', 'foreign']) await mkdir(join(directory, name));
    own = await makeCertificates(join(directory, 'own'));
    foreign = await makeCertificates(join(directory, 'foreign'));
  });

  describe('searchd 2.2.11 behind a TCP forwarder that terminates TLS', () => {
    let searchd: RunningSearchd;
    before(async () => {
      searchd = await startSearchd({ directory: join(directory, 'sphinx'), from: source });
    });
    after(() => searchd.stop());
    const certificate = (): TlsOptions => ({ cert: readFileSync(own.certFile), key: readFileSync(own.keyFile) });

    test('a trusted certificate of the address is accepted, one with another name only when that name is expected', async (t) => {
      const port = await startTunnel(t, searchd.port, certificate());
      const { ca } = own;
      assert.deepEqual(await asked(t, SPHINX, port, { mode: 'tunnel', ca }), ['a']);
      assert.deepEqual(await asked(t, SPHINX, port, { mode: 'tunnel', ca, serverName: 'localhost' }), ['a']);
      const wrongName = await asked(t, SPHINX, port, { mode: 'tunnel', ca, serverName: 'other.internal' });
      assertRefused(wrongName, /^no TLS with the engine: .*other\.internal.*\(ERR_TLS_CERT_ALTNAME_INVALID\)$/);
    });

    test('a certificate of an authority that is not configured is refused, also with the public authorities alone', async (t) => {
      const port = await startTunnel(t, searchd.port, certificate());
      for (const tls of [{ mode: 'tunnel', ca: foreign.ca }, { mode: 'tunnel' }] as const) {
        assertRefused(await asked(t, SPHINX, port, tls), /^no TLS with the engine: .*certificate/);
      }
    });

    test('a forwarder that demands a client certificate gets it', async (t) => {
      const port = await startTunnel(t, searchd.port, {
        ...certificate(),
        ca: own.ca,
        requestCert: true,
        rejectUnauthorized: true,
      });
      const { ca } = own;
      const shown = { cert: readFileSync(own.certFile, 'utf8'), key: readFileSync(own.keyFile, 'utf8') };
      assert.deepEqual(await asked(t, SPHINX, port, { mode: 'tunnel', ca, ...shown }), ['a']);
      assertRefused(await asked(t, SPHINX, port, { mode: 'tunnel', ca }), /certificate required/);
    });

    test('a searchd without TLS gets no query in either mode, and still answers clients with plain text', async (t) => {
      const { ca } = own;
      const tunnel = await asked(t, SPHINX, searchd.port, { mode: 'tunnel', ca });
      assertRefused(tunnel, /^no TLS with the engine: wrong version number \(ERR_SSL_WRONG_VERSION_NUMBER\)$/);
      const mysql = await asked(t, SPHINX, searchd.port, { mode: 'mysql', ca, serverName: 'localhost' });
      assertRefused(mysql, /^no TLS with the engine: .*secur.*\(HANDSHAKE_NO_SSL_SUPPORT\)$/);
      assert.deepEqual(await asked(t, SPHINX, searchd.port), ['a']);
    });
  });

  optional('Manticore', manticoreFolder(), MANTICORE_NEEDS, (folder) => {
    describe('Manticore with ssl_cert', () => {
      const server: SearchServer = { dialect: 'manticore', folder };
      let searchd: RunningSearchd;
      before(async () => {
        const [port = 0] = await freePorts(1);
        const place = join(directory, 'manticore');
        await mkdir(place);
        const { configFile } = await writeSphinxSource({
          ...source,
          directory: place,
          searchd: { dialect: 'manticore', host: '127.0.0.1', port, maxConnections: 16 },
        });
        const lines = `ssl_cert = ${own.certFile}\n  ssl_key = ${own.keyFile}\n  ssl_ca = ${own.caFile}\n`;
        writeFileSync(configFile, readFileSync(configFile, 'utf8').replace(/^searchd\n\{\n/m, `$&  ${lines}`));
        searchd = await startSearchd({ directory: place, server, from: { configFile, port } });
      });
      after(() => searchd.stop());

      test('a trusted certificate of the expected name is accepted within the MySQL handshake', async (t) => {
        const { ca } = own;
        assert.deepEqual(await asked(t, server, searchd.port, { mode: 'mysql', ca }, 'localhost'), ['a']);
        assert.deepEqual(await asked(t, server, searchd.port, { mode: 'mysql', ca, serverName: 'localhost' }), ['a']);
        const wrongName = await asked(t, server, searchd.port, { mode: 'mysql', ca, serverName: 'other.internal' });
        assertRefused(wrongName, /^no TLS with the engine: .*other\.internal.*\(HANDSHAKE_SSL_ERROR\)$/);
      });

      test('the client refuses a certificate of an authority that is not configured, also with the public authorities alone', async (t) => {
        for (const tls of [{ mode: 'mysql', ca: foreign.ca }, { mode: 'mysql' }] as const) {
          const refused = await asked(t, server, searchd.port, { ...tls, serverName: 'localhost' });
          assertRefused(refused, /^no TLS with the engine: .*certificate/);
        }
      });
    });
  });
});
