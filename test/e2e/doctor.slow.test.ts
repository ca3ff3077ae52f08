import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { Report } from '../../src/operations/doctor/report.ts';
import { assertNone, pluck } from '../pluck.ts';
import { until } from '../until.ts';
import { ask, demoGoods, type Service, startService } from './service-harness.ts';

const TOKEN = 'e2e-token-that-nobody-guesses-1';
const SIGNING_KEY = 'e2e-signing-key-0123456789-0123456789';
const USER = { username: 'serpcache', password: 'store-password-never-to-be-seen', rules: '~* +@all' };
const QUERY = 'секретный запрос покупателя';
/** Texts that stand in keys, names of clients and commands on the server. */
const PLANTED = [
  'query:red-shoes-of-alice',
  'alice@example.org',
  'token=eyJhbGciOiJIUzI1NiJ9.abcdefgh',
  'hunter2-in-a-script',
];

/** One process with a Redis that has a password, both with things to hide. */
describe('the doctor of a running service', () => {
  let stack: RedisStack;
  let node: RedisNode;
  let service: Service;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'serpcache-doctor-e2e-'));
    stack = await startStandalone({ flavour: 'redis', acl: USER });
    [node] = stack.nodes as [RedisNode];
    const { username, password } = USER;
    const store = { kind: 'standalone', nodes: [node.address], username, password };
    const goods = { ...demoGoods(join(folder, 'data')), store };
    service = await startService(`  goods: ${JSON.stringify(goods)}\ndoctor: { interval: 1s }\n`, {
      ADMIN_TOKEN: TOKEN,
      SIGNING_KEY,
    });
  });
  after(async () => {
    await service?.stop();
    await stack?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** `serpcache doctor …`, as an operator types it. */
  const doctor = (...words: readonly string[]): Promise<{ code: number; out: string }> =>
    new Promise((resolve) => {
      const cli = join(import.meta.dirname, '../../src/cli.ts');
      const port = new URL(service.adminUrl).port;
      const env = { ...process.env, ADMIN_PORT: port, ADMIN_TOKEN: TOKEN };
      const child = execFile(process.execPath, [cli, 'doctor', ...words], { env, cwd: folder }, (_, out) =>
        resolve({ code: child.exitCode ?? -1, out }),
      );
    });
  const report = async (...words: readonly string[]): Promise<Report & { readonly code: number }> => {
    const { code, out } = await doctor('--json', '--window', '300ms', ...words);
    return { ...JSON.parse(out), code };
  };
  const metric = async (check: string): Promise<number | undefined> => {
    const page = await (await fetch(`${service.adminUrl}/metrics`)).text();
    const value = new RegExp(`^serpcache_doctor_findings\\{check="${check}",severity="\\w+"\\} (\\d+)`, 'm').exec(
      page,
    )?.[1];
    return value === undefined ? undefined : Number(value);
  };
  const ready = async (): Promise<{ readonly status: string; readonly findings?: { readonly warning: number } }> =>
    (await fetch(`${service.url}/readyz`)).json() as never;

  test('nothing above info is found in a healthy stack', async () => {
    for (let at = 0; at < 20; at += 1) await ask(service, `кроссовки ${at}`);
    const { code, findings, looked } = await report();
    const grave = findings
      .filter(({ severity }) => severity !== 'info')
      .map(({ check, evidence }) => `${check}: ${evidence}`);
    // Others use this machine too: what is of the host is theirs.
    assertNone(grave, (one) => !/^(host|network|pattern|service-loop)/.test(one));
    assert.equal(code, grave.length === 0 ? 0 : 1);
    assert.deepEqual(pluck(looked.stores, 'nodes'), [[node.address]]);
  });

  test('a fault is told by the checks inside the service, as a metric and as a count, and goes when its cause goes', async () => {
    const before = (await ready()).findings?.warning ?? 0;
    await node.command('CONFIG', 'SET', 'maxmemory', '0');
    await until('the metric of the missing limit', async () => (await metric('store-no-maxmemory')) === 1);
    const { status, findings } = await ready();
    assert.equal(status, 'ready', 'findings never change the status');
    assert.ok((findings?.warning ?? 0) > before);
    assert.equal(JSON.stringify(await ready()).includes(node.address), false, 'and no node is named');
    const found = await report('--only', 'store-no-maxmemory');
    assert.equal(found.code, 1);
    assert.deepEqual(
      found.findings.map(({ subject, seen }) => [subject.includes(node.address), seen.startsWith('3 of 3')]),
      [[true, true]],
    );
    await node.command('CONFIG', 'SET', 'maxmemory', '256mb');
    await until('the metric to fall', async () => (await metric('store-no-maxmemory')) === 0);
  });

  test('a bundle holds no password, no token, no query and no name of a foreign key', async () => {
    await ask(service, QUERY);
    await node.command('CONFIG', 'SET', 'slowlog-log-slower-than', '0');
    for (const text of PLANTED) await node.command('SET', text, 'x'.repeat(1_200_000));
    await node
      .command('EVAL', 'return redis.call("GET", KEYS[1])', 1, 'query:red-shoes-of-alice')
      .catch(() => undefined);
    await node.command('EVAL', '-- hunter2-in-a-script\nreturn 1', 0, 'alice@example.org');
    const file = join(folder, 'ticket.tar.gz');
    await doctor('--bundle', file, '--window', '300ms');
    execFileSync('tar', ['-xzf', file, '-C', folder]);
    const inside = join(folder, 'serpcache-doctor');
    const names = readdirSync(inside);
    const text = names.map((name) => readFileSync(join(inside, name), 'utf8')).join('\n');
    assert.deepEqual(names.sort(), ['README.txt', 'report.json', 'report.txt', 'snapshots.json']);
    assert.match(text, /"store-big-keys"/, 'the big keys are in it');
    assert.match(text, /key-[0-9a-f]{8}/, 'under other names');
    assert.match(text, /"command": ?"(EVAL|SET|GET)"/, 'and the slow log, without arguments');
    for (const secret of [USER.password, TOKEN, SIGNING_KEY, QUERY, ...PLANTED, 'stack-only-on-loopback']) {
      assert.equal(text.includes(secret), false, `the bundle has ${secret}`);
    }
    await node.command('DEL', ...PLANTED);
  });
});
