import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

const CLI = join(import.meta.dirname, '../../../loadtest/traffic/cli.ts');

test('traffic for a service without the demo is refused, not reported as warm', async (t) => {
  let asked = 0;
  const service = createServer((_, response) => {
    asked += 1;
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"code":"unknown-domain"}');
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  const child = spawn(process.execPath, [CLI, '--port', String(port)], { stdio: ['ignore', 'pipe', 'pipe'] });
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
