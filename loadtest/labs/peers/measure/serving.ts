import type { Cores, Lab } from '../../kit/lab.ts';
import type { Peer } from '../peer.ts';
import { type PageFigures, type PageRound, pageFigures, pageRound, warmUp } from './cached-page.ts';
import { fillPages } from './fill.ts';
import { fillMemory, type MemoryFigures } from './memory.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import type { Room } from './room.ts';
import { LONG, type Sizes } from './sizes.ts';
import type { Try } from './try.ts';

/** What one replica costs: its processor for cached pages, its memory for keeping them. */
export interface Served {
  readonly page?: PageFigures;
  readonly many?: PageFigures;
  readonly memory?: MemoryFigures;
}

export interface ServingOptions {
  readonly lab: Lab;
  readonly room: Room;
  readonly peers: readonly Peer[];
  /** Those asked for in turn, then those memory is measured with. */
  readonly paths: readonly string[];
  readonly sizes: Sizes;
  readonly seconds: number;
  readonly attempt: Try;
}

interface Runner {
  readonly peer: Peer;
  readonly replicas: Replicas;
  readonly memory: MemoryFigures | undefined;
  readonly page: PageRound[];
  readonly many: PageRound[];
}

/**
 * All peers run at the same time and take turns, A B C, A B C: what the machine does meanwhile falls on all of them. Those
 * whose turn it is not do nothing.
 */
export async function measureServing(options: ServingOptions): Promise<ReadonlyMap<Peer, Served>> {
  const { lab, peers, sizes, attempt } = options;
  const runners: Runner[] = [];
  for (const peer of peers) {
    const runner = await attempt(peer, 'it serves no cached pages', () => begin(options, peer));
    if (runner !== undefined) runners.push(runner);
  }
  for (let round = 1; round <= sizes.rounds; round += 1) {
    for (const runner of runners) {
      // Who failed once is not asked again: half of the rounds is no figure.
      if (runner.page.length < round - 1) continue;
      lab.say(`cached pages, round ${round} of ${sizes.rounds}: ${runner.peer.name}`);
      await attempt(runner.peer, 'cached pages were not measured', () => oneRound(options, runner));
    }
  }
  const served = new Map<Peer, Served>();
  for (const { peer, replicas, memory, page, many } of runners) {
    await replicas.stop();
    const cores = coresFor(peer, lab.cores);
    served.set(peer, {
      ...(page.length === sizes.rounds && { page: pageFigures(page, cores), many: pageFigures(many, cores) }),
      ...(memory !== undefined && { memory }),
    });
  }
  return served;
}

/** What a server can use of the half that servers have, and the half of wrk and the store. */
export function coresFor(
  { mostCores = 1 }: Pick<Peer, 'mostCores'>,
  { storeCount, generatorCount }: Pick<Cores, 'storeCount' | 'generatorCount'>,
): { readonly server: number; readonly client: number } {
  return { server: Math.min(storeCount, mostCores), client: generatorCount };
}

/** Memory comes first: what a load at full speed has asked of the system and not given back would hide what pages take. */
async function begin({ lab, room, paths, sizes, attempt }: ServingOptions, peer: Peer): Promise<Runner> {
  lab.say(`${peer.name}: one replica, ${sizes.pages} pages`);
  const replicas = await startReplicas(lab, room, peer, { count: 1, ...LONG });
  try {
    const [pages, more] = [paths.slice(0, sizes.pages), paths.slice(sizes.pages, sizes.pages + sizes.memoryPages)];
    await fillPages(lab, replicas.urls, pages);
    lab.say(`memory: ${peer.name}, ${sizes.memoryPages} more pages`);
    const memory = await attempt(peer, 'memory was not measured', () => fillMemory(lab, room, replicas, more));
    await warmUp(lab, replicas, pages);
    return { peer, replicas, memory, page: [], many: [] };
  } catch (error) {
    await replicas.stop();
    throw error;
  }
}

async function oneRound({ lab, paths, sizes, seconds }: ServingOptions, runner: Runner): Promise<void> {
  const { replicas } = runner;
  const asked = { seconds, perSecond: sizes.perSecond };
  const page = await pageRound(lab, replicas, { ...asked, paths: paths.slice(0, 1) });
  const many = await pageRound(lab, replicas, { ...asked, paths: paths.slice(0, sizes.pages) });
  runner.page.push(page);
  runner.many.push(many);
}
