import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSources } from '../../loadtest/stack/archive.ts';
import { cacheFolder } from '../../loadtest/stack/go-program.ts';
import { type CheckRun, hold } from './checker.ts';
import type { Image, ImageConfig } from './container.ts';
import { install, type Ran, ROOT, type RunOptions, run } from './tools.ts';

const SUITE = 'bookworm';
const DEBIAN = `docker.io/library/debian:${SUITE}-slim`;
const NODE = `docker.io/library/node:26-${SUITE}-slim`;
const NPM = 'npm@11';
const BUILD_LIMIT_MS = 8 * 60_000;
/** These have no use in a base image, and would be copied with every stage. */
const JUNK = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

export type Builder = Awaited<ReturnType<typeof createBuilder>>;

/**
 * Builds stages of the Dockerfile with buildah. Its base images cannot be pulled everywhere, so images of the same names are
 * made here: Debian by debootstrap, and Node by the binary that runs this program.
 */
export async function createBuilder({ folder, say, signal }: CheckRun) {
  install('buildah', 'debootstrap');
  const store = join(folder, 'images');
  const prefix = mountedRoot(folder);
  const buildah = (args: readonly string[], options: Pick<RunOptions, 'cwd'> = {}): Promise<Ran> => {
    const own = ['--root', join(store, 'root'), '--runroot', join(store, 'run'), '--storage-driver', 'vfs'];
    const [command = '', ...words] = [...prefix, 'buildah', ...own, ...args];
    return run(command, words, { limitMs: BUILD_LIMIT_MS, signal, ...options });
  };
  // The OCI format has no health check.
  const build = ['bud', '--isolation', 'chroot', '--pull-never', '--format', 'docker', '--quiet'];
  const mounts = await machineSettings(folder);

  const context = join(folder, 'base');
  mkdirSync(context);
  say('base images');
  cpSync(await debianTar({ folder, signal }), join(context, 'debian.tar'));
  cpSync(process.execPath, join(context, 'node'));
  await run('npm', ['install', '--global', '--prefix', join(context, 'npm'), NPM], { signal });
  // Debian's npm writes its own settings there, which name other places than Node's image has.
  rmSync(join(context, 'npm', 'lib', 'node_modules', 'npm', 'npmrc'), { force: true });
  for (const [tag, text] of [
    [DEBIAN, 'FROM scratch\nADD debian.tar /\nCMD ["bash"]\n'],
    [
      NODE,
      // Node is linked with libatomic, which the minimum of Debian lacks.
      `FROM ${DEBIAN}\nRUN apt-get update && apt-get install --yes --no-install-recommends libatomic1` +
        ' && rm -rf /var/lib/apt/lists/*\n' +
        'COPY node /usr/local/bin/node\nCOPY npm/lib/node_modules /usr/local/lib/node_modules\n' +
        'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && npm --version' +
        ' && useradd --uid 1000 --user-group --create-home node\n',
    ],
  ] as const) {
    writeFileSync(join(context, 'Dockerfile'), text);
    await buildah([...build, ...mounts, '--tag', tag, context]);
  }
  rmSync(context, { recursive: true });

  return {
    /** Builds with the words of a `docker build -t NAME …`, from the project's root. @returns the image, unpacked. */
    image: async (command: string, labels: Readonly<Record<string, string>> = {}): Promise<Image> => {
      say(command);
      const [, , ...words] = command.split(' ');
      const tag = words[words.indexOf('-t') + 1] ?? '';
      const given = Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]);
      await buildah([...build, ...mounts, ...given, ...words], { cwd: ROOT });
      const { stdout: described } = await buildah(['inspect', '--type', 'image', tag]);
      const { Docker: docker } = JSON.parse(described) as { readonly Docker: { readonly config: ImageConfig } };
      const { stdout: container } = await buildah(['from', '--pull-never', tag]);
      const { stdout: root } = await buildah(['mount', container.trim()]);
      return { root: root.trim(), config: docker.config };
    },
  };
}

