import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenFault } from '../../src/config/faults.ts';
import { rowsOf } from '../pluck.ts';
import { faultsOf, goods } from './harness.ts';

test('a missing variable is a fault that names it, and values that depend on it are not reported', () => {
  const yaml = `admin: { host: 0.0.0.0, token: "\${ADMIN_SECRET}" }\n${goods(`engine: { kind: "\${KIND}", host: "a\${}b" }`)}`;
  const { faults } = faultsOf(yaml);
  assert.deepEqual(rowsOf(faults, 'path', 'value', 'allowed'), [
    ['admin.token', '***', `the variable ADMIN_SECRET set in the environment, or \${ADMIN_SECRET:-default}`],
    ['domains.goods.engine.kind', `"\${KIND}"`, `the variable KIND set in the environment, or \${KIND:-default}`],
    ['domains.goods.engine.host', `"a\${}b"`, `\${NAME} or \${NAME:-default}; write $\${ for a plain \${`],
  ]);
});

test('a fault in the environment is reported under its variable', () => {
  const { faults } = faultsOf('public: { port: 1 }\n', {
    env: { PORT: 'tcp://10.0.0.1:80', ADMIN_PORT: '70000', LOG_LEVEL: 'LOUD', HOST: 'a b', ADMIN_TOKEN: 'short' },
  });
  assert.deepEqual(rowsOf(faults, 'path', 'value', 'line'), [
    ['HOST', '"a b"', undefined],
    ['PORT', '"tcp://10.0.0.1:80"', undefined],
    ['ADMIN_PORT', '"70000"', undefined],
    ['ADMIN_TOKEN', '***', undefined],
    ['LOG_LEVEL', '"LOUD"', undefined],
  ]);
});

test('an unreadable file is a fault, reported together with those of the environment', () => {
  const { faults } = faultsOf(undefined, { env: { PORT: 'x' } });
  assert.deepEqual(rowsOf(faults, 'path', 'value'), [
    ['SERPCACHE_CONFIG', '"serpcache.yaml"'],
    ['PORT', '"x"'],
  ]);
});

test('invalid YAML is reported by line, without quoting it', () => {
  const broken = {
    'tabs for indentation': 'a:\n\tb: hunter2\n',
    'an open quote': 'admin:\n  token: "hunter2\n',
    'an unknown alias': 'admin:\n  token: *hunter2\n',
    'a text that starts with %': 'admin:\n  token: %hunter2\n',
    'a text that starts with @': 'admin:\n  token: @hunter2\n',
    'a value with a colon': 'admin:\n  token: a: hunter2\n',
    'two documents': 'log: {}\n---\nadmin: { token: hunter2 }\n',
    'a list': '- hunter2\n',
    'one text': 'hunter2\n',
  };
  for (const [what, yaml] of Object.entries(broken)) {
    const error = faultsOf(yaml);
    assert.doesNotMatch(error.message, /hunter2/, what);
    assert.ok(
      error.faults.every(({ path, line }) => path === 'serpcache.yaml' && line !== undefined),
      what,
    );
  }
});

test('a duplicate name is a fault with its line, and the rest is still checked', () => {
  const { faults } = faultsOf('log: { level: loud }\npublic:\n  port: 1\n  port: 2\n');
  assert.deepEqual(rowsOf(faults, 'path', 'line'), [
    ['log.level', 1],
    ['serpcache.yaml', 4],
  ]);
});

test('aliases that expand without bound are refused, and so is a file that is too large', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level += 1) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`);
  }
  assert.match(faultsOf(lines.join('\n')).message, /aliases of known anchors/);
  assert.match(faultsOf(`# ${'x'.repeat(2 ** 20)}\n`).message, /at most 1MiB/);
});

