import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/faults.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { pluck } from '../pluck.ts';
import { load as loadYaml } from './harness.ts';

/** Loads a YAML text as if it were the configured file. */
const load = (yaml: string, env: Record<string, string> = {}, files: Record<string, string> = {}): Settings =>
  loadYaml(yaml, { env, files });

const GOODS = 'domains:\n  goods:\n    engine: { kind: sphinx, host: sphinx }\n';

test('without a file four demo domains run on embedded indexes, L1 only, on loopback', () => {
  const settings = loadSettings({ env: {}, cwd: '/srv' });
  assert.deepEqual(pluck(settings.domains, 'name'), ['goods', 'auto', 'realty', 'jobs']);
  for (const { store, engine, memory, attributes } of settings.domains) {
    assert.deepEqual(store, { kind: 'none' });
    assert.deepEqual(engine, {
      kind: 'sqlite',
      directory: '/srv/data',
      workers: 2,
      demo: true,
      deadlineMs: 800,
      hardDeadlineMs: 3000,
      maxConcurrent: 2,
      limit: 'gradient',
      maxQueued: 64,
      snippetLength: 200,
    });
    assert.equal(memory.maxBytes, 64 * 2 ** 20);
    assert.equal(memory.emptyMaxBytes, 4 * 2 ** 20);
    assert.ok(attributes.some(({ name, type, sort }) => name === 'price' && type === 'integer' && sort));
  }
  assert.deepEqual([settings.public.host, settings.public.port], ['127.0.0.1', 8080]);
  assert.deepEqual(settings.admin, { host: '127.0.0.1', port: 8081, hosts: [], tls: undefined });
});

test('with a signing key unsigned values are refused, unless acceptUnsigned is true', () => {
  const key = 'k'.repeat(32);
  assert.equal(load(GOODS).signing, undefined);
  assert.deepEqual(load(GOODS, { SIGNING_KEY: key }).signing, { key, required: true });
  const previousKey = 'p'.repeat(32);
  assert.deepEqual(
    load(`signing: { key: ${key}, previousKey: ${previousKey}, acceptUnsigned: true }\n${GOODS}`).signing,
    {
      key,
      previousKey,
      required: false,
    },
  );
});

test('the example of the design page loads, with the default of every setting that it leaves out', () => {
  const { domains } = load(`
memory: { maxBytes: 256MiB }
domains:
  goods:
    store:  { kind: cluster, nodes: [redis-a:6379, redis-b:6379], deadline: 50ms, connectTimeout: 2s, socketTimeout: 3s }
    engine: { kind: sphinx, host: sphinx, port: 9306, index: goods, deadline: 800ms, hardDeadline: 3s, maxConcurrent: 8, maxQueued: 256 }
    freshness: { ttl: 5m, staleWhileRevalidate: 1m, staleIfError: 1h, emptyTtl: 30s, degradedTtl: 5s, clientMaxAge: 30s, jitter: 0.1 }
    attributes: { category: { type: string, facet: true }, price: { type: number, sort: true } }
`);
  assert.deepEqual(domains, [
    {
      name: 'goods',
      attributes: [
        { name: 'category', type: 'string', facet: true, sort: false },
        { name: 'price', type: 'number', facet: false, sort: true },
      ],
      context: [],
      memory: { maxBytes: 268_435_456, emptyMaxBytes: 16_777_216 },
      store: {
        kind: 'cluster',
        nodes: [
          { host: 'redis-a', port: 6379 },
          { host: 'redis-b', port: 6379 },
        ],
        deadlineMs: 50,
        connectTimeoutMs: 2000,
        socketTimeoutMs: 3000,
        maxOutstanding: 1024,
        batchSize: 128,
        refreshMs: 15_000,
        dedicated: false,
        shared: false,
      },
      candidates: [],
      catalogue: { columns: {}, raw: [] },
      engine: {
        kind: 'sphinx',
        endpoints: [{ host: 'sphinx', port: 9306 }],
        index: 'goods',
        ranker: 'proximity_bm25',
        connectTimeoutMs: 2000,
        maxMatches: 1000,
        deadlineMs: 800,
        hardDeadlineMs: 3000,
        maxConcurrent: 8,
        limit: 'gradient',
        maxQueued: 256,
        snippetLength: 200,
      },
      patienceMs: 2000,
      freshness: {
        ttlMs: 300_000,
        staleWhileRevalidateMs: 60_000,
        staleIfErrorMs: 3_600_000,
        emptyTtlMs: 30_000,
        degradedTtlMs: 5000,
        clientMaxAgeMs: 30_000,
        jitter: 0.1,
      },
      maxEntryBytes: 524_288,
      maxLeaseWaiters: 256,
      popularity: { maxQueries: 1000, halfLifeMs: 600_000 },
      backfillPerSecond: 2000,
    },
  ]);
});

test('the doctor looks every 15 s unless told otherwise, and its file is found from the working directory', () => {
  assert.deepEqual(load(GOODS).doctor, { intervalMs: 15_000 });
  assert.deepEqual(load(`doctor: { interval: 0s, acknowledged: accepted.yaml }\n${GOODS}`).doctor, {
    intervalMs: 0,
    acknowledged: '/srv/accepted.yaml',
  });
  assert.equal(
    load(`doctor: { acknowledged: /etc/accepted.yaml }\n${GOODS}`).doctor.acknowledged,
    '/etc/accepted.yaml',
  );
});

