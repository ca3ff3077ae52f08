import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../loadtest/stack/process.ts';
import { run } from './tools.ts';

/** The settings of an image that a runtime follows, as `docker inspect` names them. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Cmd: readonly string[];
  readonly StopSignal?: string;
  readonly Healthcheck?: { readonly Test: readonly string[] };
  readonly Labels?: Readonly<Record<string, string>>;
}

/** A built image, unpacked: all its containers share the folder, which is mounted read-only into each. */
export interface Image {
  readonly root: string;
  readonly config: ImageConfig;
}

export interface Volume {
  /** A file or a folder of this machine. */
  readonly source: string;
  readonly target: string;
  readonly readOnly?: boolean;
}

/** Loopback alone; the network of another container; or an interface on a wire, with addresses such as 10.0.0.2/24. */
type Network =
  | { readonly kind: 'none' }
  | { readonly kind: 'shared'; readonly pid: number }
  | { readonly kind: 'wire'; readonly wire: Wire; readonly addresses: readonly string[] };

export interface ContainerOptions {
  /** Names its log, and stands in faults. */
  readonly name: string;
  readonly image: Image;
  /** Holds its log. */
  readonly folder: string;
  readonly network: Network;
  readonly volumes?: readonly Volume[];
  /** Empty folders in memory, beside /tmp; options follow a colon as in Compose. */
  readonly tmpfs?: readonly string[];
  /** Instead of the image's command. */
  readonly command?: readonly string[];
  readonly user?: string;
  /** In addition to the image's. */
  readonly env?: Readonly<Record<string, string>>;
}

export type Container = Awaited<ReturnType<typeof startContainer>>;

const START_LIMIT_MS = 20_000;
const ASK_LIMIT_MS = 10_000;
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'];

/**
 * Starts a command as a container runtime does: namespaces of its own, a read-only root, its user without capabilities, as
 * process 1. It needs no container engine and no control groups, so it also runs inside a chroot.
 */
export async function startContainer(options: ContainerOptions) {
  const { name, folder, network } = options;
  const pidFile = join(folder, `${name}.pid`);
  const logFile = join(folder, `${name}.log`);
  for (const mount of options.volumes ?? []) makeMountPoint(options.image.root, mount);
  for (const target of options.tmpfs ?? []) mkdirSync(join(options.image.root, pathOf(target)), { recursive: true });
  rmSync(pidFile, { force: true });
  const log = openSync(logFile, 'a');
  const joined = network.kind === 'shared' ? ['nsenter', `--net=/proc/${network.pid}/ns/net`] : [];
  const spaces = ['--mount', '--pid', '--ipc', '--uts', ...(network.kind === 'shared' ? [] : ['--net'])];
  // In a chroot `/` is no mount, so that unshare itself cannot make it private.
  const unshare = ['unshare', ...spaces, '--fork', '--propagation', 'unchanged'];
  const held = [...joined, ...unshare, 'sh', '-euc', scriptOf(options, pidFile)];
  // It ends with this process, however this process ends.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...held], { stdio: ['ignore', log, log] });
  closeSync(log);
  let status: number | undefined;
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code ?? 128));
  }).then((code) => {
    status = code;
    return code;
  });
  const readLog = (): string => readFileSync(logFile, 'utf8');
  // The file is written by the shell that becomes process 1.
  const readPid = (): number => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0);
  await waitUntil(() => status !== undefined || readPid() !== 0, START_LIMIT_MS, 10);
  const pid = readPid();
  if (pid === 0) {
    child.kill('SIGKILL');
    throw new Error(`${name} cannot be started: ${readLog().trim().split('\n').at(-1)}`);
  }

  const signal = (by: NodeJS.Signals): void => {
    try {
      if (status === undefined) process.kill(pid, by);
    } catch {
      // It ended, and the report of it is on its way.
    }
  };
  return {
    name,
    pid,
    readLog,
    signal,
    /** The exit status of process 1. */
    ended,
    hasEnded: () => status !== undefined,
    /** @returns the exit status of process 1, or undefined when it had not ended after `graceMs` and was killed. */
    stop: async (graceMs: number): Promise<number | undefined> => {
      signal((options.image.config.StopSignal ?? 'SIGTERM') as NodeJS.Signals);
      const code = await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
      if (code === undefined) {
        signal('SIGKILL');
        await ended;
      }
      return code;
    },
  };
}

/** Runs a command in a container of its own. @returns its exit status and all that it wrote. */
export async function runContainer(options: ContainerOptions & { readonly limitMs: number }) {
  const container = await startContainer(options);
  const status = await Promise.race([container.ended, sleep(options.limitMs, undefined, { ref: false })]);
  if (status !== undefined) return { status, log: container.readLog() };
  await container.stop(0);
  throw new Error(`${options.name} took more than ${options.limitMs / 1000} s: ${container.readLog().slice(-500)}`);
}

