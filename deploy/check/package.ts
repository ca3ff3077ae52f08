import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { type BuiltPackage, buildPackage } from '../release/build.ts';
import { productionPackages, publishedManifest, readManifest } from '../release/dependencies.ts';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { checkSbom, packageText } from './sbom.ts';
import { ROOT, run } from './tools.ts';

const HOST = '127.0.0.1';
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 10_000;
const ANSWER_LIMIT_MS = 10_000;
/** Beside `dist`, the package holds these. */
const FILES = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'licences.md',
  'npm-shrinkwrap.json',
  'package.json',
  'sbom.cdx.json',
];
const IN_FOLDERS =
  /^(?:dist\/.*\.(?:js|js\.map|mjs|css|svg|json|yaml|zst)|deploy\/.*\.(?:conf|acl|service|yaml|md|json))$/;
const MAX_BYTES = 6 * 2 ** 20;
/** Commands of a clone which an installed package does not have. */
const CLONE_COMMAND = /npm run serpcache|npm start/;

export const CHECKERS: readonly Checker[] = [
  {
    name: 'package',
    about:
      'npm pack, an installation elsewhere, and its programs: help, the service with a catalogue and with the demo, its end.',
    run: checkPackage,
  },
];

async function checkPackage({ folder, say, signal }: CheckRun): Promise<string> {
  say('build');
  const built = await buildPackage({ root: ROOT, out: join(folder, 'package') });
  checkFiles(built);
  const home = join(folder, 'installed');
  say('installation');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, built.tarball], { signal });
  const packages = await checkDependencies(built, signal);
  await checkStackTrace(home, signal);
  signal.throwIfAborted();
  say('its programs');
  const commands = await checkCommands(home, signal);
  const found = await checkServices(home);
  const size = `${built.files.length} files, ${Math.ceil(built.bytes / 1024)} KiB`;
  return `${size}; ${packages} packages as in the lockfile and the SBOM; ${commands} commands; the service found ${found}, and ended with 0`;
}

function checkFiles({ files, folder, bytes }: BuiltPackage): void {
  const [other] = files.filter((file) => !FILES.includes(file) && !IN_FOLDERS.test(file));
  hold(other === undefined, `the package holds ${other}`);
  for (const file of FILES) hold(files.includes(file), `the package has no ${file}`);
  hold(bytes <= MAX_BYTES, `the package has ${bytes} bytes; at most ${MAX_BYTES}, which people fetch for a first look`);
  for (const program of Object.values(publishedManifest(readManifest(ROOT)).bin)) {
    const text = readFileSync(join(folder, program), 'utf8');
    hold(text.startsWith('#!/usr/bin/env node\n'), `${program} begins with ${text.slice(0, 40)}`);
  }
  for (const file of files.filter((each) => /\.m?js$/.test(each))) {
    const line = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .find((text) => CLONE_COMMAND.test(text));
    hold(line === undefined, `${file} names a command of a clone: ${line?.trim()}`);
  }
}

/** In the unpacked package, `npm ci` installs the versions of the lockfile, and the SBOM lists the same. @returns how many. */
async function checkDependencies({ folder }: BuiltPackage, signal: AbortSignal): Promise<number> {
  await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder, signal });
  // npm records there which packages it has put beside it.
  const installed = new Set(
    productionPackages(JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'))).map(
      packageText,
    ),
  );
  return checkSbom(join(folder, 'sbom.cdx.json'), installed);
}

/** A fault is told with the file and the line of the TypeScript. */
async function checkStackTrace(home: string, signal: AbortSignal): Promise<void> {
  const module = pathToFileURL(join(home, 'node_modules', 'serpcache', 'dist', 'schema', 'units.js')).href;
  const script = join(home, 'fault.mjs');
  writeFileSync(script, `const { parseDuration } = await import('${module}');\nparseDuration(Symbol('no text'));\n`);
  const { stderr } = await run(process.execPath, ['--enable-source-maps', script], { signal, allowed: [1] });
  const line = Number(/src\/schema\/units\.ts:(\d+):\d+\)/.exec(stderr)?.[1]);
  const shown = readFileSync(join(ROOT, 'src', 'schema', 'units.ts'), 'utf8').split('\n')[line - 1] ?? '';
  hold(
    shown.includes('.test(text)'),
    `a stack trace does not lead to the line of the TypeScript: ${stderr.slice(0, 500)}`,
  );
}

