import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, release, tmpdir, totalmem, type } from 'node:os';
import { basename, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Machine } from '../../judge/record.ts';
import type { FindingRecord } from './finding.ts';
import { systemPath } from './programs.ts';

/**
 * The machine in general words, without its name: `2 shared cores, 23 GiB, Linux 6.1, Redis 7.0.15`.
 * @param programs names or paths. A program that is missing or prints no version is left out.
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

/** The machine, the time and the commit, read before a measurement. */
export async function originOf(
  checkout: string,
  programs: readonly string[],
): Promise<Pick<FindingRecord, 'machine' | 'startedAt' | 'commit'>> {
  const startedAt = new Date().toISOString();
  const commit = commitOf(checkout);
  return { machine: await machineWords(programs), startedAt, commit };
}

/** The stored description of a run's machine, or one made from its cores, memory and system. */
export function machineText({ words, cores, memoryBytes, system, k6 }: Machine): string {
  return (
    words ?? `${cores} ${cores === 1 ? 'core' : 'cores'}, ${Math.floor(memoryBytes / 2 ** 30)} GiB, ${system}, k6 ${k6}`
  );
}

/** Files that can change the measured behaviour. Published pages, plots and records cannot. */
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

/** The memory of the machine, or the limit on this process if it is lower. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Whether /proc/stat counts stolen time: the host has run other machines on these processors. */
async function isShared(): Promise<boolean> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '');
  const [, stolen = '0'] = /^cpu +(?:\d+ +){7}(\d+)/.exec(stat) ?? [];
  return Number(stolen) > 0;
}

/** Names of programs, and the option that prints their version where it is not `--version`. */
const PROGRAMS: Readonly<Record<string, readonly [name: string, option?: string]>> = {
  nginx: ['nginx', '-v'],
  varnishd: ['Varnish', '-V'],
  searchd: ['Sphinx', '--help'],
  'redis-server': ['Redis'],
  'valkey-server': ['Valkey'],
};
/** Numbers with a point that are not addresses or times. */
const VERSION = /(?<![\d.:])(?!(?:\d+\.){3}\d)\d+\.\d\w*(?:\.\w+)*/;
const LIMIT_MS = 3000;

const run = promisify(execFile);

/** `Redis 7.0.15`; undefined when the program is missing or prints no version. @param program a name or a path. */
async function programWords(program: string): Promise<string | undefined> {
  // The Node that runs this file also runs the measurements, even if PATH has another one.
  if (program === 'node') return `Node ${process.versions.node}`;
  const [name, option = '--version'] = PROGRAMS[basename(program)] ?? [basename(program)];
  const [version] = VERSION.exec(await answerOf(program, option)) ?? [];
  return version && `${name} ${version.slice(0, 40)}`;
}

/** The output of a program with one option, on both streams, within three seconds; '' when it cannot be started. */
async function answerOf(program: string, option: string): Promise<string> {
  const path = program.includes('/') ? resolve(program) : program;
  const { stdout = '', stderr = '' } = await run(path, [option], {
    // A server that ignores the option and starts writes its files there.
    cwd: tmpdir(),
    env: { ...process.env, ...systemPath(), LC_ALL: 'C' },
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  }).catch((error: { readonly stdout?: string; readonly stderr?: string }) => error);
  return stdout + stderr;
}
