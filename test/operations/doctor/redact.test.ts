import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyFacts, NodeFacts, Snapshot } from '../../../src/operations/doctor/facts.ts';
import { diagnose } from '../../../src/operations/doctor/judge.ts';
import { redacted, textWithoutQuotes } from '../../../src/operations/doctor/redact.ts';
import { engineWith, HEALTHY_NODE, hostWith, nodeWith, serviceWith, snapshotWith, storeWith, told } from './harness.ts';

const PASSWORD = 'hunter2-correct-horse';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N';
const QUERY = 'зимняя куртка мужская размер 52';
const ENTRY = 'sc1:goods:{AAAAAAAAAAAAAAAAAAAAAA}';

function withKeys(biggest: readonly KeyFacts[], parts: Partial<NodeFacts> = {}): Snapshot {
  const node = nodeWith({ parts: { keys: { known: { ...told(HEALTHY_NODE.keys), biggest } }, ...parts } });
  return snapshotWith({ stores: [storeWith({}, [node])], engines: [engineWith()], hosts: [hostWith()] });
}

function nameAfter(name: string): string | undefined {
  const [snapshot] = redacted([withKeys([{ name, type: 'string', bytes: 1 }])]);
  const nodes = snapshot?.stores[0]?.nodes;
  const keys = nodes !== undefined && 'known' in nodes ? nodes.known[0]?.keys : undefined;
  return keys !== undefined && 'known' in keys ? keys.known.biggest[0]?.name : undefined;
}

test('keys that serpcache makes keep their names, and every other name is a hash, the same for the same name', () => {
  const own = [
    ENTRY,
    'sc2:goods:lease:{AAAAAAAAAAAAAAAAAAAAAA}',
    'sc1:goods:fleet',
    'sc1:goods:epoch:{12}',
    'sc1:goods:{control:goods}',
    'sc1:goods:{popular:goods}:3',
  ];
  assert.deepEqual(own.map(nameAfter), own);
  const foreign = nameAfter(`session:${PASSWORD}`);
  assert.match(foreign ?? '', /^key-[0-9a-f]{8}$/);
  assert.equal(nameAfter(`session:${PASSWORD}`), foreign);
  assert.notEqual(nameAfter('session:other'), foreign);
});

test('a foreign name under the prefix of serpcache keeps the prefix only', () => {
  for (const name of [`sc1:goods:${PASSWORD}`, `sc1:goods:{${QUERY}}`, `sc1:${TOKEN}`, 'sc1:goods:{control:other}']) {
    assert.match(nameAfter(name) ?? '', /^sc1:key-[0-9a-f]{8}$/, name);
  }
});

test('passwords, tokens and texts of queries are in no part of redacted snapshots', () => {
  const node = nodeWith({
    config: { requirepass: PASSWORD, masterauth: PASSWORD, 'tls-key-file-pass': PASSWORD },
    parts: {
      memoryAdvice: {
        skipped: `MEMORY DOCTOR is refused: ERR unknown command 'MEMORY', with args beginning with: '${PASSWORD}'`,
      },
      clients: { skipped: `CLIENT LIST is refused: ERR syntax near "${QUERY}` },
      latency: { skipped: `connect redis://default:${PASSWORD}@10.0.0.7:6379 failed` },
      slowlog: {
        known: [
          { id: 1, atSeconds: 1, micros: 20_000, command: `AUTH ${PASSWORD}`, client: 'web' },
          { id: 2, atSeconds: 1, micros: 20_000, command: 'CONFIG GET', client: 'web' },
        ],
      },
      keys: {
        known: {
          ...told(HEALTHY_NODE.keys),
          biggest: [{ name: `login:${PASSWORD}`, type: 'string', bytes: 5e6 }],
          longest: [{ name: `q:${QUERY}`, type: 'hash', bytes: 5e6, members: 1e6 }],
        },
      },
    },
  });
  const server = { program: 'redis-server', pid: 7, arguments: ['--requirepass', PASSWORD] };
  const snapshot = snapshotWith({
    stores: [storeWith({}, [node]), storeWith({ name: 'other', nodes: { skipped: `no answer: token ${TOKEN}` } })],
    engines: [engineWith({ indexStatus: { skipped: `sphinxql: syntax error near '${QUERY}'` } })],
    hosts: [
      hostWith({
        servers: { known: [server] },
        dns: { known: [{ name: 'cache.internal', addresses: [], problem: `at "${TOKEN.slice(0, 30)}"` }] },
      }),
    ],
    service: serviceWith(),
  });
  const text = JSON.stringify(redacted([snapshot, snapshot]));
  for (const secret of [PASSWORD, TOKEN, TOKEN.slice(0, 30), QUERY, QUERY.slice(0, 20), '--requirepass']) {
    assert.ok(!text.includes(secret), secret);
  }
  for (const kept of ['127.0.0.1:6379', 'CONFIG GET', '"AUTH"', 'maxmemory-policy', 'cache.internal', 'redis-server']) {
    assert.ok(text.includes(kept), kept);
  }
});

test('words of servers keep what names the fault', () => {
  for (const [given, kept] of [
    ['CONFIG GET is refused: NOPERM this user has no permissions', undefined],
    [
      "ERR unknown command 'CONFIG', with args beginning with: 'GET' 'maxmemory' ",
      "ERR unknown command 'CONFIG', with args beginning with: …",
    ],
    ["Hi Sam, I can't find any memory issue in your instance. It doesn't occur here.", undefined],
    [`ERR near '${QUERY}' here`, "ERR near '…' here"],
    [`ERR near '${QUERY} and then cut`, "ERR near '…"],
    ['no answer from ip-10-0-0-7.eu-west-1.compute.internal.example.com:6379', undefined],
    ['user «очень длинное имя пользователя системы» unknown', 'user «…» unknown'],
  ] as const) {
    assert.equal(textWithoutQuotes(given), kept ?? given);
  }
});

test('redacted snapshots give the same findings, without the names', () => {
  const secret = `session:${PASSWORD}`;
  const big = withKeys([{ name: secret, type: 'string', bytes: 5 * 2 ** 20 }]);
  const series = [0, 1, 2, 3].map((at) => ({ ...big, atMs: 1000 * at, wallMs: big.wallMs + 1000 * at }));
  const [plain, hidden] = [diagnose(series, { tookMs: 1 }), diagnose(redacted(series), { tookMs: 1 })];
  const checks = plain.findings.map(({ check, subject }) => `${check} ${subject}`);
  assert.ok(checks.some((text) => text.startsWith('store-big-keys ')));
  assert.deepEqual(
    hidden.findings.map(({ check, subject }) => `${check} ${subject}`),
    checks,
  );
  assert.ok(JSON.stringify(plain).includes(secret));
  assert.ok(!JSON.stringify(hidden).includes(PASSWORD));
});
