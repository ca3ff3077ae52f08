import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import {
  licencesPage,
  productionPackages,
  publishedManifest,
  readLockfile,
  readManifest,
  shrinkwrap,
} from './dependencies.ts';

const start = promisify(execFile);

/** Debian's npm 9 has no `npm sbom`, so npm fetches this one. */
const NPM = 'npm@11.21.2';
const LIMIT_MS = 5 * 60_000;
const SHRINKWRAP = 'npm-shrinkwrap.json';
/** Configurations that texts of the programs name. */
const DEPLOYED = [
  'manticore',
  'nginx',
  'prometheus',
  'redis',
  'runbook',
  'sphinx',
  'systemd',
  'production.example.yaml',
  'serpcache.schema.json',
];
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;
/** Files of `src` that only a clone needs: installed packages, guides, settings of the type check. */
const CLONE_ONLY = /^(?:node\/node_modules$|node\/node_modules\/.*|.*\.md$|.*tsconfig\.json$|.*\.d\.mts$)/;
/** Texts name the commands of a clone. In an installed package the same programs have names of their own. */
const COMMANDS: readonly (readonly [inClone: RegExp, installed: string])[] = [
  [/npm run serpcache --/g, 'serpcache'],
  [/npm start --/g, 'serpcache-server'],
  [/npm start/g, 'serpcache start'],
];

/** The module of each program. */
const PROGRAMS: Readonly<Record<string, string>> = { serpcache: 'cli.js', 'serpcache-server': 'main.js' };

export interface BuildOptions {
  readonly root: string;
  /** It gets `serpcache/`, the package as a folder, and `serpcache-VERSION.tgz`. */
  readonly out: string;
}

export interface BuiltPackage {
  readonly tarball: string;
  readonly folder: string;
  readonly bytes: number;
  /** Relative to the folder. */
  readonly files: readonly string[];
}

/**
 * The package for npm. Node does not strip types below node_modules, so JavaScript is made here, with source maps that
 * hold the TypeScript; everything else in `src` is copied. Its dependencies are those of the lockfile.
 * @throws with the last words of the program that failed.
 */
export async function buildPackage({ root, out }: BuildOptions): Promise<BuiltPackage> {
  const [manifest, lockfile] = [readManifest(root), readLockfile(root)];
  // npm names the SBOM after the folder.
  const folder = join(out, manifest.name);
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, SHRINKWRAP))) {
    throw new Error(`${folder} is there and is no earlier package: name another folder`);
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await compile(root, join(folder, 'dist'));
  for (const [name, file] of Object.entries(publishedManifest(manifest).bin)) {
    const program = join(folder, file);
    mkdirSync(dirname(program), { recursive: true });
    const call = `import { launch } from '../bootstrap.mjs';\nlaunch('${PROGRAMS[name]}');\n`;
    writeFileSync(program, `#!/usr/bin/env node\n${call}`, { mode: 0o755 });
  }
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'CHANGELOG.md'), withoutLinks(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')));
  for (const name of DEPLOYED) cpSync(join(root, 'deploy', name), join(folder, 'deploy', name), { recursive: true });
  cpSync(join(root, 'deploy', 'release', 'package-readme.md'), join(folder, 'README.md'));
  writeJson(join(folder, 'package.json'), publishedManifest(manifest));
  writeJson(join(folder, SHRINKWRAP), shrinkwrap(lockfile, manifest));
  writeFileSync(join(folder, 'licences.md'), withoutLinks(licencesPage(productionPackages(lockfile))));
  const sbom = ['sbom', '--package-lock-only', '--sbom-type=application', '--sbom-format=cyclonedx'];
  writeFileSync(join(folder, 'sbom.cdx.json'), await run('npm', ['exec', '--yes', NPM, '--', ...sbom], folder));
  const packed: readonly { filename: string; size: number; files: readonly { path: string }[] }[] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', out], folder),
  );
  const [{ filename, size, files } = { filename: '', size: 0, files: [] }] = packed;
  return { tarball: join(out, basename(filename)), folder, bytes: size, files: files.map(({ path }) => path) };
}

/** A copy of `src` with the names of the installed commands is compiled, so that source maps fit what they show. */
async function compile(root: string, dist: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'serpcache-package-'));
  try {
    const source = join(root, 'src');
    cpSync(source, join(copy, 'src'), { recursive: true, filter: (file) => !CLONE_ONLY.test(relative(source, file)) });
    // The nearest package.json says that these are modules.
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    for (const entry of readdirSync(join(copy, 'src'), { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile() && /\.(?:ts|mjs)$/.test(entry.name))
        writeFileSync(file, installedCommands(readFileSync(file, 'utf8')));
    }
    writeJson(join(copy, 'tsconfig.json'), {
      compilerOptions: {
        target: 'esnext',
        module: 'nodenext',
        verbatimModuleSyntax: true,
        types: [],
        skipLibCheck: true,
        // `npm run types` checks them; here there are no libraries to check against.
        noCheck: true,
        rewriteRelativeImportExtensions: true,
        sourceMap: true,
        inlineSources: true,
        removeComments: true,
        // Beside each other, so that a stack trace names `src/cli.ts` of the package.

        rootDir: 'src',
        outDir: 'dist',
      },
      include: ['src'],
    });
    await run(join(root, 'node_modules', '.bin', 'tsc'), ['--project', copy], copy);
    cpSync(join(copy, 'dist'), dist, { recursive: true });
    cpSync(join(copy, 'src'), dist, { recursive: true, filter: (file) => !file.endsWith('.ts') });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Links lead to files of the project that the package does not have. Their words stay. */
function withoutLinks(page: string): string {
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
}

export function installedCommands(text: string): string {
  return COMMANDS.reduce((changed, [inClone, installed]) => changed.replaceAll(inClone, installed), text);
}

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    const options = { cwd, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    return (await start(command, [...args], options)).stdout;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    const last = said.split('\n').slice(-5).join('\n');
    throw new Error(
      `${command} ${args.slice(0, 4).join(' ')}: ${last || (error instanceof Error ? error.message : error)}`,
    );
  }
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
