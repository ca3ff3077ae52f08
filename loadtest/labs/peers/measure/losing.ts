import type { Lab } from '../../kit/lab.ts';
import type { Peer } from '../peer.ts';
import { type DeadEngineFigures, deadEngine } from './dead-engine.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import type { Room } from './room.ts';
import { LONG, SHORT, type Sizes } from './sizes.ts';
import { type StampedeFigures, stampede } from './stampede.ts';
import type { Try } from './try.ts';

/** What happens when a peer loses its pages, and when it loses its engine. */
export interface Lost {
  readonly stampede?: StampedeFigures;
  readonly dead?: DeadEngineFigures;
}

export interface LosingOptions {
  readonly lab: Lab;
  /** Pages live long in the one, and shortly in the other. */
  readonly rooms: { readonly long: Room; readonly short: Room };
  readonly paths: readonly string[];
  readonly sizes: Sizes;
  readonly seconds: number;
  readonly attempt: Try;
}

/** One peer after the other, each alone: a stampede is over in a second, and there is nothing to take turns in. */
export async function measureLosing(options: LosingOptions, peer: Peer): Promise<Lost> {
  const { lab, sizes, attempt } = options;
  lab.say(`stampede: ${peer.name}, ${sizes.replicas} replicas`);
  const stampeded = await attempt(peer, 'the stampede was not measured', () => stampedeOf(options, peer));
  lab.say(`dead engine: ${peer.name}`);
  const dead = await attempt(peer, 'the dead engine was not measured', () => deadEngineOf(options, peer));
  return { ...(stampeded !== undefined && { stampede: stampeded }), ...(dead !== undefined && { dead }) };
}

function stampedeOf({ lab, rooms, paths, sizes }: LosingOptions, peer: Peer): Promise<StampedeFigures> {
  const [path = '', ...others] = paths;
  const plan = {
    engineDelayMs: sizes.engineDelayMs,
    hot: { path, requests: sizes.hotRequests },
    many: { paths: others.slice(0, sizes.manyKeys), requestsEach: sizes.requestsEach },
  };
  return withReplicas(startReplicas(lab, rooms.long, peer, { count: sizes.replicas, ...LONG }), (replicas) =>
    stampede(lab, rooms.long, replicas, plan),
  );
}

function deadEngineOf({ lab, rooms, paths, sizes, seconds }: LosingOptions, peer: Peer): Promise<DeadEngineFigures> {
  const plan = {
    ttlSeconds: SHORT.ttlSeconds,
    paths: paths.slice(0, sizes.knownPages),
    unseen: paths.slice(sizes.knownPages, sizes.knownPages + sizes.unseenPages),
    perSecond: sizes.deadPerSecond,
    seconds,
  };
  return withReplicas(startReplicas(lab, rooms.short, peer, { count: 1, ...SHORT }), (replicas) =>
    deadEngine(lab, rooms.short, replicas, plan),
  );
}

async function withReplicas<T>(starting: Promise<Replicas>, work: (replicas: Replicas) => Promise<T>): Promise<T> {
  const replicas = await starting;
  try {
    return await work(replicas);
  } finally {
    await replicas.stop();
  }
}
