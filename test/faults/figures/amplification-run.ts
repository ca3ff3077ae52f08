import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../loadtest/traffic/client.ts';
import type { Defence } from '../../../src/config/settings.ts';
import { askAll, clientHeaders, searchPath } from '../harness.ts';
import { HUNG_MS } from '../service.ts';
import { type Reference, type ReplyVerdict, verdictOf } from '../verdict.ts';
import type { Fleet } from './fleets.ts';

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
  readonly visitors: BurstCounts;
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

export async function measureWave(fleet: Fleet, visitors: BurstClients, wave: Wave): Promise<Amplification> {
  const { engineProxy, store } = fleet;
  const begin = (): void => {
    engineProxy.set({ delayMs: ENGINE_DELAY_MS });
    engineProxy.resetCounts();
    visitors.resetCounts();
    visitors.ask(true);
  };
  await stopAll(fleet);
  await fleet.emptyStore();
  if (wave.kind === 'stale') {
    visitors.ask(false);
    await startAll(fleet, wave);
    await askEach(fleet);
    await sleep(SHORT_TTL_MS);
    begin();
  } else {
    if (wave.kind === 'storeless') await Promise.all(store.nodes.map((node) => node.kill()));
    begin();
    await startAll(fleet, wave);
  }
  await sleep(WINDOW_MS);
  const { searches, distinct, mostOfOne } = engineProxy.counts();
  const counts = visitors.counts();
  const open = await openLeases(fleet);
  if (wave.kind === 'storeless') await Promise.all(store.nodes.map((node) => node.restart()));
  return { ...wave, visitors: counts, searches, distinct, mostOfOne, open };
}

async function openLeases({ services }: Fleet): Promise<OpenLeases> {
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
export async function learn(fleet: Fleet, reference: Reference): Promise<void> {
  await startAll(fleet, { kind: 'cold', without: [], storeDeadlineMs: PATIENT_MS });
  await askEach(fleet, reference);
}

async function startAll({ services, configuration }: Fleet, { kind, without, storeDeadlineMs }: Wave): Promise<void> {
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

async function stopAll({ services }: Fleet): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
}

/** Each process in turn answers every search once, from an engine without delay. @throws when a search gets no page. */
async function askEach({ services, texts, engineProxy }: Fleet, reference?: Reference): Promise<void> {
  engineProxy.set({ delayMs: 0 });
  for (const service of services) {
    await askAll(service, texts, ({ text, verdict }) => {
      reference?.learn(text, verdict);
      return [];
    });
  }
}

/**
 * Visitors who ask in volleys, over connections they keep: whoever has his last answer asks with all the others in the
 * same moment, of any process. That is what one flight per key is for: evenly spread, most would find the page there.
 */
export interface BurstClients {
  readonly ask: (on: boolean) => void;
  readonly counts: () => BurstCounts;
  readonly resetCounts: () => void;
  /** Resolves when the last answer has come. */
  readonly stop: () => Promise<void>;
}

export interface BurstCounts {
  readonly pages: number;
  /** Refused in words. */
  readonly refused: number;
  /** Nobody listened, or the connection ended: the visitor asks the same in the next volley. */
  readonly turnedAway: number;
  /** What may never be: another page than the engine's, none at all, or an answer nobody can act on. */
  readonly faults: readonly string[];
}

export interface BurstClientsOptions {
  readonly urls: readonly string[];
  readonly count: number;
  readonly intervalMs: number;
  readonly text: () => string;
  readonly random: () => number;
  readonly reference: Reference;
}

const NOTHING = { pages: 0, refused: 0, turnedAway: 0 };
const MOST_FAULTS = 20;

export function startBurstClients(options: BurstClientsOptions): BurstClients {
  const { urls, text, random, reference } = options;
  const clients = urls.map((baseUrl) => createClient({ baseUrl, boundMs: HUNG_MS, maxConnections: options.count }));
  const waiting = new Map<number, Promise<void>>();
  /** What a visitor still wants who was turned away. */
  const wanted = new Map<number, string>();
  let tally = NOTHING;
  let faults: string[] = [];
  let asking = false;

  const note = (visitor: number, asked: string, verdict: ReplyVerdict): void => {
    const count = (what: keyof typeof NOTHING): void => {
      tally = { ...tally, [what]: tally[what] + 1 };
    };
    const blame = (why: string): void => {
      if (faults.length < MOST_FAULTS) faults.push(`${asked}: ${why}`);
    };
    switch (verdict.kind) {
      case 'page':
        count('pages');
        if (reference.agrees(asked, verdict) !== true) blame("not the engine's page");
        break;
      case 'shed':
        count('refused');
        break;
      case 'broken':
        wanted.set(visitor, asked);
        count('turnedAway');
        break;
      case 'dishonest':
        blame(verdict.why);
        break;
      case 'hung':
        blame('no answer');
        break;
    }
  };
  const visit = async (visitor: number): Promise<void> => {
    const asked = wanted.get(visitor) ?? text();
    wanted.delete(visitor);
    const client = clients[Math.floor(random() * clients.length)];
    if (client === undefined) throw new Error('visitors without a process');
    note(visitor, asked, verdictOf(await client.get(searchPath(asked), clientHeaders(visitor)), asked));
  };
  const volley = (): void => {
    if (!asking) return;
    for (let visitor = 0; visitor < options.count; visitor += 1) {
      if (waiting.has(visitor)) continue;
      const visited = visit(visitor).finally(() => waiting.delete(visitor));
      waiting.set(visitor, visited);
    }
  };
  const timer = setInterval(volley, options.intervalMs);

  return {
    ask: (on) => {
      asking = on;
    },
    counts: () => ({ ...tally, faults }),
    resetCounts: () => {
      tally = NOTHING;
      faults = [];
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(waiting.values());
      for (const client of clients) client.close();
    },
  };
}
