import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeCertificates } from '../../loadtest/stack/redis-node.ts';
import { loadSettings, settingsWarnings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../folder.ts';

const root = join(import.meta.dirname, '..', '..');

const directory = temporaryFolder({ after });
let pem = { cert: '', key: '' };
before(async () => {
  const { certFile, keyFile } = await makeCertificates(directory);
  pem = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
});

/** A faulty file fails with all its faults in the message. */
function load(file: string, env: Readonly<Record<string, string>> = {}): Settings {
  return loadSettings({
    env: { ...env, SERPCACHE_CONFIG: file },
    cwd: root,
    readFile: (path) =>
      path.endsWith('.yaml') ? readFileSync(path, 'utf8') : path.endsWith('.key') ? pem.key : pem.cert,
  });
}

function ports(settings: Settings): number[] {
  return settings.domains.flatMap(({ store }) => (store.kind === 'cluster' ? store.nodes.map(({ port }) => port) : []));
}

for (const file of ['deploy/local.yaml', 'deploy/local-demo.yaml']) {
  test(`${file} describes two clusters of three and one searchd, all on loopback`, () => {
    const settings = load(file);
    assert.equal(settings.domains.length, 2);
    assert.deepEqual(ports(settings), [7101, 7102, 7103, 7201, 7202, 7203]);
    for (const { store, engine } of settings.domains) {
      assert.ok(store.kind === 'cluster' && store.nodes.every(({ host }) => host === '127.0.0.1'));
      assert.ok(engine.kind === 'sphinx');
      assert.deepEqual(engine.endpoints, [{ host: '127.0.0.1', port: 9306 }]);
    }
    assert.equal(settings.public.host, '127.0.0.1');
    assert.equal(settings.admin.host, '127.0.0.1');
  });
}

test('no shipped file holds a token or a default for one', () => {
  const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' });
  const read = files.filter((name) => /\.(?:ya?ml|service|conf)$|Dockerfile$/.test(name));
  assert.ok(read.length >= 6, String(read));
  for (const name of read) {
    const text = readFileSync(join(root, 'deploy', name), 'utf8');
    assert.doesNotMatch(
      text,
      /ADMIN_TOKEN:?-|^\s*(?:ADMIN_TOKEN[=:]|token:)\s*(?!\$\{ADMIN_TOKEN(?::\?[^}]*)?\})\S/m,
      name,
    );
  }
});

test('deploy/production.example.yaml loads with the variables it names, and needs each of them', () => {
  const env = {
    ADMIN_TOKEN: 'a-token-of-32-characters-or-more',
    STORE_PASSWORD: 'a-password',
    CONTROL_PASSWORD: 'another-password',
  };
  const settings = load('deploy/production.example.yaml', env);
  assert.deepEqual(
    settings.domains.map(({ name, store, engine }) => [
      name,
      store.kind,
      'tls' in store && store.tls?.ca === pem.cert,
      engine.kind === 'sphinx' && engine.tls?.ca === pem.cert,
    ]),
    [
      ['goods', 'cluster', true, true],
      ['auto', 'cluster', true, true],
    ],
  );
  assert.ok(settings.control.kind === 'standalone' && settings.control.tls?.rejectUnauthorized === true);
  assert.deepEqual(settings.admin.tls, pem);
  assert.ok(!['0.0.0.0', '::', settings.public.host].includes(settings.admin.host));
  assert.deepEqual(settingsWarnings(settings), []);
  for (const name of Object.keys(env)) {
    const without = Object.fromEntries(Object.entries(env).filter(([key]) => key !== name));
    assert.throws(() => load('deploy/production.example.yaml', without), new RegExp(name));
  }
});

test('deploy/compose/serpcache.yaml loads with the secrets that the compose file demands, and stays on loopback', () => {
  const settings = load('deploy/compose/serpcache.yaml', { ADMIN_TOKEN: 'a-token-of-mine-alone', STORE_PASSWORD: 'p' });
  assert.equal(settings.admin.host, '127.0.0.1');
  assert.throws(
    () => load('deploy/compose/serpcache.yaml', { ADMIN_TOKEN: 'a-token-of-mine-alone' }),
    /STORE_PASSWORD/,
  );
  assert.deepEqual(ports(settings), Array<number>(6).fill(6379));
});

test('local-demo.yaml and compose declare the demo domains as the demo catalogue does', () => {
  const demo = loadSettings({ env: {}, cwd: root }).domains;
  for (const file of ['deploy/local-demo.yaml', 'deploy/compose/serpcache.yaml']) {
    for (const { name, attributes } of load(file, { ADMIN_TOKEN: 'a-token-of-mine-alone', STORE_PASSWORD: 'p' })
      .domains) {
      const declared = demo.find((domain) => domain.name === name);
      assert.ok(declared !== undefined, `${file}: there is no demo domain ${name}`);
      assert.deepEqual(byName(attributes), byName(declared.attributes), `${file}: ${name}`);
    }
  }
});

function byName<T extends { readonly name: string }>(attributes: readonly T[]): T[] {
  return attributes.toSorted((a, b) => a.name.localeCompare(b.name));
}