interface Answer {
  /** 0: nothing answers. */
  readonly status: number;
  readonly body: string;
}

const ASK =
  'const answer = await fetch(process.argv[1]).catch(() => undefined);' +
  'console.log(JSON.stringify({ status: answer?.status ?? 0, body: (await answer?.text()) ?? "" }));';

/** One request from within the network of a process. */
export async function ask(pid: number, url: string): Promise<Answer> {
  const entered = [`--net=/proc/${pid}/ns/net`, process.execPath, '--input-type=module', '-e', ASK, url];
  const { stdout } = await run('nsenter', entered, { limitMs: ASK_LIMIT_MS });
  return JSON.parse(stdout);
}

/** A bridge that leads nowhere else. */
export interface Wire {
  readonly pid: number;
  readonly end: () => void;
}

export async function startWire(): Promise<Wire> {
  const script = `${PATHS}\nip link add br0 type bridge\nip link set br0 up\nip link set lo up\necho up\nexec sleep infinity`;
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-euc', script]);
  const said = { out: '', error: '' };
  child.stdout.on('data', (text) => (said.out += text));
  child.stderr.on('data', (text) => (said.error += text));
  await waitUntil(() => said.out !== '' || child.exitCode !== null, START_LIMIT_MS, 10);
  if (said.out === '' || child.pid === undefined) throw new Error(`no bridge: ${said.error.trim()}`);
  return { pid: child.pid, end: () => void child.kill('SIGKILL') };
}

/** ip and chroot are where Debian keeps programs of root. */
const PATHS = 'PATH="$PATH:/usr/sbin:/sbin"';

function scriptOf({ image, network, ...options }: ContainerOptions, pidFile: string): string {
  const { root, config } = image;
  const { volumes = [], tmpfs = [], user = config.User, command = config.Cmd } = options;
  const at = (target: string): string => quoted(join(root, target));
  const memory = [...tmpfs, '/tmp'].map((each) => {
    const given = each.split(':')[1];
    return `mount -t tmpfs -o ${quoted(`nosuid,nodev${given === undefined ? '' : `,${given}`}`)} tmpfs ${at(pathOf(each))}`;
  });
  const [uid = '', gid = uid] = user.split(':');
  const env = [...config.Env, ...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`)];
  const unprivileged = [
    ...['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs', '--pdeathsig', 'KILL'],
    ...['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'],
  ];
  return [
    PATHS,
    'mount --make-rprivate / 2>/dev/null || true',
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    `mount --make-rprivate ${quoted(root)}`,
    ...volumes.map(({ source, target }) => `mount --bind ${quoted(source)} ${at(target)}`),
    ...volumes.filter(({ readOnly }) => readOnly).map(({ target }) => `mount -o remount,bind,ro ${at(target)}`),
    `mount -t proc -o nosuid,nodev,noexec proc ${at('/proc')}`,
    `mount -t tmpfs -o nosuid,mode=755 tmpfs ${at('/dev')}`,
    ...DEVICES.map((name) => `: > ${at(`/dev/${name}`)}; mount --bind /dev/${name} ${at(`/dev/${name}`)}`),
    ...memory,
    `mount -o remount,bind,ro ${quoted(root)}`,
    ...interfaces(network),
    // /proc is still that of this machine, where the shell has its process id of outside.
    `read -r pid rest < /proc/self/stat; echo "$pid" > ${quoted(pidFile)}`,
    `exec chroot ${quoted(root)} ${quotedAll(['/usr/bin/env', '-i', '-C', config.WorkingDir || '/', ...env])} ` +
      quotedAll([...unprivileged, ...command]),
  ].join('\n');
}

function interfaces(network: Network): readonly string[] {
  if (network.kind === 'shared') return [];
  const loopback = 'ip link set lo up';
  if (network.kind === 'none') return [loopback];
  const { wire, addresses } = network;
  const [first = ''] = addresses;
  // At most 15 characters, and unique on the wire as the address is.
  const outside = `v${first.replace(/\/.*$/, '').split('.').slice(2).join('-')}`;
  // The shell is process 1 of its namespace, and the peer moves to the network of that process.
  const plugged = `ip link add ${outside} type veth peer name eth0 netns 1 && ip link set ${outside} master br0 up`;
  return [
    loopback,
    `nsenter --net=/proc/${wire.pid}/ns/net sh -c ${quoted(plugged)}`,
    ...addresses.map((address) => `ip addr add ${address} dev eth0`),
    'ip link set eth0 up',
  ];
}

/** A runtime makes what is mounted over when the image does not have it. */
function makeMountPoint(root: string, { source, target }: Volume): void {
  const place = join(root, target);
  if (existsSync(place)) return;
  mkdirSync(statSync(source).isDirectory() ? place : dirname(place), { recursive: true });
  if (!existsSync(place)) writeFileSync(place, '');
}

function pathOf(tmpfs: string): string {
  return tmpfs.split(':')[0] ?? tmpfs;
}

function quotedAll(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
