import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/load.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, 'deploy', file), 'utf8');
const unit = read('systemd/serpcache.service');

function setting(name: string, text = unit): string {
  const value = new RegExp(`^${name} ?= ?(.*)$`, 'm').exec(text)?.[1];
  assert.ok(value !== undefined, `there is no ${name}`);
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
    'NoNewPrivileges LockPersonality RestrictNamespaces RestrictRealtime RestrictSUIDSGID RemoveIPC ProtectHome',
    'ProtectClock ProtectControlGroups ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables',
    'PrivateTmp PrivateDevices PrivateUsers',
  ].flatMap((names) => names.split(' '));
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

/** The settings of a unit that protect the machine, without what differs between programs. */
function protection(text: string): readonly string[] {
  const lines = text.slice(text.indexOf('\nProtectSystem='), text.indexOf('\n[Install]')).split('\n');
  return lines.filter((line) => /^\w/.test(line) && !line.startsWith('MemoryDenyWriteExecute='));
}

test('searchd and its indexer are protected as serpcache is, and write no executable memory', () => {
  // V8 alone needs memory keys.
  const expected = protection(unit).map((line) => line.replace(' @pkey', ''));
  for (const name of ['searchd', 'searchd-index']) {
    const text = `${read(`systemd/${name}.service`)}\n[Install]`;
    assert.deepEqual(protection(text), expected, name);
    assert.equal(setting('MemoryDenyWriteExecute', text), 'yes');
    assert.deepEqual([setting('User', text), setting('StateDirectory', text)], ['searchd', 'searchd']);
  }
});

test('searchd stays in the foreground, and it and the indexer read one configuration', () => {
  const searchd = setting('ExecStart', read('systemd/searchd.service'));
  assert.match(searchd, / --nodetach /);
  const configuration = /--config (\S+)/.exec(searchd)?.[1];
  assert.ok(configuration?.startsWith('/var/lib/searchd/'));
  assert.ok(
    setting('ExecStart', read('systemd/searchd-index.service')).includes(`--config ${configuration} --all --rotate`),
  );
});

test('an instance has ports and a folder of its own', () => {
  const text = read('systemd/serpcache@.service.d/instance.conf');
  const [, port, adminPort] = /^Environment=PORT=(\d+)%i ADMIN_PORT=(\d+)%i$/m.exec(text) ?? [];
  assert.ok(port !== undefined && adminPort !== undefined && port !== adminPort);
  // From 32768 on the kernel takes ports for outgoing connections.
  for (const first of [port, adminPort]) assert.ok(Number(`${first}99`) < 32_768);
  assert.match(text, /enable --now serpcache@01 serpcache@02$/m);
  assert.match(text, /^StateDirectory=\nStateDirectory=serpcache-%i\nWorkingDirectory=\/var\/lib\/serpcache-%i$/m);
});

test('serpcache and searchd are started again for ever, may open a file for each connection, and have time to end', () => {
  for (const text of [unit, read('systemd/searchd.service')]) {
    assert.equal(setting('StartLimitIntervalSec', text), '0');
    assert.equal(setting('Restart', text), 'always');
    assert.ok(Number(setting('LimitNOFILE', text)) > loadSettings({ env: {}, cwd: root }).public.maxConnections);
    assert.ok(Number(setting('TimeoutStopSec', text)) >= 15);
  }
  assert.ok(Number(setting('TimeoutStopSec')) * 1000 >= 2 * loadSettings({ env: {}, cwd: root }).public.drainMs);
  // A wrong configuration stays wrong.
  assert.equal(setting('RestartPreventExitStatus'), '78');
});

test("a store server's limit of files covers maxclients and its own 32", () => {
  const limit = Number(setting('LimitNOFILE', read('systemd/redis-server.service.d/limits.conf')));
  for (const name of ['redis', 'valkey']) {
    const [, clients] = /^maxclients (\d+)$/m.exec(read(`redis/${name}-cache.conf`)) ?? [];
    assert.ok(limit >= Number(clients) + 32, `${name}: ${clients} clients`);
  }
});

test('settings of the kernel are those that Redis asks for when it starts', () => {
  const sysctl = read('systemd/60-serpcache-sysctl.conf');
  assert.ok(Number(setting('net.core.somaxconn', sysctl)) >= 511);
  assert.equal(setting('vm.overcommit_memory', sysctl), '1');
  const [, pages] =
    /^w \/sys\/kernel\/mm\/transparent_hugepage\/enabled - - - - (\w+)$/m.exec(read('systemd/60-serpcache-thp.conf')) ??
    [];
  assert.ok(pages !== undefined && pages !== 'always');
});
