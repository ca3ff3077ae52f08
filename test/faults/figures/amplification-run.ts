import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../loadtest/http-driver/client.ts';
import { type Defence, HUNG_MS } from '../configuration.ts';
import { askAll, clientHeaders, searchPath } from '../harness.ts';
import { type Reference, type ReplyVerdict, verdictOf } from '../verdict.ts';
import type { Fleet } from './fleets.ts';

/**
 * Every page must be computed again at once. `cold`: the L1 of all processes and the whole store are lost. `storeless`:
 * the same, and the store stays down. `stale`: all entries become stale within the same seconds.
 */
export interface Wave {
  readonly kind: 'cold' | 'stale' | 'storeless';
  readonly without: readonly Defence[];
  /**
   * Deadline for the store to grant a lease. After it every process asks the engine itself. On a busy machine the first
   * replies to a process that has just started, under a burst of all clients, take longer than the default of 50 ms.
   */
  readonly storeDeadlineMs: number;
}

export interface Amplification extends Wave {
  readonly clients: BurstCounts;
  /** Searches at the engine, and distinct ones among them. */
  readonly searches: number;
  readonly distinct: number;
  readonly mostOfOne: number;
  readonly open: OpenLeases;
}

/** Leases that the store could not decide, so that the process asked the engine itself: their number and the causes. */
interface OpenLeases {
  readonly leases: number;
  /** Lease commands without an answer in time, to a node with an open breaker, and without a connection. */
  readonly slow: number;
  readonly nodeOpen: number;
  readonly down: number;
}

export const PATIENT_STORE_DEADLINE_MS = 250;
export const ENGINE_DELAY_MS = 200;
const WINDOW_MS = 4000;
/** Longer than a window: a page that is refreshed in a window is neither stale nor due for refresh before its end. */
const SHORT_TTL_MS = 6000;
/** Limit of all processes together, high enough that the limit does not prevent duplicates. */
const MAX_CONCURRENT = 96;

export async function measureWave(fleet: Fleet, clients: BurstClients, wave: Wave): Promise<Amplification> {
  const { engineProxy, store } = fleet;
  const begin = (): void => {
    engineProxy.set({ delayMs: ENGINE_DELAY_MS });
    engineProxy.resetCounts();
    clients.resetCounts();
    clients.ask(true);
  };
  await stopAll(fleet);
  await fleet.emptyStore();
  if (wave.kind === 'stale') {
    clients.ask(false);
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
  const counts = clients.counts();
  const open = await openLeases(fleet);
  if (wave.kind === 'storeless') await Promise.all(store.nodes.map((node) => node.restart()));
  return { ...wave, clients: counts, searches, distinct, mostOfOne, open };
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

/** Starts the fleet on an empty store and learns the engine's page for each search. */
export async function learn(fleet: Fleet, reference: Reference): Promise<void> {
  await startAll(fleet, { kind: 'cold', without: [], storeDeadlineMs: PATIENT_STORE_DEADLINE_MS });
  await askEach(fleet, reference);
}

async function startAll({ services, configuration }: Fleet, { kind, without, storeDeadlineMs }: Wave): Promise<void> {
  const config = configuration({
    memory: { maxBytes: '64MiB' },
    engine: { limit: 'fixed', maxConcurrent: MAX_CONCURRENT },
    store: { deadline: `${storeDeadlineMs}ms` },
    without,
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
 * Clients that send in bursts over persistent connections: at each interval every client that has its last answer sends
 * one request to a random process. Bursts test coalescing: with evenly spread requests most would find the page in cache.
 */
interface BurstClients {
  readonly ask: (on: boolean) => void;
  readonly counts: () => BurstCounts;
  readonly resetCounts: () => void;
  /** Resolves after the last answer. */
  readonly stop: () => Promise<void>;
}

interface BurstCounts {
  readonly pages: number;
  /** Refused with a problem document. */
  readonly refused: number;
  /** The connection was refused or closed: the client repeats the search in the next burst. */
  readonly turnedAway: number;
  /** Violations: a page that differs from the engine's, no answer, or an answer that a client cannot act on. */
  readonly faults: readonly string[];
}

interface BurstClientsOptions {
  readonly urls: readonly string[];
  readonly count: number;
  readonly intervalMs: number;
  readonly text: () => string;
  readonly random: () => number;
  readonly reference: Reference;
}

const NOTHING = { pages: 0, refused: 0, turnedAway: 0 };
const MAX_FAULTS = 20;

export function startBurstClients(options: BurstClientsOptions): BurstClients {
  const { urls, text, random, reference } = options;
  const clients = urls.map((baseUrl) => createClient({ baseUrl, patienceMs: HUNG_MS, maxConnections: options.count }));
  const waiting = new Map<number, Promise<void>>();
  /** The search that a client repeats after its connection failed. */
  const repeated = new Map<number, string>();
  let tally = NOTHING;
  let faults: string[] = [];
  let asking = false;

  const record = (clientIndex: number, asked: string, verdict: ReplyVerdict): void => {
    const count = (what: keyof typeof NOTHING): void => {
      tally = { ...tally, [what]: tally[what] + 1 };
    };
    const addFault = (why: string): void => {
      if (faults.length < MAX_FAULTS) faults.push(`${asked}: ${why}`);
    };
    switch (verdict.kind) {
      case 'page':
        count('pages');
        if (reference.agrees(asked, verdict) !== true) addFault("not the engine's page");
        break;
      case 'shed':
        count('refused');
        break;
      case 'broken':
        repeated.set(clientIndex, asked);
        count('turnedAway');
        break;
      case 'dishonest':
        addFault(verdict.why);
        break;
      case 'hung':
        addFault('no answer');
        break;
    }
  };
  const sendOne = async (clientIndex: number): Promise<void> => {
    const asked = repeated.get(clientIndex) ?? text();
    repeated.delete(clientIndex);
    const client = clients[Math.floor(random() * clients.length)];
    if (client === undefined) throw new Error('clients without a process');
    record(clientIndex, asked, verdictOf(await client.get(searchPath(asked), clientHeaders(clientIndex)), asked));
  };
  const burst = (): void => {
    if (!asking) return;
    for (let clientIndex = 0; clientIndex < options.count; clientIndex += 1) {
      if (waiting.has(clientIndex)) continue;
      const sent = sendOne(clientIndex).finally(() => waiting.delete(clientIndex));
      waiting.set(clientIndex, sent);
    }
  };
  const timer = setInterval(burst, options.intervalMs);

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