test('a domain with its own memory size leaves the rest to the others in equal shares', () => {
  const { domains } = load(`
memory: { maxBytes: 100MiB }
domains:
  a: { engine: { kind: sqlite }, memory: { maxBytes: 40MiB, emptyMaxBytes: 1MiB } }
  b: { engine: { kind: sqlite } }
  c: { engine: { kind: sqlite } }
`);
  assert.deepEqual(
    domains.map(({ memory }) => [memory.maxBytes / 2 ** 20, memory.emptyMaxBytes / 2 ** 20]),
    [
      [40, 1],
      [30, 1.875],
      [30, 1.875],
    ],
  );
});

test('the environment takes precedence over the file, and an empty variable counts as unset', () => {
  const {
    public: open,
    admin,
    log,
  } = load(`public: { host: 10.0.0.1, port: 1 }\nlog: { level: warn }\n${GOODS}`, {
    PORT: '9000',
    HOST: '',
    ADMIN_HOST: '0.0.0.0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: 'correct-horse-battery-staple',
    LOG_LEVEL: 'debug',
  });
  assert.deepEqual([open.host, open.port], ['10.0.0.1', 9000]);
  assert.deepEqual(admin, { host: '0.0.0.0', port: 0, token: 'correct-horse-battery-staple', hosts: [] });
  assert.equal(log.level, 'debug');
});

test('variables are replaced in texts and numbers, with defaults and an escape', () => {
  const { domains } = load(
    `domains:
  goods:
    engine:
      kind: sphinx
      host: \${SPHINX_HOST}
      port: \${SPHINX_PORT:-9307}
      user: $\${HOME}
      password: a\${PW}b
      index: \${EMPTY:-products}
`,
    { SPHINX_HOST: 'sphinx.internal', PW: `12\${X}`, EMPTY: '' },
  );
  const engine = domains[0]?.engine;
  assert.ok(engine?.kind === 'sphinx');
  assert.deepEqual(
    [engine.endpoints, engine.user, engine.password, engine.index],
    // The text of a variable is not interpolated again.
    [[{ host: 'sphinx.internal', port: 9307 }], `\${HOME}`, `a12\${X}b`, 'products'],
  );
});

test('domains share anchors under an x- name, and settings beside the anchor take precedence', () => {
  const { domains } = load(`
x-engine: &engine { kind: sphinx, host: sphinx, deadline: 300ms }
domains:
  goods: { engine: *engine }
  auto-parts: { engine: { <<: *engine, deadline: 400ms } }
`);
  assert.deepEqual(
    domains.map(({ engine }) => [engine.deadlineMs, engine.kind === 'sphinx' && engine.index]),
    [
      [300, 'goods'],
      [400, 'auto_parts'],
    ],
  );
});

test('two domains may share one store when both set shared', () => {
  const { domains } = load(`
x-store: &store { kind: standalone, nodes: ["127.0.0.1:6379"], shared: true }
domains:
  a: { engine: { kind: sqlite }, store: *store }
  b: { engine: { kind: sqlite }, store: *store }
  c: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["localhost:6379"], database: 1 } }
`);
  assert.deepEqual(
    domains.map(({ store }) => store.kind),
    ['standalone', 'standalone', 'standalone'],
  );
});

test('an empty section equals a section that is left out', () => {
  assert.deepEqual(load(GOODS), load(`public:\nmemory:\n${GOODS}`));
});

test('a file without domains is a fault, because a truncated file must not serve the demo', () => {
  for (const text of ['', '# nothing yet\n', 'domains:\n', 'memory: { maxBytes: 64MiB }\n']) {
    assert.throws(
      () => load(text),
      (error) => error instanceof ConfigError && error.faults.some(({ path }) => path === 'domains'),
      JSON.stringify(text),
    );
  }
});

test('control documents and counters are in the stores of the domains unless they have their own', () => {
  const bare = load(GOODS);
  assert.deepEqual([bare.control, bare.counters], [{ kind: 'none' }, { kind: 'none' }]);
  assert.deepEqual(bare.drills, { directory: '/srv/data/drills', keep: 200, leaseMs: 3000 });
  assert.deepEqual(bare.audit, { file: '/srv/data/audit.ndjson', maxBytes: 16 * 2 ** 20, keep: 16 });
  const pem = '-----BEGIN CERTIFICATE-----';
  const own = load(
    `control: { kind: standalone, nodes: [c:1], tls: { ca: c.pem } }\ndrills: { directory: d, keep: 3, lease: 5s }\n${GOODS}`,
    {},
    { '/srv/c.pem': pem },
  );
  assert.equal(own.control.kind === 'standalone' && own.control.tls?.ca, pem);
  assert.deepEqual(own.drills, { directory: '/srv/d', keep: 3, leaseMs: 5000 });
});

test('the level of the log is read in upper case too, and `warning` is `warn`', () => {
  const levelOf = (given: string): string => loadSettings({ env: { LOG_LEVEL: given }, cwd: '/srv' }).log.level;
  assert.deepEqual(['INFO', 'Warning', 'warning', 'warn', 'debug'].map(levelOf), [
    'info',
    'warn',
    'warn',
    'warn',
    'debug',
  ]);
});
