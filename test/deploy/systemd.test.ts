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

test('the unit runs the Node of src/node directly on a file of the project', () => {
  const home = '/opt/serpcache';
  const [node, main = '', ...more] = setting('ExecStart').split(' ');
  assert.deepEqual(more, []);
  assert.ok(main.startsWith(`${home}/`));
  assert.ok(existsSync(join(root, main.slice(home.length))), `there is no ${main}`);
  assert.equal(node, `${home}/src/node/node_modules/.bin/node`);
  assert.match(unit, /npm ci --prefix src\/node/);
  const { packages } = JSON.parse(readFileSync(join(root, 'src/node/package-lock.json'), 'utf8'));
  const programs = Object.entries<{ bin?: { node?: string } }>(packages).filter(([path]) => path !== '');
  for (const [path, { bin }] of programs) assert.ok(bin?.node !== undefined, `${path} contains no node`);
});

test("the unit's stop timeout is longer than the drain of the service", () => {
  assert.ok(Number(setting('TimeoutStopSec')) * 1000 >= 2 * loadSettings({ env: {}, cwd: root }).public.drainMs);
});

test('the unit restarts after a crash, and not after a wrong configuration', () => {
  assert.equal(setting('Restart'), 'always');
  assert.equal(setting('RestartPreventExitStatus'), '78');
});

test('relative paths of a configuration lie where the unit lets the service write', () => {
  const { drills, audit, domains } = loadSettings({ env: {}, cwd: setting('WorkingDirectory') });
  const state = `/var/lib/${setting('StateDirectory')}/`;
  const directories = domains.map(({ engine }) => (engine.kind === 'sqlite' ? engine.directory : ''));
  for (const path of [drills.directory, audit.file, ...directories]) assert.ok(path.startsWith(state), path);
  assert.equal(setting('ProtectSystem'), 'strict');
  assert.doesNotMatch(unit, /^(?:ReadWritePaths|BindPaths)=/m);
});

test('the unit gives the service no unnecessary privileges', () => {
  assert.notEqual(setting('User'), 'root');
  const yes = [
    ...[
      'NoNewPrivileges',
      'LockPersonality',
      'RestrictNamespaces',
      'RestrictRealtime',
      'RestrictSUIDSGID',
      'RemoveIPC',
    ],
    ...['ProtectHome', 'ProtectClock', 'ProtectControlGroups', 'ProtectHostname', 'ProtectKernelLogs'],
    ...['ProtectKernelModules', 'ProtectKernelTunables', 'PrivateTmp', 'PrivateDevices', 'PrivateUsers'],
  ];
  for (const name of yes) assert.equal(setting(name), 'yes', name);
  for (const name of ['CapabilityBoundingSet', 'AmbientCapabilities']) assert.equal(setting(name), '', name);
  assert.deepEqual([setting('ProtectProc'), setting('ProcSubset'), setting('UMask')], ['invisible', 'pid', '0077']);
  assert.equal(setting('LimitCORE'), '0');
  assert.equal(setting('RestrictAddressFamilies'), 'AF_INET AF_INET6 AF_UNIX');
  assert.deepEqual(
    [...unit.matchAll(/^SystemCall\w+=.*$/gm)].map(([line]) => line),
    [
      'SystemCallArchitectures=native',
      'SystemCallFilter=@system-service @pkey',
      'SystemCallFilter=~@privileged @resources',
      'SystemCallErrorNumber=EPERM',
    ],
  );
  // V8 generates and executes machine code.
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=/m);
});

test('the unit holds no secret', () => {
  assert.doesNotMatch(unit, /^Environment=.*(?:TOKEN|PASSWORD|SECRET)/m);
  assert.match(setting('EnvironmentFile'), /^-\/etc\//);
});
