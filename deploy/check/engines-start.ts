import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts, type RunningProcess, startProcess, waitUntil } from '../../loadtest/stack/process.ts';
import { programOf, rotations, type SearchServer } from '../../loadtest/stack/sphinx.ts';
import { createSphinxEngine } from '../../src/engines/sphinx/engine.ts';
import { numericId, writeSphinxSource } from '../../src/engines/sphinx/source.ts';
import { systemClock } from '../../src/runtime.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import type { Engine } from '../../src/search/engine.ts';
import { hold } from './checker.ts';
import { ROOT, run } from './tools.ts';

/** An account without rights, as a server has one: `nobody`. */
const USER_ID = 65_534;
const HOST = '127.0.0.1';
const STOP_LIMIT_MS = 20_000;
const ROTATE_LIMIT_MS = 60_000;
/** Addresses and paths of the shipped files, which a check replaces. */
const SHIPPED_AGENT = /\b10\.0\.0\.\d+:9312\b/g;
const SHIPPED_FOLDER = '/var/lib/searchd';
const SHIPPED_LISTENER = '127.0.0.1:9306';

/** One searchd that runs as a user without rights, over files that only this user can read. */
export interface Searchd {
  readonly port: number;
  /** The adapter of serpcache over its index, which is closed with the server. */
  readonly engine: Engine;
  readonly start: () => Promise<void>;
  /** SIGKILL, as the kernel does it for want of memory. */
  readonly kill: () => Promise<void>;
  /** SIGSTOP and SIGCONT: its connections stay open, and it says nothing. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  /** Builds the indexes again while searchd serves them; resolves when it serves the new ones. */
  readonly rotate: () => Promise<void>;
  /** SIGTERM. @throws when it does not end by itself, and say so in its log. */
  readonly end: () => Promise<void>;
  /** Ends it however it can. */
  readonly stop: () => Promise<void>;
}

interface SearchdOptions {
  readonly directory: string;
  readonly port: number;
  readonly configFile: string;
  /** Not generated: it must start without a complaint. */
  readonly isShipped: boolean;
  readonly domain: SearchDomain;
  readonly server: SearchServer;
}

/** The fronts, and the parts with their mirrors. */
export interface Distributed {
  readonly fronts: readonly [Searchd, Searchd];
  readonly parts: readonly [readonly [Searchd, Searchd], readonly [Searchd, Searchd]];
  readonly all: readonly Searchd[];
}

interface DistributedOptions {
  readonly folder: string;
  readonly server: SearchServer;
  readonly domain: SearchDomain;
  readonly documents: readonly Document[];
  /** Takes each server before it starts, to end it. */
  readonly add: (searchd: Searchd) => void;
}

/**
 * Four nodes with two parts of the documents, and two fronts from the shipped file. Its addresses, paths and the command in
 * its comment are used as they stand; only their hosts, ports and folder are replaced.
 */
export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const { folder, server, domain, documents, add } = options;
  const shippedName = join('deploy', server.dialect, 'distributed.conf');
  const shipped = readFileSync(join(ROOT, shippedName), 'utf8');
  const addresses = [...new Set(agentsIn(shipped))];
  hold(addresses.length === 4, `${shippedName}: two parts with two machines each are expected in the lines “agent”`);
  const nodeCommand = /^#\s+(sed -i .+)$/m.exec(shipped)?.[1];
  hold(nodeCommand !== undefined, `${shippedName}: the command that gives a node its second address is missing`);
  // The account of the servers passes through it to folders of its own.
  chmodSync(folder, 0o711);
  const ports = await freePorts(2 * addresses.length + 2);
  const agentOf = new Map(addresses.map((address, at) => [address, `${HOST}:${ports[2 * at + 1]}`]));
  const localized = (text: string, directory: string): string =>
    text
      .replaceAll(SHIPPED_AGENT, (address) => agentOf.get(address) ?? address)
      .replaceAll(SHIPPED_FOLDER, directory)
      .replaceAll(SHIPPED_LISTENER, `${HOST}:${ports.at(directory.endsWith('front-1') ? -2 : -1)}`);

  const nodes: Searchd[] = [];
  for (const [at, address] of addresses.entries()) {
    const directory = join(folder, `node-${at + 1}`);
    const port = ports[2 * at] ?? 0;
    const own = documents.filter(({ id }) => numericId(id) % 2n === BigInt(at >> 1));
    const { configFile } = await writeSphinxSource({
      directory,
      domains: [{ domain, index: 'goods', documents: own }],
      searchd: { dialect: server.dialect, host: HOST, port, maxConnections: 64 },
    });
    // The comment names the first address; each node has its own.
    const command = nodeCommand.replace(SHIPPED_AGENT, address);
    await run('sh', ['-c', localized(command, directory)]);
    ownedByServer(directory);
    await asServer(programOf('indexer', server), ['--config', configFile, '--all']);
    const node = createSearchd({ directory, port, configFile, isShipped: false, domain, server });
    add(node);
    nodes.push(node);
  }
  const fronts = ['front-1', 'front-2'].map((name, at) => {
    const directory = join(folder, name);
    mkdirSync(directory);
    const configFile = join(directory, 'sphinx.conf');
    writeFileSync(configFile, localized(shipped, directory));
    ownedByServer(directory);
    const front = createSearchd({
      directory,
      port: ports.at(at - 2) ?? 0,
      configFile,
      isShipped: true,
      domain,
      server,
    });
    add(front);
    return front;
  });
  const all = [...nodes, ...fronts];
  for (const searchd of all) await searchd.start();
  const [first, firstMirror, second, secondMirror] = nodes;
  const [front, otherFront] = fronts;
  hold(first !== undefined && firstMirror !== undefined, 'a part has two machines');
  hold(second !== undefined && secondMirror !== undefined, 'a part has two machines');
  hold(front !== undefined && otherFront !== undefined, 'there are two fronts');
  return {
    fronts: [front, otherFront],
    parts: [
      [first, firstMirror],
      [second, secondMirror],
    ],
    all,
  };
}

