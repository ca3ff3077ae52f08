import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { loadSettings } from '../../src/config/load.ts';
import type { DomainSettings, NamedStoreSettings } from '../../src/config/settings.ts';
import { cutOverYaml, fingerprintOf } from '../../src/config/store-identity.ts';

function load(yaml: string): DomainSettings {
  const [domain] = loadSettings({
    env: { SERPCACHE_CONFIG: 'serpcache.yaml' },
    cwd: '/srv',
    readFile: (path) => (path.endsWith('.yaml') ? yaml : '-----BEGIN CERTIFICATE-----hunter2'),
  }).domains;
  assert.ok(domain);
  return domain;
}

function storesOf(yaml: string): Readonly<Record<'store' | 'candidate', NamedStoreSettings>> {
  const { store, candidates } = load(yaml);
  const [candidate] = candidates;
  assert.ok(store.kind !== 'none' && candidate !== undefined);
  return { store: { name: 'store', settings: store }, candidate };
}

const domainOf = (store: string, candidate = '{ kind: cluster, nodes: ["other:1"] }'): string =>
  `domains: { goods: { engine: { kind: sqlite }, store: ${store}, candidates: { valkey: ${candidate} } } }\n`;
const fingerprint = (store: string): string => fingerprintOf(storesOf(domainOf(store)).store.settings);

const CLUSTER = '{ kind: cluster, nodes: ["a:1", "b:1"] }';
const SENTINEL = '{ kind: sentinel, sentinels: ["a:1"], master: m }';

test('a fingerprint has 16 characters, and stays the same in a later version', () => {
  assert.equal(fingerprint(CLUSTER), 'mecms-kO8TOnc2aW');
  assert.match(fingerprint(SENTINEL), /^[\w-]{16}$/);
});

test('order and spelling of the nodes, credentials, TLS, deadlines and shared do not change a fingerprint', () => {
  for (const same of [
    '{ kind: cluster, nodes: ["b:1", "A:1"] }',
    '{ kind: cluster, nodes: ["a:1", "b:1"], username: u, password: p, tls: { ca: ca.pem } }',
    '{ kind: cluster, nodes: ["a:1", "b:1"], deadline: 1s, batchSize: 7, dedicated: true }',
    '{ kind: cluster, nodes: ["a:1", "b:1"], shared: true }',
    '{ kind: cluster, nodes: ["a:1", "b:1"], doctor: { username: d, password: p } }',
  ]) {
    assert.equal(fingerprint(same), fingerprint(CLUSTER), same);
  }
  const names = ['localhost', '127.0.0.1', '[::1]'].map((host) => `{ kind: standalone, nodes: ["${host}:6379"] }`);
  assert.equal(new Set(names.map(fingerprint)).size, 1);
});

test('another kind, node, port, database or master is another fingerprint', () => {
  const different = [
    CLUSTER,
    SENTINEL,
    '{ kind: cluster, nodes: ["a:1"] }',
    '{ kind: cluster, nodes: ["a:1", "b:2"] }',
    '{ kind: standalone, nodes: ["a:1"] }',
    '{ kind: standalone, nodes: ["a:1"], database: 1 }',
    '{ kind: sentinel, sentinels: ["a:1"], master: n }',
    '{ kind: sentinel, sentinels: ["a:1"], master: m, database: 1 }',
  ];
  assert.equal(new Set(different.map(fingerprint)).size, different.length);
});

const OLD = `{ kind: cluster, nodes: ["[fd00::1]:6379"], username: hunter2, password: hunter2, shared: true,
  natMap: { "10.0.0.5:6379": "gate:7001" } }`;
const NEW = `{ kind: sentinel, sentinels: ["s:1"], master: "m: #1", database: 3, deadline: 1500ms, dedicated: true,
  sentinelUsername: hunter2, sentinelPassword: hunter2, tls: { ca: ca.pem, serverName: hunter2 } }`;
const OLD_TREE = {
  ...{ kind: 'cluster', nodes: ['[fd00::1]:6379'], shared: true },
  natMap: { '10.0.0.5:6379': 'gate:7001' },
};
const NEW_TREE = {
  ...{ kind: 'sentinel', sentinels: ['s:1'], master: 'm: #1' },
  ...{ database: 3, deadline: '1500ms', dedicated: true },
};

test('after a cut-over the text names the new store, and the old one as a candidate, without secrets', () => {
  const { store, candidate } = storesOf(domainOf(OLD, NEW));
  const text = cutOverYaml({ domain: 'goods', to: candidate, from: store });
  assert.deepEqual(parse(text), { domains: { goods: { store: NEW_TREE, candidates: { previous: OLD_TREE } } } });
  assert.doesNotMatch(text, /hunter2|CERTIFICATE/);
  assert.match(text, /^ {6}# sentinelUsername, sentinelPassword, tls: as before under candidates\.valkey$/m);
  assert.match(text, /^ {8}# username, password: as before under store$/m);
  assert.match(text, /^# candidates\.valkey is removed/m);
});

test('a process that is configured by the text knows both stores by their fingerprints', () => {
  const { store, candidate } = storesOf(domainOf(OLD, NEW));
  const tree = parse(cutOverYaml({ domain: 'goods', to: candidate, from: store }));
  const after = storesOf(stringify({ domains: { goods: { ...tree.domains.goods, engine: { kind: 'sqlite' } } } }));
  assert.equal(fingerprintOf(after.store.settings), fingerprintOf(candidate.settings));
  assert.equal(fingerprintOf(after.candidate.settings), fingerprintOf(store.settings));
});

test('back on the configured store the text is the configuration as it was', () => {
  const { store, candidate } = storesOf(domainOf(OLD, NEW));
  const text = cutOverYaml({ domain: 'goods', to: store, from: candidate });
  assert.deepEqual(parse(text), { domains: { goods: { store: OLD_TREE, candidates: { valkey: NEW_TREE } } } });
  assert.match(text, /^# goods uses its configured store: a configuration that was not changed says this already\.$/m);
});

test('the way back to the store named previous swaps the two', () => {
  const { store, candidate } = storesOf(domainOf(OLD, NEW));
  const text = cutOverYaml({ domain: 'goods', to: { ...candidate, name: 'previous' }, from: store });
  assert.deepEqual(parse(text), { domains: { goods: { store: NEW_TREE, candidates: { previous: OLD_TREE } } } });
  assert.doesNotMatch(text, /removed/);
});
