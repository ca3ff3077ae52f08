import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verdictOf } from '../kit/claims.ts';
import type { Finding } from '../kit/finding.ts';
import type { Experiment, Lab } from '../kit/lab.ts';
import { runProgram } from '../kit/programs.ts';
import { type Backend, startBackend } from './backend.ts';
import type { Outcome } from './compare.ts';
import { measureLosing } from './losing.ts';
import { nginxCache, nginxLua } from './nginx.ts';
import { asyncCacheDedupe, asyncCacheDedupeMemory, bareNode, bentocache } from './node-peers.ts';
import { LONG, type Peer, SHORT, SIZES, type Sizes, type Try } from './peer.ts';
import { pagesOf } from './replicas.ts';
import { serpcacheL1, serpcacheL2 } from './serpcache.ts';
import { measureServing } from './serving.ts';
import { chartsOf, claimsOf, notesOf, PUBLISHED_WORDS, tablesOf } from './tables.ts';
import { varnish } from './varnish.ts';

interface PeersOptions {
  readonly peers?: readonly Peer[];
  readonly sizes?: Partial<Sizes>;
  /** Installs the parts of a peer. @throws when that fails. */
  readonly install?: (lab: Lab, peer: Peer) => Promise<unknown>;
  readonly startBackend?: typeof startBackend;
}

export const ROW_SECONDS = 2;
export const PARTS = ['redis', 'sphinx', 'wrk'];
/** No further step begins after it. The command is killed after twelve minutes, and a failing step can take a minute. */
const MOST_SECONDS = 600;
const INSTALL = join(import.meta.dirname, '..', '..', 'stack', 'install.ts');
const INSTALL_LIMIT_MS = 300_000;

/** Measures all peers. Each is a row in every table, also when it could not be started or measured. */
export async function runPeers(lab: Lab, options: PeersOptions = {}): Promise<Omit<Finding, 'name'>> {
  const { peers: all = PEERS, install = installParts, startBackend: start = startBackend } = options;
  const sizes = { ...SIZES, ...options.sizes };
  const seconds = lab.seconds(ROW_SECONDS);
  const untilMs = performance.now() + MOST_SECONDS * 1000;
  const problems = new Map<Peer, string[]>(all.map((peer) => [peer, []]));
  const attempt: Try = async (peer, what, work) => {
    lab.signal.throwIfAborted();
    try {
      // The finished measurements are kept.
      if (performance.now() > untilMs) throw new Error('no time was left on this machine');
      return await work();
    } catch (error) {
      lab.signal.throwIfAborted();
      const problem = `${what}: ${error instanceof Error ? error.message : error}`;
      lab.say(`${peer.name}: ${problem}`);
      problems.get(peer)?.push(problem);
      return undefined;
    }
  };

  const backendOf = async (name: string, ttlSeconds: number): Promise<Backend> => {
    const folder = join(lab.folder, name);
    await mkdir(folder, { recursive: true });
    const backend = await start(folder, { ttlSeconds, cores: lab.cores.generator });
    lab.atEnd(backend.stop);
    return backend;
  };
  lab.say('an engine, its origin, and pages of about 4 KB');
  const backends = {
    long: await backendOf('backend', LONG.ttlSeconds),
    short: await backendOf('short', SHORT.ttlSeconds),
  };
  const paths = await pagesOf(backends.long, sizes.pages + sizes.memoryPages);

  const able: Peer[] = [];
  for (const peer of all) {
    const ready = await attempt(peer, 'it cannot be installed', async () => {
      await install(lab, peer);
      return true;
    });
    if (ready) able.push(peer);
  }
  const served = await measureServing({ lab, backend: backends.long, peers: able, paths, sizes, seconds, attempt });
  const outcomes: Outcome[] = [];
  for (const peer of all) {
    const lost = able.includes(peer) && (await measureLosing({ lab, backends, paths, sizes, seconds, attempt }, peer));
    outcomes.push({ peer, ...served.get(peer), ...lost, problems: problems.get(peer) ?? [] });
  }
  const claims = claimsOf(outcomes);
  return {
    title: 'What else one would use',
    published: PUBLISHED_WORDS,
    claims,
    verdict: verdictOf(claims),
    sentence:
      'The first tables say where a peer is ahead. Choose by the figure that matters: cost of a cached page, memory, a stampede, or life without the engine.',
    tables: tablesOf(outcomes, sizes),
    charts: chartsOf(outcomes),
    notes: notesOf(outcomes, sizes),
  };
}

/** @throws with the words of the installer. */
export async function installParts(lab: Lab, { parts }: Pick<Peer, 'parts'>): Promise<void> {
  if (parts.length === 0) return;
  const args = [INSTALL, ...parts];
  await runProgram({ command: process.execPath, args, limitMs: INSTALL_LIMIT_MS, signal: lab.signal });
}

/** The experiment of the command line. Parts of single peers are installed with them, so a missing part costs only their rows. */
export const peers: Experiment = {
  varies: 'who serves a cached page, a stampede and a dead engine: nginx, Varnish, Node servers, serpcache',
  parts: PARTS,
  run: (lab) => runPeers(lab),
};

export const PEERS: readonly Peer[] = [
  nginxCache,
  varnish,
  nginxLua,
  bareNode,
  bentocache,
  asyncCacheDedupe,
  asyncCacheDedupeMemory,
  serpcacheL1,
  serpcacheL2,
];