/**
 * In a chroot `/` is no mount, and a program cannot make it private. There it runs in a mount namespace whose root is a mount of
 * the same files. The mount below which that is made is private first, so that no other namespace sees it.
 */
export function mountedRoot(folder: string): readonly string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  if (mounts.some((line) => line.split(' ')[4] === '/')) return [];
  const place = join(folder, 'root');
  mkdirSync(join(place, 'mounted'), { recursive: true });
  const script = [
    'mount --bind "$0" "$0"',
    'mount --make-private "$0"',
    'mount --rbind / "$0/mounted"',
    'mount --make-rprivate "$0/mounted"',
    'exec chroot "$0/mounted" /usr/bin/env -C "$PWD" "$@"',
  ].join(' && ');
  return ['unshare', '--mount', '--propagation', 'unchanged', 'sh', '-c', script, place];
}

interface DebianOptions extends Pick<CheckRun, 'folder' | 'signal'> {
  /** Packages in addition to the minimum. */
  readonly include?: readonly string[];
}

/** A minimal Debian, made once into the user's cache. */
export async function debianTar({ folder, signal, include = [] }: DebianOptions): Promise<string> {
  const file = join(cacheFolder(), `${['debian', SUITE, ...include].join('-')}.tar`);
  if (existsSync(file)) return file;
  const root = join(folder, 'debootstrap');
  const made = `${file}.${process.pid}`;
  mkdirSync(cacheFolder(), { recursive: true });
  try {
    const options = ['--variant=minbase', ...(include.length > 0 ? [`--include=${include.join(',')}`] : [])];
    await run('debootstrap', [...options, SUITE, root, mirror()], { limitMs: BUILD_LIMIT_MS, signal });
    for (const name of JUNK) rmSync(join(root, name), { recursive: true, force: true });
    // apt and dpkg expect the folders.
    for (const name of JUNK) mkdirSync(join(root, name, name.endsWith('lists') ? 'partial' : ''), { recursive: true });
    await run('tar', ['--numeric-owner', '--exclude=./dev/*', '-C', root, '-cf', made, '.'], { signal });
    // Renamed in one step: a check that runs beside this one finds a whole archive or none.
    renameSync(made, file);
  } finally {
    rmSync(made, { force: true });
    rmSync(root, { recursive: true, force: true });
  }
  return file;
}

/** The mirror that this machine's apt reads. */
function mirror(): string {
  const folder = '/etc/apt/sources.list.d';
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const sources = ['/etc/apt/sources.list', ...files]
    .filter((file) => existsSync(file) && /\.(?:list|sources)$/.test(file))
    .flatMap((file) => parseSources(readFileSync(file, 'utf8'), file.endsWith('.list') ? 'list' : 'sources'));
  const source = sources.find(({ suites }) => suites.includes(SUITE));
  hold(source !== undefined, `no source of ${SUITE} among the machine's apt sources, so no base image can be made`);
  return source.uri;
}

/** Mounted while a stage is built, so that apt and npm reach what they reach here; the image does not keep their text. */
async function machineSettings(folder: string): Promise<readonly string[]> {
  const npm = async (name: string): Promise<string> => (await run('npm', ['config', 'get', name])).stdout.trim();
  const named = await npm('cafile');
  const authorities = [named, CERTIFICATES].find((file) => existsSync(file));
  const settings = join(folder, 'npmrc');
  const lines = [`registry=${await npm('registry')}`, ...(authorities === undefined ? [] : [`cafile=${authorities}`])];
  writeFileSync(settings, `${lines.join('\n')}\n`);
  const mounts = new Map([
    ['/etc/apt/apt.conf.d', '/etc/apt/apt.conf.d'],
    [CERTIFICATES, CERTIFICATES],
    ...(authorities === undefined ? [] : [[authorities, authorities] as const]),
    ['/usr/local/etc/npmrc', settings],
    ['/root/.npmrc', await npm('userconfig')],
  ]);
  return [...mounts]
    .filter(([, source]) => existsSync(source))
    .flatMap(([target, source]) => ['--volume', `${source}:${target}:ro`]);
}
