import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../loadtest/stack/process.ts';
import { type CheckRun, hold } from './checker.ts';
import { QUERY } from './image-service.ts';
import { HOME, type Machine, stepsOf } from './systemd-boot.ts';
import { run } from './tools.ts';

const PORT = 8080;
/** As serpcache@.service.d sets them. */
const INSTANCE_PORTS = [18_001, 18_002] as const;
const SERVING_LIMIT_MS = 30_000;
/** Longer than RestartSec (1 s), after which a unit that restarts would have started again. */
const NO_RESTART_MS = 2500;
const WRONG_CONFIGURATION = 78;
/** Folders of the kernel and of devices: systemd protects them by settings of their own. */
const KERNEL = /^\/(?:proc|sys|dev)(?:\/|$)/;

const CONFIGURATION = {
  domains: {
    goods: {
      store: { kind: 'standalone', nodes: ['127.0.0.1:6379'] },
      engine: { kind: 'sphinx', host: '127.0.0.1', port: 9306, index: 'goods', idAttribute: 'doc_id' },
      attributes: {
        category: { type: 'string', facet: true },
        brand: { type: 'string', facet: true },
        condition: { type: 'string', facet: true },
        city: { type: 'string', facet: true },
        price: { type: 'integer', sort: true, currency: 'RUB' },
        date: { type: 'date', sort: true },
      },
    },
  },
};

/** Installs by the commands in the heads of the files; then the units run. */
export async function installUnits(machine: Machine, root: string, { say, signal }: CheckRun): Promise<void> {
  const steps = async (file: string, chosen = stepsOf(file)): Promise<void> => {
    for (const step of chosen) {
      signal.throwIfAborted();
      // npm is not part of the machine: a release may come with its packages.
      if (step.startsWith('npm ')) await run('sh', ['-euc', step], { cwd: join(root, HOME), signal });
      else await machine.command(`cd ${HOME}; ${step}`);
    }
  };
  say('the packages of the project');
  mkdirSync(join(root, 'etc', 'serpcache'), { recursive: true });
  writeConfiguration(root, JSON.stringify(CONFIGURATION));
  await steps('redis-server.service.d/limits.conf');
  await machine.command('systemctl restart redis-server');
  const [npm = '', ...unit] = stepsOf('serpcache.service');
  await steps('serpcache.service', [npm]);

  say('searchd and its indexes');
  const searchd = stepsOf('searchd.service');
  await steps('searchd.service', searchd.slice(0, -1));
  // Without a configuration there is nothing to serve, and no attempt to.
  hold((await machine.status('systemctl start searchd')) !== 0, 'searchd.service starts without sphinx.conf');
  await machine.command(
    `SERPCACHE_CONFIG=/etc/serpcache/serpcache.yaml ${HOME}/src/node/node_modules/.bin/node ${HOME}/src/cli.ts sphinx-source` +
      ' --out /var/lib/searchd && chown --recursive searchd:searchd /var/lib/searchd',
  );
  await steps('searchd.service', searchd.slice(-1));

  say('serpcache');
  await steps('serpcache.service', unit);
  await untilServing(machine, PORT);
}

function writeConfiguration(root: string, text: string): void {
  writeFileSync(join(root, 'etc', 'serpcache', 'serpcache.yaml'), text);
}

async function untilServing({ ask }: Machine, port: number): Promise<void> {
  let seen = '';
  const serves = async (): Promise<boolean> => {
    const { status, body } = await ask(`http://127.0.0.1:${port}/readyz`);
    seen = `${status} ${body.slice(0, 300)}`;
    return status === 200 && (JSON.parse(body) as { readonly status: string }).status === 'ready';
  };
  hold(await waitUntil(serves, SERVING_LIMIT_MS, 200), `port ${port}: /readyz stays ${seen}`);
}

async function found({ ask }: Machine, port: number): Promise<number> {
  const { status, body } = await ask(`http://127.0.0.1:${port}/search?q=${encodeURIComponent(QUERY)}`);
  hold(status === 200, `port ${port}: GET /search got ${status}: ${body.slice(0, 200)}`);
  return (JSON.parse(body) as { readonly total: number }).total;
}

