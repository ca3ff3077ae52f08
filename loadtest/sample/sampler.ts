import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { createHostReader, type NamedProcess, readProcess } from './host.ts';
import { createReplicaAsker } from './replica.ts';
import type { HostSample, Sample } from './sample.ts';
import { createStoreAsker, type StoreNode } from './store.ts';

/** Looks at the service and its parts about once a second, from `start` to `stop`. Keeps no process from ending. */
export interface Sampler {
  /** The first look is taken at once. A second call does nothing. */
  readonly start: () => void;
  /** Takes a last look and gives all that were kept, oldest first. A second call gives the same. */
  readonly stop: () => Promise<readonly Sample[]>;
}

export interface SamplerOptions {
  /** `http://127.0.0.1:8081`, one per process of serpcache. */
  readonly adminUrls: readonly string[];
  /** Those of the local stack: on loopback, without a password. */
  readonly stores: readonly StoreNode[];
  /** Asked at each look: one that was restarted has a new id. */
  readonly processes: () => readonly NamedProcess[];
  /** Whether everything runs on this machine. */
  readonly host: boolean;
  /** Default 1000. A page of /metrics takes 4–12 ms of the service's one core: oftener would be a load of its own. */
  readonly everyMs?: number;
  /** Even. Default 7200: two hours at one a second. A run twice as long keeps one every two seconds, and so on. */
  readonly maxSamples?: number;
  readonly clock?: Clock;
  /** Hears when a part stops answering, and when it does again. */
  readonly observe?: (event: SamplerEvent) => void;
}

export interface SamplerEvent {
  readonly kind: 'away' | 'back';
  /** `127.0.0.1:8081`, `goods-1`, `host` */
  readonly part: string;
}

/** About 2–6 kB each as JSON, all in one file and one page. */
const MAX_SAMPLES = 7200;
const EVERY_MS = 1000;
/** Of the time between two looks: what answers later is absent, and the next look is not late. */
const LIMIT_SHARE = 0.8;

/** @throws when an admin URL is none, or `maxSamples` is odd. */
export function createSampler(options: SamplerOptions): Sampler {
  const { processes, everyMs = EVERY_MS, clock = systemClock, observe = () => undefined } = options;
  const kept = createThinned<Sample>(options.maxSamples ?? MAX_SAMPLES);
  const limitMs = everyMs * LIMIT_SHARE;
  const replicas = options.adminUrls.map(createReplicaAsker);
  const stores = options.stores.map((node) => ({ name: node.name, ...createStoreAsker(node, clock) }));
  const host = options.host ? { name: 'host', ask: createHostReader().read } : undefined;
  const away = new Set<string>();
  const stopping = new AbortController();
  let looking: Promise<void> | undefined;
  let stopped: Promise<readonly Sample[]> | undefined;

  const look = async (): Promise<void> => {
    let atMs = clock.wallMs();
    const processSamples = processes().flatMap((one) => readProcess(one) ?? []);
    const ask = async <T>(part: Part<T>): Promise<readonly T[]> => {
      const answer = await part.ask(limitMs);
      const isAway = answer === undefined;
      if (isAway !== away.has(part.name)) observe({ kind: isAway ? 'away' : 'back', part: part.name });
      if (answer === undefined) {
        away.add(part.name);
        return [];
      }
      away.delete(part.name);
      // Of the last that came: waiting in vain for another makes no figure any younger.
      atMs = clock.wallMs();
      return [answer];
    };
    const [replicaSamples, storeSamples, hostSamples] = await Promise.all([
      Promise.all(replicas.map(ask)),
      Promise.all(stores.map(ask)),
      host === undefined ? [] : ask<HostSample>(host),
    ]);
    const [hostSample] = hostSamples;
    kept.add({
      atMs,
      replicas: replicaSamples.flat(),
      stores: storeSamples.flat(),
      processes: processSamples,
      ...(hostSample && { host: hostSample }),
    });
  };

  const lookOnAndOn = async (): Promise<void> => {
    let dueMs = clock.monotonicMs();
    while (!stopping.signal.aborted) {
      await look();
      dueMs += everyMs * kept.stride();
      // After a pause of the whole machine there is nothing to catch up with.
      const waitMs = Math.max(0, dueMs - clock.monotonicMs());
      if (waitMs === 0) dueMs = clock.monotonicMs();
      await sleep(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };

  const stop = async (): Promise<readonly Sample[]> => {
    stopping.abort();
    await looking;
    await look();
    for (const store of stores) store.close();
    return kept.all();
  };
  return {
    start: () => {
      looking ??= lookOnAndOn();
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

interface Part<T> {
  readonly name: string;
  readonly ask: (limitMs: number) => Promise<T | undefined>;
}

/** A list with a bound that covers any length of time: when it is full, every second thing goes. */
export interface Thinned<T> {
  /** Of any two kept neighbours, how many were added from one to the next: 1, 2, 4, … */
  readonly stride: () => number;
  /** Whoever adds is asked to come half as often once `stride` has doubled. The newest is always kept. */
  readonly add: (item: T) => void;
  readonly all: () => readonly T[];
}

/** @throws when `max` is no even number of at least 2. */
export function createThinned<T>(max: number): Thinned<T> {
  if (!Number.isInteger(max) || max < 2 || max % 2 !== 0) throw new Error(`max is an even number from 2, not ${max}`);
  let kept: T[] = [];
  let stride = 1;
  return {
    stride: () => stride,
    add: (item) => {
      if (kept.length === max) {
        kept = kept.filter((_, index) => index % 2 === 0);
        stride *= 2;
      }
      kept.push(item);
    },
    all: () => kept,
  };
}
