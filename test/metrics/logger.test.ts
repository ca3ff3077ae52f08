import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { createLogger } from '../../src/metrics/logger.ts';
import { makeFullFifo } from '../fakes/fifo.ts';
import { temporaryFolder } from '../folder.ts';

const SERVICE = { service: 'serpcache', version: '1.2.3' };

function collect(level: 'trace' | 'info' = 'trace') {
  const lines: Record<string, unknown>[] = [];
  const { log } = createLogger({
    level,
    version: '1.2.3',
    destination: { write: (line) => lines.push(JSON.parse(line)) },
  });
  return { log, lines };
}

/** A program with a logger on its standard output. */
function withLogger(program: string): readonly string[] {
  const logger = new URL('../../src/metrics/logger.ts', import.meta.url);
  const code = `import { createLogger } from ${JSON.stringify(logger.href)}; const { log, droppedLines } = createLogger({ level: 'info', version: '1.2.3' }); ${program}`;
  return ['--input-type=module', '-e', code];
}

/** Runs it; returns its output and its exit status. */
function run(program: string) {
  const { stdout, stderr, status } = spawnSync(process.execPath, withLogger(program), { encoding: 'utf8' });
  return { lines: stdout.split('\n').filter((line) => line !== ''), status, errors: stderr };
}

test('a line is JSON with the name of its level, its time, the service and its version', () => {
  const { log, lines } = collect('info');
  const beforeMs = Date.now();
  log.info({ domain: 'goods', duration_ms: 1.5 }, 'request');
  log.debug('not at this level');
  assert.equal(lines.length, 1);
  const { time, ...line } = lines[0] ?? {};
  assert.deepEqual(line, { level: 'info', ...SERVICE, domain: 'goods', duration_ms: 1.5, msg: 'request' });
  const atMs = Date.parse(String(time));
  assert.ok(beforeMs <= atMs && atMs <= Date.now(), String(time));
});

test('a duration of an event is written as duration_ms, with three decimals', () => {
  const { log, lines } = collect();
  const event = { domain: 'goods', durationMs: 12.345_678 };
  log.info(event);
  assert.deepEqual([lines[0]?.['duration_ms'], lines[0]?.['durationMs']], [12.346, undefined]);
  assert.deepEqual(event, { domain: 'goods', durationMs: 12.345_678 });
  log.info({ durationMs: 'soon' });
  assert.equal(lines[1]?.['duration_ms'], undefined);
});

test('no secret is written: at any depth, by a child logger, or in an error with its command', () => {
  const { log, lines } = collect();
  const secret = 'hunter2';
  const error = Object.assign(
    new Error('WRONGPASS invalid', { cause: Object.assign(new Error('inner'), { password: secret }) }),
    {
      code: 'ERR_AUTH',
      command: { name: 'auth', args: ['user', secret] },
    },
  );
  log.info({ authorization: secret, Cookie: secret, token: secret, 'x-api-key': secret });
  log.info({ req: { headers: { Authorization: `Bearer ${secret}`, 'set-cookie': [secret], accept: 'text/html' } } });
  log.info({
    settings: { domains: [{ store: { password: secret, tls: { key: `-----BEGIN PRIVATE KEY-----${secret}` } } }] },
  });
  log.info({ settings: { signing: { key: secret } }, admin: { adminToken: secret }, keys: { previousKey: secret } });
  log.info({ a: { b: { c: { d: { e: { f: { g: { h: secret } } } } } } } });
  log.child({ token: secret, headers: { accept: '*/*' } }).warn({ session: { apiKey: secret } }, 'from a child');
  log.error({ err: error }, 'store');
  log.error(error);
  const written = JSON.stringify(lines);
  assert.doesNotMatch(written, /hunter2/);
  assert.match(written, /text\/html/);
  assert.equal(lines.length, 8);
  const { err } = lines[6] as { err: Record<string, unknown> };
  assert.deepEqual([err['type'], err['message'], err['code']], ['Error', 'WRONGPASS invalid', 'ERR_AUTH']);
  assert.match(String(err['stack']), /logger\.test/);
  assert.equal((err['cause'] as Record<string, unknown>)['message'], 'inner');
});

test('redaction does not change the logged object', () => {
  const { log } = collect();
  const given = { headers: { authorization: 'hunter2' }, list: [{ token: 'hunter2' }] };
  log.info(given);
  assert.deepEqual(given, { headers: { authorization: 'hunter2' }, list: [{ token: 'hunter2' }] });
});

test('waiting lines are written when the process ends, by exit() and by an error too', () => {
  assert.equal(run(`log.info('a'); log.info('b');`).lines.length, 2);
  const exited = run(`log.info('a'); process.exit(78);`);
  assert.deepEqual([exited.lines.length, exited.status], [1, 78]);
  const thrown = run(`log.info('a'); throw new Error('boom');`);
  assert.equal(thrown.lines.length, 1);
  assert.match(thrown.errors, /boom/);
});

test('waiting lines are written after half a second, and at once with an error line', () => {
  // SIGKILL leaves no time to flush, so these lines were written before it.
  const kill = `process.kill(process.pid, 'SIGKILL');`;
  assert.equal(run(`log.info('a'); log.error('b'); ${kill}`).lines.length, 2);
  assert.equal(run(`log.info('a'); setTimeout(() => { ${kill} }, 600);`).lines.length, 1);
});

test('the process goes on and ends without a reader of the log, and on a full disk', () => {
  const program = `for (let line = 0; line < 100; line += 1) log.error({ line });
    setTimeout(() => process.exit(7), 100);`;
  for (const redirect of ['| sleep 0', '>/dev/full']) {
    const args = ['-o', 'pipefail', '-c', `"$0" "$@" ${redirect}`, process.execPath, ...withLogger(program)];
    const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
    assert.equal(status, 7, stderr);
  }
});

test('a logger does not keep the process alive', () => {
  const { status } = run(`log.info('a');`);
  assert.equal(status, 0);
});

test('lines that a stalled reader does not take are dropped and counted, and it reads the count when it is back', async (t) => {
  const WRITTEN = 20_000;
  const folder = temporaryFolder(t);
  const fifo = join(folder, 'output');
  makeFullFifo(t, fifo);
  const program = `for (let line = 0; line < ${WRITTEN}; line += 1) log.info({ line, text: 'x'.repeat(100) });
    log.error('also without waiting');
    console.error(droppedLines());
    process.stdin.resume().on('end', () => process.exit());`;
  const child = spawn('/bin/sh', ['-c', `exec "$0" "$@" >${fifo}`, process.execPath, ...withLogger(program)]);
  t.after(() => child.kill('SIGKILL'));
  const [said] = await once(child.stderr.setEncoding('utf8'), 'data');
  const dropped = Number(said);
  assert.ok(dropped > 0 && dropped < WRITTEN, said);
  const reader = new Socket({ fd: openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK) });
  t.after(() => reader.destroy());
  const read: { readonly msg?: string; readonly lines?: number }[] = [];
  for await (const line of createInterface({ input: reader })) {
    read.push(JSON.parse(line));
    if (read.at(-1)?.msg?.startsWith('log lines dropped')) break;
  }
  assert.equal(read.at(-1)?.lines, dropped);
  assert.equal(read.length - 1 + dropped, WRITTEN + 1, 'every line is whole, and read or counted');
  child.stdin.end();
  await once(child, 'exit');
});
