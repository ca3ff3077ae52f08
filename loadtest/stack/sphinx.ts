import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import { type SphinxSourceOptions, writeSphinxSource } from '../../src/engines/sphinx/source.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { freePort, startProcess, waitUntil } from './process.ts';

const run = promisify(execFile);

/** The programs `searchd` and `indexer`: those of Sphinx are in PATH, those of Manticore in a folder of their own. */
export type SearchServer = { readonly dialect: 'sphinx' } | { readonly dialect: 'manticore'; readonly folder: string };

export const SPHINX: SearchServer = { dialect: 'sphinx' };

/** How to make Manticore available to the tests. */
export const MANTICORE_NEEDS = 'set SERPCACHE_MANTICORE to a folder with searchd and indexer of Manticore Search';

/** Beside the clone: unpacks Manticore, if that is not done yet, and prints the folder. */
const UNPACKER = join(import.meta.dirname, '..', '..', '..', 'shared', 'tools', 'manticore');
const UNPACKER_LIMIT_MS = 120_000;

/**
 * The folder that SERPCACHE_MANTICORE names, or the one that the unpacker beside the clone prints. Undefined where there is
 * neither, or where the variable is empty. @throws when the folder or the unpacker is of no use
 */
export function manticoreFolder(): string | undefined {
  const named = process.env['SERPCACHE_MANTICORE'];
  if (named === '' || (named === undefined && !existsSync(UNPACKER))) return undefined;
  const folder = named === undefined ? unpacked() : resolve(named);
  const missing = ['searchd', 'indexer'].filter((program) => !existsSync(join(folder, program)));
  if (missing.length > 0) throw new Error(`${folder} has no ${missing.join(' and no ')}: ${MANTICORE_NEEDS}`);
  return folder;
}

function unpacked(): string {
  const { status, stdout, stderr, error } = spawnSync(UNPACKER, { encoding: 'utf8', timeout: UNPACKER_LIMIT_MS });
  if (status === 0) return stdout.trim();
  const why = error?.message ?? stderr.trim().split('\n').at(-1);
  throw new Error(`${UNPACKER} failed: ${why}; an empty SERPCACHE_MANTICORE does without Manticore`);
}

/** The program's name, or its path. */
export function programOf(name: 'searchd' | 'indexer', server: SearchServer): string {
  return server.dialect === 'manticore' ? join(server.folder, name) : name;
}

interface SearchdOptions {
  /** Holds the configuration, the indexes and the logs. */
  readonly directory: string;
  /** Built from documents, or by a configuration that exists. */
  readonly from:
    | { readonly domains: SphinxSourceOptions['domains'] }
    | { readonly configFile: string; readonly port: number };
  /** A free one when absent. */
  readonly port?: number;
  readonly maxConnections?: number;
  /** Its indexes are there already. */
  readonly built?: boolean;
  /** Sphinx when absent. */
  readonly server?: SearchServer;
  /** Let it outlive this process (the local stack). */
  readonly detached?: boolean;
}

export type RunningSearchd = Awaited<ReturnType<typeof startSearchd>>;

const HOST = '127.0.0.1';

/**
 * Writes what is missing, builds the indexes and starts searchd. Ours is not restarted when it dies: the watchdog of
 * searchd is off (`--nodetach`), as under any supervisor.
 * @throws with the program's own words when indexer or searchd is missing or refuses.
 */
export async function startSearchd(options: SearchdOptions) {
  const { directory, from, server = SPHINX } = options;
  await mkdir(directory, { recursive: true });
  const port = 'configFile' in from ? from.port : (options.port ?? (await freePort()));
  const source =
    'configFile' in from
      ? undefined
      : await writeSphinxSource({
          directory,
          domains: from.domains,
          searchd: { dialect: server.dialect, host: HOST, port, maxConnections: options.maxConnections ?? 64 },
        });
  const configFile = 'configFile' in from ? from.configFile : (source?.configFile ?? '');
  if (!options.built) await buildIndexes(configFile, { server });

  const logFile = join(directory, 'searchd.log');
  const searchd = await startProcess({
    name: 'searchd',
    command: programOf('searchd', server),
    args: ['--config', configFile, '--nodetach'],
    cwd: directory,
    logFile: join(directory, 'searchd.out'),
    ready: () => greets(port),
    detached: options.detached,
  });

  /** Builds the indexes again from their sources and swaps them in; resolves when searchd serves the new ones. */
  const rotate = async (): Promise<void> => {
    const before = await rotations(logFile);
    await buildIndexes(configFile, { server, args: ['--rotate'] });
    if (await waitUntil(async () => (await rotations(logFile)) > before, 60_000)) return;
    throw new Error('searchd did not take the new indexes within a minute');
  };

  return {
    host: HOST,
    port,
    configFile,
    process: searchd,
    source,
    rotate,
    stop: () => searchd.stop(),
  };
}

export function sampleGoods(count: number): { readonly domain: SearchDomain; readonly documents: readonly Document[] } {
  const domain = DEMO_DOMAINS.find(({ name }) => name === 'goods');
  if (domain === undefined) throw new Error('the demo has no goods');
  return { domain: { ...domain, answerProfile: '' }, documents: [...demoDocuments('goods').take(count)] };
}

/** The one command that builds every index of a configuration. */
export async function buildIndexes(
  configFile: string,
  { server = SPHINX, args = [] }: { readonly server?: SearchServer; readonly args?: readonly string[] } = {},
): Promise<string> {
  try {
    const words = ['--config', configFile, '--all', ...args];
    const { stdout } = await run(programOf('indexer', server), words, { maxBuffer: 4 * 2 ** 20 });
    return stdout;
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout).trim().split('\n').slice(-6) : [];
    throw new Error(`indexer failed: ${error instanceof Error ? error.message : error}\n${said.join('\n')}`);
  }
}

/** Whether searchd sends its greeting. It listens some time before it can. */
async function greets(port: number): Promise<boolean> {
  const socket = connect({ port, host: HOST });
  const greeted = once(socket, 'data', { signal: AbortSignal.timeout(1000) });
  const isGreeted = await greeted.then(Boolean, () => false);
  socket.destroy();
  return isGreeted;
}

/** Count of index rotations in the log of a searchd. */
export async function rotations(logFile: string): Promise<number> {
  const log = await readFile(logFile, 'utf8').catch(() => '');
  // Manticore calls an index a table.
  return log.split(/rotating (?:index: all indexes|table: all tables) done/).length - 1;
}
