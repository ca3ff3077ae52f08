import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeCertificates } from '../../loadtest/stack/redis-node.ts';
import { settingsWarnings } from '../../src/config/load.ts';
import type { EngineTlsSettings, Settings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../folder.ts';
import { pluck, rowsOf } from '../pluck.ts';
import { faultsOf, goods, load as loadYaml } from './harness.ts';

const directory = temporaryFolder({ after });
let files: Readonly<Record<string, string>> = {};
before(async () => {
  const { ca, certFile, keyFile } = await makeCertificates(directory);
  files = {
    '/srv/tls/ca.pem': ca,
    '/etc/c.pem': readFileSync(certFile, 'utf8'),
    '/etc/k.pem': readFileSync(keyFile, 'utf8'),
    // The key of the authority, which matches no certificate here.
    '/etc/other.pem': readFileSync(join(directory, 'ca.key'), 'utf8'),
  };
});

const pems = () => ({ ca: files['/srv/tls/ca.pem'], cert: files['/etc/c.pem'], key: files['/etc/k.pem'] });

const load = (yaml: string): Settings => loadYaml(yaml, { files });

function engineTls(engine: string): EngineTlsSettings | undefined {
  const settings = load(`domains: { goods: { engine: { ${engine} } } }\n`).domains[0]?.engine;
  assert.ok(settings !== undefined && settings.kind !== 'sqlite');
  return settings.tls;
}

const DEMO = 'domains: { goods: { engine: { kind: sqlite } } }\n';

test('a sentinel store with TLS has its files read and its password kept', () => {
  const { domains } = load(`domains:
  goods:
    engine: { kind: manticore, host: 10.0.0.5 }
    store:
      kind: sentinel
      sentinels: ["[::1]:26379"]
      master: goods
      sentinelPassword: p1
      username: u
      password: p2
      database: 3
      tls: { ca: tls/ca.pem, cert: /etc/c.pem, key: /etc/k.pem, serverName: redis.internal }
`);
  const store = domains[0]?.store;
  assert.ok(store?.kind === 'sentinel');
  assert.deepEqual(store.sentinels, [{ host: '::1', port: 26379 }]);
  assert.deepEqual([store.master, store.sentinelPassword, store.username, store.password], ['goods', 'p1', 'u', 'p2']);
  assert.equal(store.database, 3);
  assert.deepEqual(store.tls, { ...pems(), serverName: 'redis.internal', rejectUnauthorized: true });
});

test('TLS to the engine starts inside the handshake with Manticore and before it with Sphinx, unless mode is set', () => {
  assert.deepEqual(engineTls('kind: manticore, host: m, tls: {}'), { mode: 'mysql' });
  assert.deepEqual(engineTls('kind: sphinx, host: s, tls: {}'), { mode: 'tunnel' });
  assert.deepEqual(engineTls('kind: sphinx, host: s, tls: { mode: mysql }'), { mode: 'mysql' });
  assert.equal(engineTls('kind: sphinx, host: s'), undefined);
  const full = '{ mode: tunnel, ca: tls/ca.pem, cert: /etc/c.pem, key: /etc/k.pem, serverName: m.internal }';
  assert.deepEqual(engineTls(`kind: manticore, host: m, tls: ${full}`), {
    ...{ mode: 'tunnel', ...pems(), serverName: 'm.internal' },
  });
});

test('in the handshake TLS to an address requires serverName; in a tunnel it does not', () => {
  const { faults } = faultsOf(goods('engine: { kind: manticore, host: m, mirrors: ["10.0.0.5:9306"], tls: {} }'));
  assert.deepEqual(rowsOf(faults, 'path', 'value', 'allowed'), [
    [
      'domains.goods.engine.tls.serverName',
      '(missing)',
      "the name in the server's certificate, as 10.0.0.5 is an address",
    ],
  ]);
  assert.ok(engineTls('kind: manticore, host: 10.0.0.5, tls: { serverName: m.internal }'));
  assert.ok(engineTls('kind: manticore, host: 10.0.0.5, tls: { mode: tunnel }'));
});

test('the check of the engine’s certificate cannot be switched off', () => {
  const { faults } = faultsOf(goods('engine: { kind: sphinx, host: s, tls: { rejectUnauthorized: false } }'));
  assert.deepEqual(pluck(faults, 'path'), ['domains.goods.engine.tls.rejectUnauthorized']);
});

test('the admin listener has its certificate and key read; each without the other is a fault', () => {
  const { cert, key } = pems();
  assert.deepEqual(load(`admin: { tls: { cert: /etc/c.pem, key: /etc/k.pem } }\n${DEMO}`).admin.tls, { cert, key });
  assert.equal(load(DEMO).admin.tls, undefined);
  const { faults } = faultsOf('admin: { tls: { cert: /etc/c.pem } }\n', { files });
  assert.deepEqual(rowsOf(faults, 'path', 'value'), [['admin.tls.key', '(missing)']]);
});

test('a key that is not the certificate’s is a fault in every tls section', () => {
  const wrong = '{ cert: /etc/c.pem, key: /etc/other.pem }';
  const { faults } = faultsOf(
    `admin: { tls: ${wrong} }
control: { kind: standalone, nodes: ["c:1"], tls: ${wrong} }
domains: { goods: { engine: { kind: sphinx, host: s, tls: ${wrong} }, store: { kind: cluster, nodes: ["a:1"], tls: ${wrong} } } }
`,
    { files },
  );
  assert.deepEqual(faults.map(({ path, allowed }) => `${path}: ${allowed}`).toSorted(), [
    'admin.tls.key: the private key of cert, without a passphrase',
    'control.tls.key: the private key of cert, without a passphrase',
    'domains.goods.engine.tls.key: the private key of cert, without a passphrase',
    'domains.goods.store.tls.key: the private key of cert, without a passphrase',
  ]);
});

test('an admin listener without TLS outside loopback and an unverified store give a warning each', () => {
  const token = 'token: a-token-of-more-than-twenty-characters';
  const warnings = (yaml: string): readonly string[] => settingsWarnings(load(`${yaml}\n${DEMO}`));
  assert.deepEqual(warnings(''), []);
  assert.deepEqual(warnings(`admin: { host: 10.0.0.1, ${token}, tls: { cert: /etc/c.pem, key: /etc/k.pem } }`), []);
  assert.match(
    warnings(`admin: { host: 0.0.0.0, ${token} }`).join('\n'),
    /^admin\.tls is not set and admin\.host 0\.0\.0\.0 is not .* token crosses the network in plain text[^\n]*$/,
  );
  assert.deepEqual(warnings('control: { kind: standalone, nodes: ["c:1"], tls: { rejectUnauthorized: false } }'), [
    'control.tls.rejectUnauthorized is false: any server is trusted, and gets the password',
  ]);
});