/** The first line in which searchd complains of its configuration when it starts. */
export function complaintIn(output: string): string | undefined {
  return output.split('\n').find((line) => /WARNING|ERROR|FATAL|deprecated|unknown key/i.test(line));
}

/** The addresses in the lines `agent` of a configuration, in their order. */
export function agentsIn(configuration: string): readonly string[] {
  return [...configuration.matchAll(/^\s*agent\s*=\s*(.+)$/gm)].flatMap(([, line = '']) =>
    line.split('|').map((part) => part.split(':').slice(0, 2).join(':')),
  );
}

function createSearchd({ directory, port, configFile, isShipped, domain, server }: SearchdOptions): Searchd {
  const log = join(directory, 'searchd.log');
  const engine = createSphinxEngine({
    host: HOST,
    port,
    index: 'goods',
    domain,
    dialect: server.dialect,
    ranker: 'proximity_bm25',
    idAttribute: 'doc_id',
    maxMatches: 1000,
    snippetLength: 240,
    connectTimeoutMs: 2000,
    hardDeadlineMs: 3000,
    maxConnections: 4,
    clock: systemClock,
    random: Math.random,
  });
  let running: RunningProcess | undefined;
  const start = async (): Promise<void> => {
    running = await startProcess({
      name: `searchd ${directory}`,
      command: 'setpriv',
      args: [...PRIVILEGES, programOf('searchd', server), '--config', configFile, '--nodetach'],
      cwd: directory,
      logFile: join(directory, 'searchd.out'),
      ready: () => engine.probe(AbortSignal.timeout(1000)).then(() => true),
    });
    // Nodes are generated for both kinds of server, and Manticore warns of settings that only Sphinx knows.
    const complaint = isShipped ? complaintIn(readFileSync(join(directory, 'searchd.out'), 'utf8')) : undefined;
    hold(complaint === undefined, `searchd complains of deploy/${server.dialect}/distributed.conf: ${complaint}`);
  };
  const kill = async (): Promise<void> => {
    running?.signal('SIGKILL');
    await running?.ended;
  };
  const pause = async (): Promise<void> => running?.pause();
  const resume = (): void => running?.signal('SIGCONT');
  const rotate = async (): Promise<void> => {
    const before = await rotations(log);
    await asServer(programOf('indexer', server), ['--config', configFile, '--all', '--rotate']);
    const isDone = await waitUntil(async () => (await rotations(log)) > before, ROTATE_LIMIT_MS);
    hold(isDone, `${log}: searchd did not take the new indexes within ${ROTATE_LIMIT_MS / 1000} s`);
  };
  const end = async (): Promise<void> => {
    const wasKilled = Symbol('late');
    running?.signal('SIGTERM');
    const late = new Promise<symbol>((resolve) => setTimeout(resolve, STOP_LIMIT_MS, wasKilled).unref());
    const how = await Promise.race([running?.ended, late]);
    hold(how !== wasKilled, `searchd did not end within ${STOP_LIMIT_MS / 1000} s of SIGTERM`);
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-3).join('\n');
    hold(/shutdown complete|shutdown daemon/.test(lines), `searchd tells of no shutdown after SIGTERM:\n${lines}`);
  };
  const stop = async (): Promise<void> => {
    await engine.close();
    await running?.stop();
  };
  return { port, engine, start, kill, pause, resume, rotate, end, stop };
}

const PRIVILEGES = [`--reuid=${USER_ID}`, `--regid=${USER_ID}`, '--clear-groups', '--no-new-privs'];

async function asServer(program: string, args: readonly string[]): Promise<void> {
  await run('setpriv', [...PRIVILEGES, program, ...args]);
}

/** The rights that deploy/sphinx/README.md asks for. */
function ownedByServer(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(directory, name), USER_ID, USER_ID);
  }
  chownSync(directory, USER_ID, USER_ID);
  chmodSync(directory, 0o700);
}