/** @returns the number of calls. */
async function checkCommands(home: string, signal: AbortSignal): Promise<number> {
  const catalogue = join(home, 'shop.csv');
  writeFileSync(catalogue, 'id,title,price\n1,red shoes,10\n2,blue shoes,20\n');
  const { version } = readManifest(ROOT);
  const calls: readonly (readonly [program: string, args: readonly string[], says: RegExp])[] = [
    ['serpcache', ['--version'], new RegExp(`^serpcache ${version.replaceAll('.', '\\.')}$`, 'm')],
    ['serpcache', ['--help'], /^ {2}serpcache flush/m],
    ['serpcache', ['config', 'reference'], /maxConcurrent/],
    ['serpcache', ['config', 'schema'], /json-schema/],
    ['serpcache', ['init', 'shop', '--catalogue', catalogue], /serpcache\.yaml/],
    ['serpcache', ['config', 'check'], /domains: shop/],
    ['serpcache-server', ['--help'], /^usage: serpcache-server/m],
  ];
  for (const [program, args, says] of calls) {
    const { stdout } = await run(programOf(home, program), args, { cwd: home, signal });
    hold(says.test(stdout), `${program} ${args.join(' ')} does not say ${says}: ${stdout.slice(0, 300)}`);
    hold(!CLONE_COMMAND.test(stdout), `${program} ${args.join(' ')} names a command of a clone`);
  }
  return calls.length;
}

function programOf(home: string, name: string): string {
  return join(home, 'node_modules', '.bin', name);
}

interface Service {
  readonly program: 'serpcache' | 'serpcache-server';
  /** The folder in which it is started. */
  readonly cwd: string;
  /** Without a configuration it serves the demo. */
  readonly config?: string;
  /** One search, and how many documents it must find at least. */
  readonly search: { readonly q: string; readonly least: number };
}

/** The service with the catalogue of `init`, by its server, and the demo, by `serpcache` alone, through worker threads. @returns what both found. */
async function checkServices(home: string): Promise<string> {
  const config = join(home, 'serpcache.yaml');
  await run(programOf(home, 'serpcache'), ['index', 'shop', 'shop.csv'], { cwd: home, env: environment({ config }) });
  const own = await checkService(home, {
    program: 'serpcache-server',
    cwd: home,
    config,
    search: { q: 'shoes', least: 2 },
  });
  const cwd = join(home, 'demo');
  mkdirSync(cwd);
  const demo = await checkService(home, { program: 'serpcache', cwd, search: { q: 'shoes', least: 1 } });
  return `${own} of a catalogue, ${demo} of the demo`;
}

/** @returns how many documents its search found. */
async function checkService(home: string, { program, cwd, search, ...service }: Service): Promise<number> {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const [url, adminUrl] = [`http://${HOST}:${port}`, `http://${HOST}:${adminPort}`];
  const env = { ...environment(service), PORT: String(port), ADMIN_PORT: String(adminPort) };
  const server = await startProcess({
    name: program,
    command: programOf(home, program),
    args: [],
    cwd,
    env,
    logFile: join(cwd, 'server.log'),
    readyTimeoutMs: START_LIMIT_MS,
    ready: async () => (await fetch(`${url}/readyz`)).ok,
  });
  try {
    const answer = await get(`${url}/search?q=${search.q}`);
    const { total }: { readonly total: number } = JSON.parse(answer);
    hold(total >= search.least, `the service found ${total} documents, not ${search.least}: ${answer.slice(0, 200)}`);
    for (const [origin, page] of [
      [url, '/'],
      [adminUrl, '/ops'],
    ] as const) {
      for (const asset of assetsOf(page, await get(`${origin}${page}`))) await get(`${origin}${asset}`);
    }
    for (const page of [`${url}/docs`, `${adminUrl}/metrics`]) await get(page);
    // Its files are beside the code, and the service reads them.
    const { stdout } = await run(programOf(home, 'serpcache'), ['drill', 'plans'], { cwd, env });
    hold(stdout.includes('canary'), `serpcache drill plans: ${stdout.slice(0, 200)}`);
    server.signal('SIGTERM');
    await Promise.race([server.ended, new Promise((resolve) => setTimeout(resolve, STOP_LIMIT_MS).unref())]);
    const status = server.exitStatus();
    hold(status === 0, `SIGTERM: the service ended with ${status ?? `nothing after ${STOP_LIMIT_MS / 1000} s`}`);
    return total;
  } finally {
    await server.stop();
  }
}

function environment({ config }: Pick<Service, 'config'>): Readonly<Record<string, string>> {
  const path = { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` };
  return config === undefined ? path : { ...path, SERPCACHE_CONFIG: config };
}

async function get(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  const body = await answer.text();
  hold(answer.ok, `${url}: ${answer.status} ${body.slice(0, 200)}`);
  return body;
}

function assetsOf(page: string, html: string): readonly string[] {
  const assets = [...html.matchAll(/(?:src|href)="(\/(?:ops\/)?assets\/[^"]+)"/g)].map(([, path = '']) => path);
  hold(assets.length > 0, `${page} names no assets`);
  return assets;
}
