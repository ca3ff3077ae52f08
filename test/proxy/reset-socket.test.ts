import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const MODULE = join(import.meta.dirname, '../../loadtest/proxy/reset-socket.ts');

/** A client that says its end and is reset in the same turn. */
const PROGRAM = `
import { connect, createServer } from 'node:net';
import { resetSocket } from ${JSON.stringify(MODULE)};
const server = createServer((socket) => socket.on('error', () => {}).resume());
server.listen(0, '127.0.0.1', () => {
  const client = connect(server.address().port, '127.0.0.1', () => {
    client.end();
    resetSocket(client);
    server.close();
  });
});
`;

test('a process that reset a socket while its end was on the way can end', () => {
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    encoding: 'utf8',
    timeout: 5000,
  });
  assert.equal(ended.stderr, '');
  assert.equal(ended.status, 0);
});
