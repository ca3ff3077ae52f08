import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, release, totalmem, type } from 'node:os';
import type { Machine } from '../../judge/record.ts';
import type { FindingRecord } from './finding.ts';
import { programWords } from './program-words.ts';

/**
 * What figures were measured on, in general words: `2 shared cores, 23 GiB, Linux 6.1, Redis 7.0.15`. Nothing names the
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
