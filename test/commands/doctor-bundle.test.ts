import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Doctor } from '../../src/operations/doctor/create-doctor.ts';
import type { NodeFacts, Snapshot } from '../../src/operations/doctor/facts.ts';
import { known } from '../../src/operations/doctor/facts.ts';
import { FOREIGN_KEY } from '../fakes/operations-doctor.ts';
import { temporaryFolder } from '../folder.ts';
import { adminService, callCli, TOKEN } from './harness.ts';

const PASSWORD = 'hunter2-correct-horse';
const QUERY = 'зимняя куртка мужская размер 52';

/** The members of a bundle by name, as tar unpacks them. */
function unpacked(t: TestContext, file: string): ReadonlyMap<string, string> {
  const folder = temporaryFolder(t);
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  const inside = join(folder, 'serpcache-doctor');
  return new Map(readdirSync(inside).map((name) => [name, readFileSync(join(inside, name), 'utf8')]));
}

test('a bundle is an archive that tar unpacks: the report, its text, the snapshots, and what was removed', async (t) => {
  const { url } = await adminService(t);
  const file = join(temporaryFolder(t), 'ticket.tar.gz');
  const { code, out, err } = await callCli(['doctor', '--bundle', file, '--admin', url], { answers: [] });
  assert.equal(code, 1);
  assert.ok(out.includes(FOREIGN_KEY), 'the operator at the terminal sees the name');
  assert.ok(err.startsWith(`the bundle is in ${file}\n`));
  const members = unpacked(t, file);
  assert.deepEqual([...members.keys()].sort(), ['README.txt', 'report.json', 'report.txt', 'snapshots.json']);
  assert.match(members.get('README.txt') ?? '', /\nRemoved, or never collected:\n- passwords/);
  const report = JSON.parse(members.get('report.json') ?? '');
  assert.deepEqual(
    [report.findings, report.acknowledged].map((findings) => findings.map(({ check }: { check: string }) => check)),
    [['store-big-keys', 'store-policy'], ['store-persistence']],
  );
  assert.match(report.findings[0].evidence, /key-[0-9a-f]{8} \(string, 5/);
  assert.match(members.get('report.txt') ?? '', /^2 warnings, 1 acknowledged\n/);
  assert.equal(JSON.parse(members.get('snapshots.json') ?? '').length, 4);
  for (const [name, text] of members) assert.ok(!text.includes(FOREIGN_KEY), name);
  assert.equal(statSync(file).mode & 0o077, 0, 'others on this machine cannot read it');
});

test('a file that exists is not overwritten, and nothing is asked', async (t) => {
  const { url, requests } = await adminService(t);
  const folder = temporaryFolder(t);
  const file = join(folder, 'ticket.tar.gz');
  writeFileSync(file, 'an older bundle');
  const { code, err } = await callCli(['doctor', '--bundle', file, '--admin', url]);
  assert.deepEqual([code, requests()], [64, []]);
  assert.match(err, /ticket\.tar\.gz exists, and is not overwritten/);
  assert.equal(readFileSync(file, 'utf8'), 'an older bundle');
});

test('a bundle that cannot be written leaves nothing behind', async (t) => {
  const { url } = await adminService(t);
  const folder = temporaryFolder(t);
  const { code } = await callCli(['doctor', '--bundle', join(folder, 'missing', 'a.tar.gz'), '--admin', url]);
  assert.equal(code, 3);
  assert.deepEqual(readdirSync(folder), []);
});

/** Secrets at every place that a server or a client can fill. */
function planted(snapshot: Snapshot): Snapshot {
  return {
    ...snapshot,
    stores: snapshot.stores.map((store) => ({
      ...store,
      nodes: { known: (known(store.nodes) ?? []).map(plantedNode) },
    })),
    engines: snapshot.engines.map((engine) => ({
      ...engine,
      indexStatus: { skipped: `SHOW INDEX is refused: syntax error near '${QUERY}' at line 1` },
    })),
    hosts: snapshot.hosts.map((host) => {
      const server = { program: 'redis-server', pid: 7, port: 6379, arguments: `--requirepass ${PASSWORD}` };
      return { ...host, servers: { known: [server] } };
    }),
  };
}

function plantedNode(node: NodeFacts): NodeFacts {
  const keys = known(node.keys) ?? assert.fail('the keys are known');
  return {
    ...node,
    config: { known: { ...known(node.config), requirepass: PASSWORD } },
    clients: { skipped: `CLIENT LIST is refused: ERR unknown command, with args beginning with: '${PASSWORD}'` },
    latency: { skipped: `redis://default:${PASSWORD}@10.0.0.7:6379 closed the connection` },
    memoryAdvice: { skipped: `MEMORY DOCTOR is refused: ERR '${QUERY}'` },
    slowlog: {
      known: [10, 11, 12].map((id) => ({ id, atSeconds: 1, micros: 5e6, command: `GET ${QUERY}`, client: 'web' })),
    },
    keys: {
      known: {
        ...keys,
        biggest: [
          { name: `q=${QUERY}`, type: 'string', bytes: 9e6 },
          { name: `sc1:goods:${PASSWORD}`, type: 'string', bytes: 9e6 },
        ],
        longest: [{ name: `sessions:${TOKEN}`, type: 'hash', bytes: 9e6, members: 1e6 }],
      },
    },
  };
}

function withoutSecrets(members: ReadonlyMap<string, string>, secrets: readonly string[]): void {
  assert.equal(members.size, 4);
  for (const [name, text] of members) {
    for (const secret of secrets) assert.ok(!text.includes(secret), `${name} has ${secret}`);
  }
}

test('passwords, tokens and texts of queries that servers and clients can plant are in no member of a bundle', async (t) => {
  const { url, operations } = await adminService(t);
  const { doctor } = operations;
  const { examine } = doctor;
  const changed: Doctor['examine'] = async (options) => {
    const { report, snapshots } = await examine(options);
    return { report, snapshots: snapshots.map(planted) };
  };
  Object.assign(doctor, { examine: changed });
  const file = join(temporaryFolder(t), 'ticket.tar.gz');
  const { code, err } = await callCli(['doctor', '--bundle', file, '--admin', url]);
  assert.equal(code, 1, err);
  const members = unpacked(t, file);
  withoutSecrets(members, [PASSWORD, TOKEN, QUERY, QUERY.slice(0, 14), encodeURIComponent(QUERY)]);
  assert.match(
    members.get('report.txt') ?? '',
    /CLIENT LIST is refused: ERR unknown command, with args beginning with: …/,
  );
});

test('passwords of the configuration are in no member of a bundle that was made without a service', async (t) => {
  const folder = temporaryFolder(t);
  const [config, file] = [join(folder, 'serpcache.yaml'), join(folder, 'ticket.tgz')];
  writeFileSync(
    config,
    `
admin: { token: "${TOKEN}-of-the-service" }
signing: { key: "${'5'.repeat(64)}" }
domains:
  goods:
    store:
      kind: standalone
      nodes: ["127.0.0.1:1"]
      username: cacheuser
      password: ${PASSWORD}
      doctor: { username: doctoruser, password: ${PASSWORD}-of-the-doctor }
    engine: { kind: sphinx, host: 127.0.0.1, port: 2, index: goods, idAttribute: doc_id, maxConcurrent: 4 }
`,
  );
  const { code, err } = await callCli(['doctor', '--direct', '--window', '200ms', '--bundle', file], {
    env: { SERPCACHE_CONFIG: config },
  });
  assert.equal(code, 3, err);
  withoutSecrets(unpacked(t, file), [PASSWORD, TOKEN, '5'.repeat(64), 'cacheuser', 'doctoruser', folder]);
});
