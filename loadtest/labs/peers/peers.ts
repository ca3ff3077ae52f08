import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verdictOf } from '../kit/claims.ts';
import type { Finding } from '../kit/finding.ts';
import type { Experiment, Lab } from '../kit/lab.ts';
import { runProgram } from '../kit/programs.ts';
import type { Outcome } from './compare.ts';
import { startEngineRoom } from './engine-room.ts';
import { measureLosing } from './losing.ts';
import { nginxCache, nginxLua } from './nginx.ts';
import { asyncCacheDedupe, asyncCacheDedupeMemory, bareNode, bentocache } from './node-peers.ts';
import type { Peer, Room } from './peer.ts';
import { pagesOf } from './replicas.ts';
import { serpcacheL1, serpcacheL2 } from './serpcache.ts';
import { measureServing } from './serving.ts';
import { chartsOf, claimsOf, notesOf, PUBLISHED_WORDS, tablesOf } from './tables.ts';
import { varnish } from './varnish.ts';

export interface PeersOptions {
  /** In the order they are shown. */
  readonly peers?: readonly Peer[];
  readonly sizes?: Partial<Sizes>;
  /** Past it no further step is begun. */
  readonly mostSeconds?: number;
  /** Its parts are there afterwards. @throws when they cannot be had. */
  readonly install?: (lab: Lab, peer: Peer) => Promise<unknown>;
  readonly startRoom?: (
    folder: string,
    options: { readonly ttlSeconds: number; readonly cores: string },
  ) => Promise<Room & { readonly stop: () => Promise<void> }>;
}

export const ROW_SECONDS = 2;
/** What is needed whoever serves. */
export const PARTS = ['redis', 'sphinx', 'wrk'];
/** A command is ended after twelve minutes, with all it has measured; a step takes a minute where much goes wrong. */
const MOST_SECONDS = 600;
const INSTALL = join(import.meta.dirname, '..', '..', 'stack', 'install.ts');
const INSTALL_LIMIT_MS = 300_000;

/** All peers through the same tasks. Each is a row in every table, also where it could not be started or measured. */
export async function runPeers(lab: Lab, options: PeersOptions = {}): Promise<Omit<Finding, 'name'>> {
  const { peers: all = PEERS, install = installParts, startRoom = startEngineRoom } = options;
  const sizes = { ...SIZES, ...options.sizes };
  const seconds = lab.seconds(ROW_SECONDS);
  const untilMs = performance.now() + (options.mostSeconds ?? MOST_SECONDS) * 1000;
  const { attempt, problemsOf } = createTries(lab, () => performance.now() < untilMs);

  const roomOf = async (name: string, ttlSeconds: number): Promise<Room> => {
    const folder = join(lab.folder, name);
    await mkdir(folder, { recursive: true });
    const room = await startRoom(folder, { ttlSeconds, cores: lab.cores.generator });
    lab.atEnd(room.stop);
    return room;
  };
  lab.say('an engine, its origin, and pages of about 4 KB');
  const rooms = { long: await roomOf('room', LONG.ttlSeconds), short: await roomOf('short', SHORT.ttlSeconds) };
  const paths = await pagesOf(rooms.long, sizes.pages + sizes.memoryPages);

  const able: Peer[] = [];
  for (const peer of all) {
    const ready = await attempt(peer, 'it cannot be installed', async () => {
      await install(lab, peer);
      return true;
    });
    if (ready) able.push(peer);
  }
  const served = await measureServing({ lab, room: rooms.long, peers: able, paths, sizes, seconds, attempt });
  const outcomes: Outcome[] = [];
  for (const peer of all) {
    const lost = able.includes(peer) ? await measureLosing({ lab, rooms, paths, sizes, seconds, attempt }, peer) : {};
    outcomes.push({ peer, ...served.get(peer), ...lost, problems: problemsOf(peer) });
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
  await runProgram({
    command: process.execPath,
    args: [INSTALL, ...parts],
    limitMs: INSTALL_LIMIT_MS,
    signal: lab.signal,
  });
}

/** For the command line. What only some peers need is installed with them: a part that cannot be had is their row alone. */
export const peers: Experiment = {
  varies: 'who serves a cached page, a stampede and a dead engine: nginx, Varnish, Node servers, serpcache',
  parts: PARTS,
  run: (lab) => runPeers(lab),
};

/** In the order they are measured and shown. */
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

/** Undefined when the work failed: one peer that cannot do something is a row that says so, and the others go on. */
export type Try = <T>(peer: Peer, what: string, work: () => Promise<T>) => Promise<T | undefined>;

export interface Tries {
  readonly attempt: Try;
  /** What failed, in sentences. */
  readonly problemsOf: (peer: Peer) => readonly string[];
}

/**
 * @param hasTime false: whatever is left is not begun, so that what was measured is not lost with it.
 * @throws out of `attempt` only when the lab was told to stop.
 */
export function createTries({ say, signal }: Pick<Lab, 'say' | 'signal'>, hasTime: () => boolean): Tries {
  const problems = new Map<Peer, string[]>();
  return {
    problemsOf: (peer) => problems.get(peer) ?? [],
    attempt: async (peer, what, work) => {
      signal.throwIfAborted();
      try {
        if (!hasTime()) throw new Error('no time was left on this machine');
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        const problem = `${what}: ${error instanceof Error ? error.message : error}`;
        say(`${peer.name}: ${problem}`);
        problems.set(peer, [...(problems.get(peer) ?? []), problem]);
        return undefined;
      }
    },
  };
}

/** How much is asked for. Sizes, not times: those are the lab's. */
export interface Sizes {
  /** All peers take turns, so often. */
  readonly rounds: number;
  /** Pages asked for in turn: many more than the smallest first tier holds. */
  readonly pages: number;
  /** The rate at which times are taken: a third of what the slowest can do on one core. */
  readonly perSecond: number;
  /** Pages that memory is measured with. */
  readonly memoryPages: number;
  readonly replicas: number;
  readonly engineDelayMs: number;
  readonly hotRequests: number;
  readonly manyKeys: number;
  readonly requestsEach: number;
  /** Pages that are cached when the engine dies, and that are not. */
  readonly knownPages: number;
  readonly unseenPages: number;
  /** Of expired pages. */
  readonly deadPerSecond: number;
}

export const SIZES: Sizes = {
  rounds: 2,
  pages: 1200,
  perSecond: 1000,
  memoryPages: 4000,
  replicas: 3,
  engineDelayMs: 200,
  // Who does not coalesce sends all of them to the engine, eight at once: more would take a minute.
  hotRequests: 150,
  manyKeys: 30,
  requestsEach: 15,
  knownPages: 100,
  unseenPages: 20,
  deadPerSecond: 200,
};

/** Of the pages of all peers, but those the engine dies under. */
export const LONG = { ttlSeconds: 3600, staleSeconds: 60 } as const;
export const SHORT = { ttlSeconds: 3, staleSeconds: 60 } as const;
