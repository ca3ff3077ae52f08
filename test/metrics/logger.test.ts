import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createLogger } from '../../src/metrics/logger.ts';

const SERVICE = { service: 'serpcache', version: '1.2.3' };

function collect(level: 'trace' | 'info' = 'trace') {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({ level, version: '1.2.3', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  return { log, lines };
}

/** Runs a program with a logger on its standard output; returns its output and its exit status. */
function run(program: string): {
  readonly lines: readonly string[];
  readonly status: number | null;
  readonly errors: string;
} {
  const logger = new URL('../../src/metrics/logger.ts', import.meta.url);
  const code = `import { createLogger } from ${JSON.stringify(logger.href)}; const log = createLogger({ level: 'info', version: '1.2.3' }); ${program}`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  return { lines: stdout.split('\n').filter((line) => line !== ''), status, errors: stderr };
}

test('a line is JSON with the name of its level, its time, the service and its version', () => {
  const { log, lines } = collect('info');
  log.info({ domain: 'goods', ms: 1.5 }, 'request');
  log.debug('not at this level');
  assert.equal(lines.length, 1);
  const { time, ...line } = lines[0] ?? {};
  assert.deepEqual(line, { level: 'info', ...SERVICE, domain: 'goods', ms: 1.5, msg: 'request' });
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
});

test('a duration of an event is written as duration_ms too, with three decimals', () => {
  const { log, lines } = collect();
  const event = { domain: 'goods', durationMs: 12.345_678 };
  log.info(event);
  assert.deepEqual([lines[0]?.['duration_ms'], lines[0]?.['durationMs']], [12.346, 12.345_678]);
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

test('waiting lines are written within 3 s, and at once with an error line', () => {
  // SIGKILL leaves no time to flush, so these lines were written before it.
  const kill = `process.kill(process.pid, 'SIGKILL');`;
  assert.equal(run(`log.info('a'); log.error('b'); ${kill}`).lines.length, 2);
  assert.equal(run(`log.info('a'); setTimeout(() => { ${kill} }, 3000);`).lines.length, 1);
});

test('a logger does not keep the process alive', () => {
  const { status } = run(`log.info('a');`);
  assert.equal(status, 0);
});
