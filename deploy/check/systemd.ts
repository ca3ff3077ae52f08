import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { bootMachine, HOME, type Machine, makeRoot } from './systemd-boot.ts';
import { checkRunning, installUnits } from './systemd-service.ts';
import { ROOT, run } from './tools.ts';

const FOLDER = join(ROOT, 'deploy', 'systemd');
/** In tenths, as `--threshold` wants it: 3.0 of 10. */
const MAX_EXPOSURE = 30;
const SYSCTL = '60-serpcache-sysctl.conf';
const HUGE_PAGES = '60-serpcache-thp.conf';
const HUGE_PAGES_FILE = '/sys/kernel/mm/transparent_hugepage/enabled';

export const CHECKERS: readonly Checker[] = [
  {
    name: 'systemd',
    about: 'units, drop-ins and kernel settings of deploy/systemd: installed as they say, in a Debian that is booted.',
    run: async (check) => {
      const root = await makeRoot(check);
      await checkHugePages(root, check);
      check.say('booting');
      const machine = await bootMachine(root, check);
      try {
        const settings = await checkSysctl(machine, check);
        const without = await allowNoUsers(machine);
        await installUnits(machine, root, check);
        await checkDropIn(machine);
        const running = await checkRunning(machine, root, check);
        // All are installed now, the instances among them.
        const exposure = await checkUnits(machine);
        return `${exposure}; ${running}; ${settings} kernel settings${without}`;
      } finally {
        await machine.end();
      }
    },
  },
];

/** The kernel refuses user namespaces below a chroot: there, and only there, the units run without PrivateUsers. */
async function allowNoUsers({ command, status }: Machine): Promise<string> {
  if ((await status('unshare --user true 2>&1')) === 0) return '';
  await command(
    'mkdir -p /etc/systemd/system/service.d; printf "[Service]\\nPrivateUsers=no\\n" > /etc/systemd/system/service.d/users.conf;' +
      ' systemctl daemon-reload',
  );
  return '; not run: PrivateUsers, because this machine is a chroot';
}

/** Each is verified without a message, and no more exposed than the threshold. @returns the figures of systemd. */
async function checkUnits({ command }: Machine): Promise<string> {
  const units = readdirSync(FOLDER).filter((name) => name.endsWith('.service'));
  const figures: string[] = [];
  for (const unit of [...units, 'serpcache@01.service', 'redis-server.service']) {
    const verified = await command(`systemd-analyze verify --man=no ${unit} 2>&1`);
    hold(verified.stdout.trim() === '', `systemd-analyze verify ${unit}: ${verified.stdout.trim()}`);
    const threshold = `--offline=true --threshold=${MAX_EXPOSURE}`;
    const { stdout } = await command(`systemd-analyze security --no-pager ${threshold} ${unit}`);
    const [, figure] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    hold(figure !== undefined, `systemd-analyze security ${unit} gives no figure`);
    if (units.includes(unit)) figures.push(`${unit.replace('.service', '')} ${figure}`);
  }
  return `exposure ${figures.join(', ')}`;
}

/** Applied where the network has a namespace of its own; the memory of this machine is not touched. */
async function checkSysctl({ command }: Machine, { say }: CheckRun): Promise<number> {
  const lines = readFileSync(join(FOLDER, SYSCTL), 'utf8').split('\n');
  const settings = lines.filter((line) => line !== '' && !line.startsWith('#'));
  await command(`cp ${HOME}/deploy/systemd/${SYSCTL} /etc/sysctl.d/; /usr/lib/systemd/systemd-sysctl --prefix=/net`);
  for (const line of settings) {
    const [, name = '', value = ''] = /^([\w.]+) = (\S+)$/.exec(line) ?? [];
    hold(name !== '', `deploy/systemd/${SYSCTL}: ${line} is no setting`);
    const file = `/proc/sys/${name.replaceAll('.', '/')}`;
    if (!existsSync(file)) {
      // Kernels are built with and without some; the same file serves all.
      say(`${name}: this kernel lacks it, not checked`);
    } else if (name.startsWith('net.')) {
      const { stdout } = await command(`cat ${file}`);
      hold(stdout.trim() === value, `deploy/systemd/${SYSCTL}: ${name} is ${stdout.trim()}, not ${value}`);
    }
  }
  return settings.length;
}

/** systemd-tmpfiles writes below the root, beside the file of this machine's kernel. */
async function checkHugePages(root: string, { say, signal }: CheckRun): Promise<void> {
  const file = join(root, HUGE_PAGES_FILE);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'always');
  await run('systemd-tmpfiles', [`--root=${root}`, '--create', join(FOLDER, HUGE_PAGES)], { signal });
  const [written = ''] = readFileSync(file, 'utf8').split('\n');
  if (!existsSync(HUGE_PAGES_FILE)) say(`${HUGE_PAGES_FILE}: this kernel lacks it`);
  const known = existsSync(HUGE_PAGES_FILE) ? readFileSync(HUGE_PAGES_FILE, 'utf8') : 'madvise';
  hold(known.includes(written) && written === 'madvise', `deploy/systemd/${HUGE_PAGES}: it writes ${written}`);
}

/** The drop-in wins over the unit of Debian, and the server needs not lower maxclients. */
async function checkDropIn({ command, show }: Machine): Promise<void> {
  const state = await show('redis-server');
  const wanted = { ActiveState: 'active', LimitNOFILE: '65536', LimitCORE: '0', OOMScoreAdjust: '-500' };
  for (const [name, value] of Object.entries(wanted)) {
    hold(state(name) === value, `redis-server with limits.conf: ${name} is ${state(name)}, not ${value}`);
  }
  const { stdout } = await command('redis-cli config get maxclients');
  hold(stdout.trim().endsWith('10000'), `redis-server lowered maxclients: ${stdout.trim().split('\n').at(-1)}`);
}
