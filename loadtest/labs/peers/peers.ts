import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../kit/finding.ts';
import type { Experiment, Lab } from '../kit/lab.ts';
import { runProgram } from '../kit/programs.ts';
import { PEERS } from './all-peers.ts';
import { startEngineRoom } from './engine-room.ts';
import { chartsOf } from './measure/charts.ts';
import { peersLesson } from './measure/lesson.ts';
import { measureLosing } from './measure/losing.ts';
import { notesOf } from './measure/notes.ts';
import type { Outcome } from './measure/outcome.ts';
import { pagesOf } from './measure/pages.ts';
import { PUBLISHED_WORDS } from './measure/published.ts';
import type { Room } from './measure/room.ts';
import { measureServing } from './measure/serving.ts';
import { LONG, SHORT, SIZES, type Sizes } from './measure/sizes.ts';
import { tablesOf } from './measure/tables.ts';
import { createTries } from './measure/try.ts';
import type { Peer } from './peer.ts';

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
  return {
    title: 'What else one would use',
    published: PUBLISHED_WORDS,
    tables: tablesOf(outcomes, sizes),
    charts: chartsOf(outcomes),
    lesson: peersLesson(outcomes),
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
