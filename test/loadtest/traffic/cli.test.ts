import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { listening } from '../../http-listener.ts';

const CLI = join(import.meta.dirname, '../../../loadtest/traffic/cli.ts');

test('traffic for a service without the demo is refused, not reported as warm', async (t) => {
  let asked = 0;
  const url = await listening(t, (_, response) => {
    asked += 1;
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"code":"unknown-domain"}');
  });
  const child = spawn(process.execPath, [CLI, '--port', new URL(url).port], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 3);
  assert.match(err, /127\.0\.0\.1:\d+ has no domain goods: this is traffic for the demo catalogue/);
  assert.deepEqual([out, asked], ['', 1]);
});
