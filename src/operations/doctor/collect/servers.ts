import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { ServerFacts } from '../facts.ts';
import { fieldNumber } from '../window.ts';

const PROGRAMS: ReadonlySet<string> = new Set(['redis-server', 'valkey-server', 'keydb-server', 'searchd']);
const MAX_SERVERS = 64;
const MAX_CONFIGURATION_BYTES = 2 ** 20;
const MAX_INDEXES = 64;

/** Store and engine servers that run on this host, from /proc. Arguments are read and not kept: they may hold passwords. */
export async function serversAt(root: string, nowMs: number): Promise<readonly ServerFacts[]> {
  const names = await readdir(join(root, 'proc')).catch(() => []);
  const found: ServerFacts[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name) || found.length >= MAX_SERVERS) continue;
    const server = await serverOf(join(root, 'proc', name), Number(name), nowMs);
    if (server !== undefined) found.push(server);
  }
  return found;
}

async function serverOf(folder: string, pid: number, nowMs: number): Promise<ServerFacts | undefined> {
  const line = await textOf(join(folder, 'cmdline'));
  // Redis sets a title with spaces: `redis-server *:6379 [cluster]`.
  const words = line.split(/[\0 ]+/).filter((word) => word !== '');
  const program = basename(words[0] ?? '');
  // A Sentinel runs in the same program and keeps no entries.
  if (!PROGRAMS.has(program) || words.includes('[sentinel]')) return undefined;
  if (program === 'searchd') return { program, pid, ...(await searchdFacts(folder, words, nowMs)) };
  return { program, pid, port: fieldNumber(/:(\d+)$/.exec(words[1] ?? '')?.[1]) };
}

/** The configuration of a searchd, when it can be read: its port, max_children, and the age of each index. */
async function searchdFacts(folder: string, words: readonly string[], nowMs: number): Promise<Partial<ServerFacts>> {
  const at = words.findIndex((word) => word === '--config' || word === '-c');
  const named = at < 0 ? '/etc/sphinxsearch/sphinx.conf' : (words[at + 1] ?? '');
  const home = await readlink(join(folder, 'cwd')).catch(() => '/');
  const file = isAbsolute(named) ? named : join(home, named);
  const found = await stat(file).catch(() => undefined);
  // Anybody may give a program this name and any argument: a device has no end.
  if (found?.isFile() !== true || found.size > MAX_CONFIGURATION_BYTES) return {};
  const { port, children, paths } = searchdConfigurationOf(await textOf(file));
  const ages: Record<string, number> = {};
  for (const [index, path] of paths) {
    const header = `${isAbsolute(path) ? path : join(dirname(file), path)}.sph`;
    const modified = (await stat(header).catch(() => undefined))?.mtimeMs;
    if (modified !== undefined) ages[index] = Math.max(0, (nowMs - modified) / 1000);
  }
  return {
    port: fieldNumber(port),
    // 0: no limit.
    maxChildren: children === '0' ? undefined : fieldNumber(children),
    indexAgeSeconds: Object.keys(ages).length === 0 ? undefined : ages,
  };
}

/** Read line by line: a pattern over a whole file may take quadratic time. */
function searchdConfigurationOf(text: string) {
  let [port, children, index]: (string | undefined)[] = [];
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^[ \t]*(\w+)[ \t]*[= \t][ \t]*(\S+)/.exec(line) ?? [];
    if (name === 'listen') port ??= /(?:^|:)(\d+):mysql/.exec(value)?.[1];
    else if (name === 'max_children') children = /^\d+$/.exec(value)?.[0];
    else if (name === 'index' || name === 'table') index = /^\w+/.exec(value)?.[0];
    else if (name === 'path' && index !== undefined && paths.size < MAX_INDEXES) paths.set(index, value);
    if (/^[ \t]*\}/.test(line)) index = undefined;
  }
  return { port, children, paths };
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