/** The units keep their promises while they run, and when they end. @returns one clause. */
export async function checkRunning(machine: Machine, root: string, { say }: CheckRun): Promise<string> {
  const total = await found(machine, PORT);
  hold(total > 0, `GET /search: nothing found for ${QUERY}`);

  say('what the services may write');
  const rows = [
    ['serpcache', ['/tmp', '/var/lib/serpcache', '/var/tmp']],
    ['searchd', ['/tmp', '/var/lib/searchd', '/var/tmp']],
  ] as const;
  for (const [unit, expected] of rows) {
    const writable = await writableFolders(machine, unit);
    hold(
      writable.join() === expected.join(),
      `${unit} can write ${writable.join(', ')}, not only ${expected.join(', ')}`,
    );
  }
  await checkProcess(machine, 'serpcache');
  await checkProcess(machine, 'searchd');

  say('kill -9 of each');
  for (const unit of ['searchd', 'serpcache']) await restarts(machine, unit);
  await untilServing(machine, PORT);

  say('a rebuild under the running searchd');
  await machine.command('systemctl start searchd-index');
  const rebuilt = await machine.show('searchd-index');
  hold(rebuilt('ExecMainStatus') === '0', `searchd-index: exit ${rebuilt('ExecMainStatus')} while searchd runs`);
  hold((await found(machine, PORT)) === total, 'a rebuild of the same documents finds others');

  say('one process for each core');
  for (const step of stepsOf('serpcache@.service.d/instance.conf')) await machine.command(`cd ${HOME}; ${step}`);
  for (const port of INSTANCE_PORTS) {
    await untilServing(machine, port);
    hold((await found(machine, port)) === total, `port ${port} finds another number of documents`);
  }

  say('each is stopped');
  for (const unit of ['serpcache@01', 'serpcache@02', 'serpcache', 'searchd']) await stops(machine, unit);

  say('a wrong configuration');
  writeConfiguration(root, JSON.stringify({ ...CONFIGURATION, nonsense: true }));
  await machine.command('systemctl start serpcache');
  await machine.until('serpcache', (state) => state('ActiveState') === 'failed', 'a wrong configuration, and no end');
  await sleep(NO_RESTART_MS);
  const refused = await machine.show('serpcache');
  hold(
    refused('ActiveState') === 'failed' && refused('ExecMainStatus') === String(WRONG_CONFIGURATION),
    `a wrong configuration: ${refused('ActiveState')}, exit ${refused('ExecMainStatus')}, not failed with ${WRONG_CONFIGURATION}`,
  );
  return (
    `booted: installed by their own heads, ${total} documents found, ${rows.length} services write their folder alone, ` +
    'start again after kill -9, stop clean; 2 more processes; exit 78 stays'
  );
}

/** All mounts of its process that can be written, beside the kernel's. Mounts may lie on each other, so each is tried. */
async function writableFolders({ command, show }: Machine, unit: string): Promise<readonly string[]> {
  const pid = (await show(unit))('MainPID');
  const targets = `cut -d' ' -f5 /proc/${pid}/mountinfo | sort -u`;
  const { stdout } = await command(
    `${targets} | nsenter --mount --root --target ${pid} sh -c 'while read -r at; do if test -w "$at"; then echo "$at"; fi; done'`,
  );
  return stdout.split('\n').filter((target) => target !== '' && !KERNEL.test(target));
}

/** No capability, a filter of system calls, and a user of its own. */
async function checkProcess({ command, show }: Machine, unit: string): Promise<void> {
  const pid = (await show(unit))('MainPID');
  const { stdout } = await command(`cat /proc/${pid}/status; stat -c 'Owner:\t%U' /proc/${pid}`);
  const given = new Map(stdout.split('\n').map((line) => line.split(':\t') as [string, string]));
  const wanted = { Owner: unit, CapEff: '0000000000000000', CapBnd: '0000000000000000', NoNewPrivs: '1', Seccomp: '2' };
  for (const [name, value] of Object.entries(wanted)) {
    hold(given.get(name) === value, `${unit}: ${name} of its process is ${given.get(name)}, not ${value}`);
  }
}

async function restarts({ command, show, until }: Machine, unit: string): Promise<void> {
  const before = (await show(unit))('MainPID');
  await command(`systemctl kill --kill-whom=main --signal=SIGKILL ${unit}`);
  await until(
    unit,
    (state) => state('ActiveState') === 'active' && state('MainPID') !== before && state('NRestarts') === '1',
    'killed, and not started again',
  );
}

async function stops({ command, show }: Machine, unit: string): Promise<void> {
  await command(`systemctl stop ${unit}`);
  const state = await show(unit);
  // CLD_EXITED is 1. A process that SIGKILL ended has 2, and `timeout` as the result.
  const seen = [state('ActiveState'), state('Result'), state('ExecMainCode'), state('ExecMainStatus')].join(' ');
  hold(seen === 'inactive success 1 0', `systemctl stop ${unit}: ${seen}, not inactive success 1 0`);
}