test('no secret is ever printed, wherever it was put', () => {
  const secret = 'hunter2';
  const yaml = `
admin: { token: ${secret}, pasword: ${secret}, host: 0.0.0.0 }
public: { host: "user:${secret}@0.0.0.0", port: "\${DB_PASSWORD}" }
tokn: ${secret}
compression: ${secret}
domains:
  goods:
    engine: { kind: sphinx, host: s, password: [${secret}], passwd: { a: ${secret} } }
    store: { kind: cluster, nodes: ["redis://u:${secret}@h:1", "u:${secret}@h:2"], password: { a: ${secret} }, username: "\${STORE_PASSWORD}" }
  auto:
    engine: { kind: sphinx, host: s, password: "${secret}\${NOPE}" }
    store: { kind: sentinel, sentinels: [s:1], sentinelPassword: [${secret}], password: 12345678 }
  realty:
    engine: { kind: sphinx, host: s, password: 12345678 }
    store: { kind: sentinel, sentinels: [s:1], sentinelPassword: 12345678 }
`;
  const error = faultsOf(yaml, {
    env: { DB_PASSWORD: secret, STORE_PASSWORD: secret.repeat(200), ADMIN_TOKEN: `${secret} 8` },
  });
  const printed = `${error.message}${error.stack}${JSON.stringify(error.faults)}`;
  assert.doesNotMatch(printed, /hunter|12345678/);
  for (const path of [
    ...['ADMIN_TOKEN', 'public.port', 'domains.goods.store.username', 'domains.auto.store.password'],
    ...['domains.realty.engine.password', 'domains.realty.store.sentinelPassword'],
  ]) {
    assert.equal(error.faults.find((fault) => fault.path === path)?.value, '***', path);
  }
});

test('every fault of a file is reported at once, in the order of its lines, after those of the environment', () => {
  const yaml = `log: { level: loud }
memory: { maxBytes: 2MiB }
domains:
  A: { engine: { kind: sqlite } }
  goods:
    engine: { kind: sphinx, host: s, deadline: 5s, hardDeadlin: 9s }
    store: { kind: cluster, nodes: [] }
    attributes: { q: { type: text } }
  auto:
    engine: { kind: sqlite, directory: "\${NOPE}" }
    context: { region: { source: query, values: [] } }
`;
  const error = faultsOf(yaml, { env: { PORT: 'x' } });
  assert.deepEqual(
    error.faults.map(({ path, line }) => `${line ?? '-'} ${path}`),
    [
      '- PORT',
      '1 log.level',
      '2 memory.maxBytes',
      '4 domains.A',
      '6 domains.goods.engine.hardDeadlin',
      '6 domains.goods.engine.deadline',
      '7 domains.goods.store.nodes',
      '8 domains.goods.attributes.q.type',
      '8 domains.goods.attributes.q',
      '10 domains.auto.engine.directory',
      '11 domains.auto.context.region.values',
    ],
  );
  assert.match(
    error.message,
    /^11 faults in the configuration \(serpcache.yaml\):\n {2}PORT: "x"; allowed: a whole number/,
  );
  for (const { path, allowed } of error.faults) {
    assert.ok(error.message.includes(path) && error.message.includes(allowed));
  }
});

test('a name that every JavaScript object has is unknown like any other', () => {
  const { faults } = faultsOf(`domains:
  constructor: { engine: { kind: sqlite } }
  goods:
    __proto__: { engine: { kind: sqlite } }
    engine: { kind: sqlite, toString: 1 }
    attributes: { constructor: { type: string } }
`);
  assert.deepEqual(faults.map(({ path }) => path).toSorted(), [
    'domains.constructor',
    'domains.goods.__proto__',
    'domains.goods.attributes.constructor',
    'domains.goods.engine.toString',
  ]);
});

test('an address that cannot be bound is a fault of the variable that names it', () => {
  const address = { listener: 'admin', host: 'ops.internal', port: 81 } as const;
  const fault = (code: string) => listenFault(Object.assign(new Error(code), { code }), address)?.faults;
  assert.partialDeepStrictEqual(
    ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'].map((code) => fault(code)?.[0]),
    [
      { path: 'ADMIN_PORT (admin.port)', value: '81 is taken by another process on ops.internal' },
      { path: 'ADMIN_PORT (admin.port)', value: '81 may not be bound by this user' },
      { path: 'ADMIN_HOST (admin.host)', value: 'ops.internal is no address of this machine' },
      { path: 'ADMIN_HOST (admin.host)', value: 'ops.internal cannot be resolved' },
    ],
  );
  const taken = listenFault(Object.assign(new Error('taken'), { code: 'EADDRINUSE' }), {
    ...address,
    listener: 'public',
  });
  assert.match(taken?.message ?? '', /\n {2}PORT \(public\.port\): 81 is taken.*; allowed: a free port, or 0/);
  assert.equal(listenFault(new Error('a bug'), address), undefined);
});
