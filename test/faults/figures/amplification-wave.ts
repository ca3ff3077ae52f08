import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../loadtest/stack/redis.ts';
import { createClient } from '../../../loadtest/traffic/client.ts';
import type { Defence } from '../../../src/config/settings.ts';
import { targetOf } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import type { Reference } from '../reference.ts';
import { verdictOf } from '../verdict.ts';
import type { FleetBed } from './fleet-bed.ts';
import type { VisitorCounts, Visitors } from './visitors.ts';

/**
 * Everything has to be computed anew at once. `cold`: L1 of all processes and the whole store are lost. `storeless`: and
 * the store stays away. `stale`: all entries stop being fresh in the same seconds.
 */
export interface Wave {
  readonly kind: 'cold' | 'stale' | 'storeless';
  readonly without: readonly Defence[];
  /**
   * What the store is given to say who computes. Past it everybody does, and on a busy machine a process that has just
   * started, asked by all visitors at once, takes longer for its first replies than the 50 ms of the default.
   */
  readonly storeDeadlineMs: number;
}

export interface Amplification extends Wave {
  readonly visitors: VisitorCounts;
  /** Statements that came to the engine, and how many different ones. */
  readonly searches: number;
  readonly distinct: number;
  readonly mostOfOne: number;
  readonly open: OpenLeases;
}

/** Where the store could not say whether somebody else computes, so that everybody did: how often, and why. */
export interface OpenLeases {
  readonly leases: number;
  /** Lease commands that were not answered in time, those of a node given up for that, and those without a connection. */
  readonly slow: number;
  readonly nodeOpen: number;
  readonly down: number;
}

export const PATIENT_MS = 250;
export const ENGINE_DELAY_MS = 200;
const WINDOW_MS = 4000;
/** Longer than a window: nothing that is refreshed in it is stale again, or due ahead of that, before its end. */
const SHORT_TTL_MS = 6000;
/** Of all processes together: so many that it is not the limit that keeps duplicates away. */
const MAX_CONCURRENT = 96;

export async function measureWave(bed: FleetBed, visitors: Visitors, wave: Wave): Promise<Amplification> {
  const { engineProxy, store } = bed;
  const begin = (): void => {
    engineProxy.set({ delayMs: ENGINE_DELAY_MS });
    engineProxy.resetCounts();
    visitors.resetCounts();
    visitors.ask(true);
  };
  await stopAll(bed);
  await bed.emptyStore();
  if (wave.kind === 'stale') {
    visitors.ask(false);
    await startAll(bed, wave);
    await askAll(bed);
    await sleep(SHORT_TTL_MS);
    begin();
  } else {
    if (wave.kind === 'storeless') await Promise.all(store.nodes.map((node) => node.kill()));
    begin();
    await startAll(bed, wave);
  }
  await sleep(WINDOW_MS);
  const { searches, distinct, mostOfOne } = engineProxy.counts();
  const counts = visitors.counts();
  const open = await openLeases(bed);
  if (wave.kind === 'storeless') await Promise.all(store.nodes.map((node) => node.restart()));
  return { ...wave, visitors: counts, searches, distinct, mostOfOne, open };
}

async function openLeases({ services }: FleetBed): Promise<OpenLeases> {
  const sum = async (name: string, labels: Readonly<Record<string, string>>): Promise<number> => {
    const values = await Promise.all(services.map(({ metric }) => metric(name, labels)));
    return values.reduce((total, value) => total + value, 0);
  };
  const given = (outcome: string) => sum('serpcache_store_commands_total', { operation: 'lease', outcome });
  return {
    leases: await sum('serpcache_leases_total', { outcome: 'open' }),
    slow: await given('store-slow'),
    nodeOpen: await given('node-open'),
    down: await given('store-down'),
  };
}

/** Starts the fleet on an empty store and learns what the engine says of each search, asked once and by one process. */
export async function learn(bed: FleetBed, reference: Reference): Promise<void> {
  await startAll(bed, { kind: 'cold', without: [], storeDeadlineMs: PATIENT_MS });
  await askAll(bed, reference);
}

async function startAll(
  { services, configuration }: FleetBed,
  { kind, without, storeDeadlineMs }: Wave,
): Promise<void> {
  const config = configuration({
    memory: { maxBytes: '64MiB' },
    engine: { limit: 'fixed', maxConcurrent: MAX_CONCURRENT },
    store: { deadline: `${storeDeadlineMs}ms` },
    domain: { without },
    ...(kind === 'stale'
      ? {
          freshness: { ttl: `${SHORT_TTL_MS}ms`, emptyTtl: `${SHORT_TTL_MS}ms`, staleWhileRevalidate: '1h', jitter: 0 },
        }
      : {}),
  });
  await Promise.all(services.map((service) => service.start(config)));
}

async function stopAll({ services }: FleetBed): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
}

const AT_ONCE = 6;

/** Every search once of every process, of one after the other. @throws when one gets no page. */
async function askAll({ services, texts, engineProxy }: FleetBed, reference?: Reference): Promise<void> {
  engineProxy.set({ delayMs: 0 });
  for (const { url } of services) {
    const isReady = async (): Promise<boolean> => (await (await fetch(`${url}/readyz`)).text()).includes('"ready"');
    await until(`${url} to be ready`, isReady, 20_000);
    const client = createClient({ baseUrl: url, boundMs: HUNG_MS, maxConnections: AT_ONCE });
    const rest = texts.values();
    const worker = async (): Promise<void> => {
      for (const text of rest) {
        const verdict = verdictOf(await client.get(targetOf(text)), text);
        if (verdict.kind !== 'page') throw new Error(`warm-up: ${text}: ${JSON.stringify(verdict)}`);
        reference?.learn(text, verdict);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker)).finally(client.close);
  }
}
