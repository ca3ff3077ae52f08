import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type SphinxSource, type SphinxSourceOptions, writeSphinxSource } from '../../src/engines/sphinx/source.ts';
import { freePorts, type RunningProcess, startProcess } from './process.ts';

const run = promisify(execFile);

export interface SearchdOptions {
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
  /** Let it outlive this process (the local stack). */
  readonly detached?: boolean;
}

export interface RunningSearchd {
  readonly host: string;
  readonly port: number;
  readonly configFile: string;
  readonly process: RunningProcess;
  /** What was written, when built from documents. */
  readonly source?: SphinxSource;
  /** Builds the indexes again from their sources and swaps them in; resolves when searchd serves the new ones. */
  readonly rotate: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * Writes what is missing, builds the indexes and starts searchd. Ours is not restarted when it dies: the watchdog of
 * searchd is off (`--nodetach`), as under any supervisor.
 * @throws with the program's own words when indexer or searchd is missing or refuses.
 */
export async function startSearchd(options: SearchdOptions): Promise<RunningSearchd> {
  const { directory, from } = options;
  await mkdir(directory, { recursive: true });
  const port = 'configFile' in from ? from.port : (options.port ?? (await freePorts(1))[0]);
  if (port === undefined) throw new Error('no free port');
  const source =
    'configFile' in from
      ? undefined
      : await writeSphinxSource({
          directory,
          domains: from.domains,
          searchd: { host: HOST, port, maxConnections: options.maxConnections ?? 64 },
        });
  const configFile = 'configFile' in from ? from.configFile : (source?.configFile ?? '');
  if (!options.built) await buildIndexes(configFile);

  const logFile = join(directory, 'searchd.log');
  const searchd = await startProcess({
    name: 'searchd',
    command: 'searchd',
    args: ['--config', configFile, '--nodetach'],
    cwd: directory,
    logFile: join(directory, 'searchd.out'),
    ready: () => greets(port),
    detached: options.detached ?? false,
  });

  const rotate = async (): Promise<void> => {
    const before = await rotations(logFile);
    await buildIndexes(configFile, ['--rotate']);
    const deadline = performance.now() + 60_000;
    while ((await rotations(logFile)) <= before) {
      if (performance.now() > deadline) throw new Error('searchd did not take the new indexes within a minute');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  return {
    host: HOST,
    port,
    configFile,
    process: searchd,
    ...(source === undefined ? {} : { source }),
    rotate,
    stop: () => searchd.stop(),
  };
}

/** The one command that builds every index of a configuration. */
export async function buildIndexes(configFile: string, args: readonly string[] = []): Promise<string> {
  try {
    const { stdout } = await run('indexer', ['--config', configFile, '--all', ...args], { maxBuffer: 4 * 2 ** 20 });
    return stdout;
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout).trim().split('\n').slice(-6) : [];
    throw new Error(`indexer failed: ${error instanceof Error ? error.message : error}\n${said.join('\n')}`);
  }
}

/** Whether searchd says hello: it listens a while before it does. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, timeout: 1000 });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('data', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}

async function rotations(logFile: string): Promise<number> {
  const log = await readFile(logFile, 'utf8').catch(() => '');
  return log.split('all indexes done').length;
}
