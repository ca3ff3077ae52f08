import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { ServerFacts } from '../facts.ts';

const PROGRAMS: ReadonlySet<string> = new Set(['redis-server', 'valkey-server', 'keydb-server', 'searchd']);
const MAX_SERVERS = 64;
const MAX_CONFIGURATION_BYTES = 2 ** 20;

/** Store and engine servers that run on this host, from /proc. Arguments are read and not kept: they may hold passwords. */
export async function serversAt(root: string): Promise<readonly ServerFacts[]> {
  const names = await readdir(join(root, 'proc')).catch(() => []);
  const found: ServerFacts[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name) || found.length >= MAX_SERVERS) continue;
    const server = await serverOf(join(root, 'proc', name), Number(name));
    if (server !== undefined) found.push(server);
  }
  return found;
}

async function serverOf(folder: string, pid: number): Promise<ServerFacts | undefined> {
  const line = await textOf(join(folder, 'cmdline'));
  // Redis sets a title with spaces: `redis-server *:6379 [cluster]`.
  const words = line.split(/[\0 ]+/).filter((word) => word !== '');
  const program = basename(words[0] ?? '');
  if (!PROGRAMS.has(program)) return undefined;
  const [descriptors, limits] = await Promise.all([
    readdir(join(folder, 'fd')).catch(() => undefined),
    textOf(join(folder, 'limits')),
  ]);
  const maxOpenFiles = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
  const pages = /^AnonHugePages: +(\d+) kB/m.exec(await textOf(join(folder, 'smaps_rollup')))?.[1];
  const base = {
    ...{ program, pid },
    ...(descriptors === undefined ? {} : { openFiles: descriptors.length }),
    ...(Number.isFinite(maxOpenFiles) ? { maxOpenFiles } : {}),
    ...(pages === undefined ? {} : { transparentHugePageBytes: Number(pages) * 1024 }),
  };
  if (program === 'searchd') return { ...base, ...(await searchdFacts(folder, words)) };
  const port = Number(/:(\d+)$/.exec(words[1] ?? '')?.[1]);
  return Number.isFinite(port) ? { ...base, port } : base;
}

/** The configuration of a searchd, when it can be read: its port, max_children, and the age of each index. */
async function searchdFacts(folder: string, words: readonly string[]): Promise<Partial<ServerFacts>> {
  const at = words.findIndex((word) => word === '--config' || word === '-c');
  const named = at < 0 ? '/etc/sphinxsearch/sphinx.conf' : (words[at + 1] ?? '');
  const home = await readlink(join(folder, 'cwd')).catch(() => '/');
  const file = isAbsolute(named) ? named : join(home, named);
  const size = (await stat(file).catch(() => undefined))?.size ?? Number.POSITIVE_INFINITY;
  if (size > MAX_CONFIGURATION_BYTES) return {};
  const text = await textOf(file);
  const port = /^\s*listen\s*=.*?:(\d+):mysql41/m.exec(text)?.[1];
  const children = /^\s*max_children\s*=\s*(\d+)/m.exec(text)?.[1];
  const ages: Record<string, number> = {};
  for (const [, index = '', body = ''] of text.matchAll(/^\s*index\s+(\w+)[^{]*\{([^}]*)\}/gm)) {
    const path = /^\s*path\s*=\s*(\S+)/m.exec(body)?.[1];
    if (path === undefined) continue;
    const header = `${isAbsolute(path) ? path : join(dirname(file), path)}.sph`;
    const modified = (await stat(header).catch(() => undefined))?.mtimeMs;
    if (modified !== undefined) ages[index] = Math.max(0, (Date.now() - modified) / 1000);
  }
  return {
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(children === undefined || children === '0' ? {} : { maxChildren: Number(children) }),
    ...(Object.keys(ages).length === 0 ? {} : { indexAgeSeconds: ages }),
  };
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
