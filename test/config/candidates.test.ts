import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsWarnings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { faultsOf, load as loadYaml, testFaults, withEngine } from './harness.ts';

const PRIMARY = 'store: { kind: cluster, nodes: ["a:1", "b:1"] }';
const withCandidates = (candidates: string, store = PRIMARY): string =>
  withEngine(`${store}\ncandidates: { ${candidates} }`);

const load = (yaml: string, files: Record<string, string> = {}): Settings => loadYaml(yaml, { files });

test('a domain has no candidates unless it declares them', () => {
  assert.deepEqual(load(withEngine(PRIMARY)).domains[0]?.candidates, []);
});

test('a candidate has the settings of a store, its TLS files included, in the order of the file', () => {
  const ca = '-----BEGIN CERTIFICATE-----';
  const settings = load(
    withCandidates(`valkey: { kind: sentinel, sentinels: ["s:1"], master: m, password: hunter2, tls: { ca: ca.pem, rejectUnauthorized: false } },
      keydb-2: { kind: standalone, nodes: ["k:1"], database: 3, deadline: 20ms, shared: true }`),
    { '/srv/ca.pem': ca },
  );
  const [valkey, keydb] = settings.domains[0]?.candidates ?? [];
  assert.ok(valkey?.settings.kind === 'sentinel' && keydb?.settings.kind === 'standalone');
  assert.deepEqual([valkey.name, keydb.name], ['valkey', 'keydb-2']);
  assert.deepEqual(valkey.settings.tls, { ca, rejectUnauthorized: false });
  assert.equal(valkey.settings.password, 'hunter2');
  const { database, deadlineMs, shared, nodes } = keydb.settings;
  assert.deepEqual([database, deadlineMs, shared, nodes], [3, 20, true, [{ host: 'k', port: 1 }]]);
  assert.deepEqual(
    settingsWarnings(settings).map((warning) => warning.split(' ')[0]),
    ['domains.goods.candidates.valkey.tls.rejectUnauthorized'],
  );
});

test('the user of the doctor stands beside that of the store, and its faults show no password', () => {
  const store = (doctor: string) =>
    withEngine(`store: { kind: cluster, nodes: ["a:1"], username: u, doctor: ${doctor} }`);
  const [domain] = load(store('{ username: d, password: hunter2 }')).domains;
  assert.ok(domain?.store.kind === 'cluster');
  assert.deepEqual([domain.store.username, domain.store.doctor], ['u', { username: 'd', password: 'hunter2' }]);
  const { message } = faultsOf(store('{ password: [hunter2] }'));
  assert.match(message, /domains\.goods\.store\.doctor\.username/);
  assert.match(message, /domains\.goods\.store\.doctor\.password/);
  assert.doesNotMatch(message, /hunter2/);
});

test('the faults of a candidate do not show its password', () => {
  const { message } = faultsOf(
    withCandidates('valkey: { kind: cluster, nodes: ["a:1"], password: [hunter2], sentinelPassword: hunter2 }'),
  );
  assert.match(message, /domains\.goods\.candidates\.valkey\.password/);
  assert.doesNotMatch(message, /hunter2/);
});

testFaults([
  [
    'a candidate that names a node and database of the primary is a fault in the candidate, even when both set shared',
    withCandidates(
      'valkey: { kind: standalone, nodes: ["B:1"], shared: true }, other: { kind: standalone, nodes: ["b:1"], database: 1 }',
      'store: { kind: cluster, nodes: ["a:1", "b:1"], shared: true }',
    ),
    [['domains.goods.candidates.valkey', 'b:1, database 0', /another store or database than domains\.goods\.store/]],
  ],
  [
    'two candidates on one store and database are a fault in each',
    withCandidates('x: { kind: standalone, nodes: ["LOCALHOST:7"] }, y: { kind: cluster, nodes: ["[::1]:7"] }'),
    [
      ['domains.goods.candidates.x', '127.0.0.1:7, database 0', /than domains\.goods\.candidates\.y/],
      ['domains.goods.candidates.y', '127.0.0.1:7, database 0', /than domains\.goods\.candidates\.x/],
    ],
  ],
  [
    'a candidate on the control store, or on the store of another domain, is a fault in each unless both set shared',
    `control: { kind: standalone, nodes: ["c:1"] }
domains:
  a:
    engine: { kind: sqlite }
    store: { kind: standalone, nodes: ["a:1"] }
    candidates:
      x: { kind: standalone, nodes: ["c:1"], shared: true }
      y: { kind: standalone, nodes: ["b:1"] }
      z: { kind: standalone, nodes: ["z:1"], shared: true }
  b:
    engine: { kind: sqlite }
    store: { kind: standalone, nodes: ["b:1"] }
    candidates: { z: { kind: standalone, nodes: ["z:1"], shared: true } }
`,
    [
      ['control', 'c:1, database 0', /shared: true wherever it is named \(a names it too\)/],
      ['domains.a.candidates.y', 'b:1, database 0', /b names it too/],
      ['domains.b.store', 'b:1, database 0', /a names it too/],
    ],
  ],
  [
    'candidates without a store are a fault',
    withCandidates('valkey: { kind: cluster, nodes: ["a:1"] }', 'store: { kind: none }'),
    [['domains.goods.candidates', 'valkey', /nothing without a store/]],
  ],
  [
    'a candidate without a kind, or of kind none, is a fault',
    withCandidates('x: { kind: none }, y: {}'),
    [
      ['domains.goods.candidates.x.kind', '"none"', /standalone, sentinel or cluster/],
      ['domains.goods.candidates.y.kind', '(missing)', /standalone, sentinel or cluster/],
    ],
  ],
  [
    'the name store, a name outside the pattern, and a fifth candidate are faults',
    withCandidates(
      ['store', 'Valkey', 'c', 'd', 'e']
        .map((name, at) => `${name}: { kind: cluster, nodes: ["n:${at + 1}"] }`)
        .join(', '),
    ),
    [
      ['domains.goods.candidates', '5 names', /at most 4 names/],
      ['domains.goods.candidates.Valkey', '"Valkey"', /a lower-case letter/],
      ['domains.goods.candidates.store', 'store', /any name but store/],
    ],
  ],
  [
    'the values of a candidate are checked as those of a store',
    withCandidates(
      'valkey: { kind: cluster, nodes: ["n:1", "n:1"], deadline: 3s, tls: { ca: nope.pem, cert: text.pem } }',
    ),
    [
      ['domains.goods.candidates.valkey.deadline', '3s', /less than socketTimeout/],
      ['domains.goods.candidates.valkey.nodes[1]', '"n:1"', /each node once/],
      ['domains.goods.candidates.valkey.tls.key', '(missing)', /the private key of cert/],
      ['domains.goods.candidates.valkey.tls.ca', '"nope.pem"', /a file that can be read \(ENOENT\)/],
      ['domains.goods.candidates.valkey.tls.cert', '"text.pem"', /a PEM file/],
    ],
  ],
]);
