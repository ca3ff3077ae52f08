import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, hostname, release, tmpdir, totalmem, type } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Machine } from '../../judge/record.ts';
import type { FindingRecord } from './finding.ts';
import { plainText } from './text.ts';

/**
 * The machine of the measurement, in general words: `2 shared cores, 23 GiB, Linux 6.1, Redis 7.0.15`. Nothing names the
 * machine. @param programs names or paths; one that is missing or says no version is left out.
 */
export async function machineWords(programs: readonly string[]): Promise<string> {
  const cores = availableParallelism();
  const versions = await Promise.all(programs.map(programWords));
  const words = [
    `${cores}${(await isShared()) ? ' shared' : ''} ${cores === 1 ? 'core' : 'cores'}`,
    `${Math.max(1, Math.floor(memoryBytes() / 2 ** 30))} GiB`,
    `${type()} ${release().split('.').slice(0, 2).join('.')}`,
    ...versions.filter((version) => version !== undefined),
  ];
  return [...new Set(words)].join(', ');
}

/** Where and from which code figures are about to be measured. */
export async function originOf(
  checkout: string,
  programs: readonly string[],
): Promise<Pick<FindingRecord, 'machine' | 'startedAt' | 'commit'>> {
  const startedAt = new Date().toISOString();
  const commit = commitOf(checkout);
  return { machine: await machineWords(programs), startedAt, ...(commit !== undefined && { commit }) };
}

/** The words that a run was kept with, or what its record says of cores, memory and system. */
export function machineText({ words, cores, memoryBytes, system, k6 }: Machine): string {
  return (
    words ?? `${cores} ${cores === 1 ? 'core' : 'cores'}, ${Math.floor(memoryBytes / 2 ** 30)} GiB, ${system}, k6 ${k6}`
  );
}

/** Files that change what is measured. Published pages, plots and records change nothing. */
const CODE = /\.(?:ts|mjs|js|go|lua|yaml)$|(?:^|\/)package(?:-lock)?\.json$/;

/**
 * The commit of a checkout: `066071a`, or `066071a-dirty` when code in it differs from that commit. Undefined without
 * git, and for a folder that is not the root of its repository.
 */
export function commitOf(checkout: string): string | undefined {
  const git = (...words: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', ['-C', checkout, ...words], { encoding: 'utf8' });
    return status === 0 ? stdout : undefined;
  };
  const commit = git('rev-parse', '--short=7', 'HEAD')?.trim();
  const changed = git('status', '--porcelain', '--untracked-files=all');
  if (commit === undefined || changed === undefined || git('rev-parse', '--show-prefix')?.trim() !== '')
    return undefined;
  const isDirty = changed.split('\n').some((line) => CODE.test(line.replaceAll('"', '')));
  return isDirty ? `${commit}-dirty` : commit;
}

/** Without a limit on this process it is all that the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Whether the processors were ever taken away for other machines since the start: stolen time, where there is a count. */
async function isShared(): Promise<boolean> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '');
  const [, stolen = '0'] = /^cpu +(?:\d+ +){7}(\d+)/.exec(stat) ?? [];
  return Number(stolen) > 0;
}

/** How a program is asked, where it does not know `--version`. */
const ASKED: Readonly<Record<string, string>> = { nginx: '-v', varnishd: '-V', searchd: '--help' };
/** Names that differ from the programs' own output. */
const NAMES: Readonly<Record<string, string>> = { nginx: 'nginx', varnishd: 'Varnish', node: 'Node' };
/** Numbers with a point, but no addresses and no times. */
const VERSION = /(?<![\d.:])(?!(?:\d+\.){3}\d)\d+\.\d\w*(?:\.\w+)*/;
/** `Redis server v=7.0.15`, `git version 2.39.5`, `dragonfly v1.27.1` */
const BETWEEN = /(?:[\s:=,(/-]|\b(?:server|version|v)\b|(?<=\s)v)+$/i;
const [LIMIT_MS, MOST_CHARACTERS, LONGEST] = [3000, 4000, 40];
/** Where Debian keeps servers that only root starts. */
const FOLDERS = '/usr/local/sbin:/usr/sbin';

/** `Redis 7.0.15`; undefined: missing, or it does not say. @param program a name, or the path of any program. */
export async function programWords(program: string): Promise<string | undefined> {
  // This Node runs all parts, even if PATH has another one.
  if (program === 'node') return `Node ${process.versions.node}`;
  const said = await answerOf(program, ASKED[basename(program)] ?? '--version');
  return versionWords(program, said);
}

/** The first line with a version in it, shortened; no path, no address and no name of a machine is in it. */
export function versionWords(program: string, said: string): string | undefined {
  const line =
    said
      .split('\n')
      .map(plainText)
      .find((one) => VERSION.test(one)) ?? '';
  const [version] = VERSION.exec(line) ?? [];
  if (version === undefined) return undefined;
  const before = line.slice(0, line.indexOf(version)).replace(BETWEEN, '');
  const isName = /^[a-z][\w+ -]*$/i.test(before) && !before.includes(hostname());
  const words = NAMES[basename(program)] ?? (isName ? before : basename(program));
  return `${words.slice(0, LONGEST)} ${version.slice(0, LONGEST)}`;
}

/** Whatever it says to one option within three seconds, on either stream, however it ends; '' when there is none. */
function answerOf(program: string, option: string): Promise<string> {
  return new Promise((answer) => {
    const path = program.includes('/') ? resolve(program) : program;
    let said = '';
    const child = spawn(path, [option], {
      // One that takes no notice of the option and starts leaves its files there.
      cwd: tmpdir(),
      env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${FOLDERS}`, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(0, MOST_CHARACTERS);
      });
    }
    child.once('error', () => answer(''));
    child.once('close', () => answer(said));
  });
}
