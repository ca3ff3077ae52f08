import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts } from '../../loadtest/stack/process.ts';
import { pluck } from '../pluck.ts';
import { type AdminService, adminService, TOKEN } from './harness.ts';

const CLI = join(import.meta.dirname, '../../src/cli.ts');

/** Starts the command as a shell does. Its output is a pipe, so it asks no questions. */
function start(t: TestContext, words: readonly string[], { port }: Pick<AdminService, 'port'>) {
  const env = { PATH: process.env['PATH'], USER: 'ana', ADMIN_PORT: String(port), ADMIN_TOKEN: TOKEN };
  const child = spawn(process.execPath, [CLI, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.err += text;
  });
  const done = once(child, 'close').then(([code, signal]) => ({ code, signal, ...said }));
  const until = async (text: string): Promise<void> => {
    while (!said.out.includes(text)) await once(child.stdout, 'data');
  };
  return { child, done, until };
}

test('the exit status is 0 with one JSON value when done, 3 when refused or unreachable, 64 for wrong arguments, 78 for a wrong configuration', async (t) => {
  const service = await adminService(t);
  const [closed = 0] = await freePorts(1);
  const all = await Promise.all([
    start(t, ['purge', 'goods', 'диван'], service).done,
    start(t, ['purge', 'godos', 'диван'], service).done,
    start(t, ['popular'], { port: closed }).done,
    start(t, ['flush', 'goods', '--mode', 'drop'], service).done,
    start(t, ['popular'], { port: 70_000 }).done,
  ]);
  assert.deepEqual(pluck(all, 'code'), [0, 3, 3, 64, 78]);
  const [done, ...others] = all;
  assert.equal(JSON.parse(done?.out ?? '').text, 'диван');
  for (const { out, err } of others) assert.ok(out === '' && err !== '');
  assert.match(service.audit[0]?.by ?? '', /^ana@.+ from 127\.0\.0\.1$/);
  assert.deepEqual(service.posted('/admin/flush'), []);
});

test('Ctrl-C aborts the followed drill, waits for the restored cache, and exits with 2', async (t) => {
  const service = await adminService(t);
  const words = ['drill', 'run', '1-5-25-100', '--domain', 'goods', '--reason', 'rehearsal', '--yes'];
  const { child, done, until } = start(t, words, service);
  await until('"started"');
  child.kill('SIGINT');
  const { code, out, err } = await done;
  assert.equal(code, 2, err);
  assert.match(err, /the cache is restored/);
  const [drill] = (await service.operations.drills.list()).drills;
  assert.equal(drill?.verdict?.kind, 'aborted');
  assert.deepEqual(service.posted(`/admin/drills/${drill?.id}/abort`), [{ reason: 'stopped at the command line' }]);
  assert.equal(JSON.parse(out.trimEnd().split('\n').at(-1) ?? '').kind, 'over');
});

test('a drill is aborted when its output is closed', async (t) => {
  const service = await adminService(t);
  const words = ['drill', 'run', '1-5-25-100', '--domain', 'goods', '--reason', 'rehearsal', '--yes'];
  const { child, done, until } = start(t, words, service);
  await until('"started"');
  child.stdout.destroy();
  assert.equal((await done).code, 2);
  const [drill] = (await service.operations.drills.list()).drills;
  assert.equal(drill?.verdict?.kind, 'aborted');
});
