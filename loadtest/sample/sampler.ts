import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { createHostReader, type NamedProcess, readProcess } from './host.ts';
import { createReplicaAsker } from './replica.ts';
import type { Sample } from './sample.ts';
import { createStoreAsker, type StoreNode } from './store.ts';

export interface SamplerOptions {
  /** `http://127.0.0.1:8081`, one per process of serpcache. */
  readonly adminUrls: readonly string[];
  /** Nodes of the local stack: on loopback, without a password. */
  readonly stores: readonly StoreNode[];
  /** Called for each sample, because a restarted process has a new id. */
  readonly processes: () => readonly NamedProcess[];
  /** Whether everything runs on this machine. */
  readonly host: boolean;
  /** Default 1000. /metrics takes 4–12 ms of the service's one core, so a shorter interval would be a load. */
  readonly everyMs?: number;
  /** Even. Default 7200: two hours at one a second. A longer run keeps one every two seconds, then every four. */
  readonly maxSamples?: number;
  readonly clock?: Clock;
}

/** Each is about 2–6 kB as JSON, and all are in one file and one page. */
const MAX_SAMPLES = 7200;
const EVERY_MS = 1000;
/** Share of the interval: a part that answers later is absent, and the next sample is not late. */
const LIMIT_SHARE = 0.8;

/**
 * Samples the service and its parts about once a second, from `start` to `stop`. It keeps no process alive.
 * @throws when an admin URL is invalid, or `maxSamples` is odd.
 */
export function createSampler(options: SamplerOptions) {
  const { processes, everyMs = EVERY_MS, clock = systemClock } = options;
  const kept = createThinned<Sample>(options.maxSamples ?? MAX_SAMPLES);
  const limitMs = everyMs * LIMIT_SHARE;
  const replicas = options.adminUrls.map(createReplicaAsker);
  const stores = options.stores.map((node) => createStoreAsker(node, clock));
  const hosts = options.host ? [createHostReader()] : [];
  const stopping = new AbortController();
  let sampling: Promise<void> | undefined;
  let stopped: Promise<readonly Sample[]> | undefined;

  const sample = async (): Promise<void> => {
    let atMs = clock.wallMs();
    const processSamples = processes().flatMap((one) => readProcess(one) ?? []);
    const ask = async <T>(part: (limitMs: number) => Promise<T | undefined>): Promise<readonly T[]> => {
      const answer = await part(limitMs);
      if (answer === undefined) return [];
      // The time of the last answer: a wait for a part that is away makes no figure younger.
      atMs = clock.wallMs();
      return [answer];
    };
    const [replicaSamples, storeSamples, hostSamples] = await Promise.all([
      Promise.all(replicas.map(ask)),
      Promise.all(stores.map((store) => ask(store.ask))),
      Promise.all(hosts.map(ask)),
    ]);
    const [host] = hostSamples.flat();
    kept.add({
      atMs,
      replicas: replicaSamples.flat(),
      stores: storeSamples.flat(),
      processes: processSamples,
      host,
    });
  };

  const sampleUntilStopped = async (): Promise<void> => {
    let dueMs = clock.monotonicMs();
    while (!stopping.signal.aborted) {
      await sample();
      dueMs += everyMs * kept.stride();
      // After a pause of the whole machine the missed samples are not made up for.
      const waitMs = Math.max(0, dueMs - clock.monotonicMs());
      if (waitMs === 0) dueMs = clock.monotonicMs();
      await sleep(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };

  const stop = async (): Promise<readonly Sample[]> => {
    stopping.abort();
    await sampling;
    await sample();
    for (const store of stores) store.close();
    return kept.all();
  };
  return {
    /** Takes the first sample at once. A second call does nothing. */
    start: (): void => {
      sampling ??= sampleUntilStopped();
    },
    /** Takes a last sample and returns the kept ones, oldest first. A second call returns the same. */
    stop: (): Promise<readonly Sample[]> => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * A bounded list that covers any length of time: when it is full, every second item is dropped.
 * @throws unless `max` is even and at least 2.
 */
export function createThinned<T>(max: number) {
  if (!Number.isInteger(max) || max < 2 || max % 2 !== 0) throw new Error(`max is an even number from 2, not ${max}`);
  let kept: T[] = [];
  let stride = 1;
  return {
    /** The number of additions from one kept item to the next: 1, 2, 4, … */
    stride: (): number => stride,
    /** The caller adds half as often when `stride` has doubled. The newest item is always kept. */
    add: (item: T): void => {
      if (kept.length === max) {
        kept = kept.filter((_, index) => index % 2 === 0);
        stride *= 2;
      }
      kept.push(item);
    },
    all: (): readonly T[] => kept,
  };
}
