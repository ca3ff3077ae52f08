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

test('the unit runs files of the project, directly', () => {
  const files = setting('ExecStart').split(' ');
  assert.equal(files.length, 2);
  for (const file of files) {
    assert.ok(file.startsWith(`${setting('WorkingDirectory')}/`));
    assert.ok(existsSync(join(root, file.slice(setting('WorkingDirectory').length))), `there is no ${file}`);
  }
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
