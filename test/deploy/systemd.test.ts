import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/load.ts';

const root = join(import.meta.dirname, '..', '..');
const unit = readFileSync(join(root, 'deploy/systemd/serpcache.service'), 'utf8');

function setting(name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];
  assert.ok(value !== undefined, `the unit has no ${name}`);
  return value;
}

test('the unit runs the Node of src/node on a file of the project, directly', () => {
  const home = setting('WorkingDirectory');
  const [node, main = '', ...more] = setting('ExecStart').split(' ');
  assert.deepEqual(more, []);
  assert.ok(main.startsWith(`${home}/`));
  assert.ok(existsSync(join(root, main.slice(home.length))), `there is no ${main}`);
  assert.equal(node, `${home}/src/node/node_modules/.bin/node`);
  assert.match(unit, /npm ci --prefix src\/node/);
  const { packages } = JSON.parse(readFileSync(join(root, 'src/node/package-lock.json'), 'utf8'));
  const programs = Object.entries<{ bin?: { node?: string } }>(packages).filter(([path]) => path !== '');
  for (const [path, { bin }] of programs) assert.ok(bin?.node !== undefined, `${path} brings no node`);
});

test('the unit waits longer for the end than the service takes to drain', () => {
  assert.ok(Number(setting('TimeoutStopSec')) * 1000 >= 2 * loadSettings({ env: {}, cwd: root }).public.drainMs);
});

test('the unit restarts after a crash, and not after a wrong configuration', () => {
  assert.equal(setting('Restart'), 'always');
  assert.equal(setting('RestartPreventExitStatus'), '78');
});

test('the unit gives the service no rights it does not need', () => {
  assert.notEqual(setting('User'), 'root');
  assert.equal(setting('NoNewPrivileges'), 'yes');
});
