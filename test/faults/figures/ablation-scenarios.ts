import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from './ablation-run.ts';

/** 30 % of the 200 searches a second that come when nothing is cached. */
const NARROW = { places: 8, delayMs: 133 };
const RATE = 200;
const SEARCHES = 400;
/** Far more than the engine's places: nobody told the service what the engine can take. */
const ENGINE = { maxConcurrent: 64, hardDeadline: '3s' };
const LONG = { ttl: '1h', emptyTtl: '1h' };

/**
 * The one every defence is left out of in turn: all of L2 is lost and the engine can do 30 % of what is asked; after 2 s
 * it stands still for 2 s. Pages grow old within it.
 */
export const STANDARD: Scenario = {
  name: 'loss, stall',
  ratePerSecond: RATE,
  among: SEARCHES,
  changes: { engine: ENGINE, freshness: { ttl: '6s', emptyTtl: '6s' } },
  width: NARROW,
  warmMs: 2500,
  measureMs: 8000,
  happens: async ({ store, engineProxy }) => {
    await store.command('FLUSHALL');
    await sleep(2000);
    engineProxy.pause();
    await sleep(2000);
    engineProxy.resume();
  },
};

/** Nothing is cached anywhere, few pages are asked for, and each takes half a second of an engine that takes all. */
export const CROWD: Scenario = {
  name: 'crowd',
  ratePerSecond: RATE,
  among: 40,
  changes: { engine: { ...ENGINE, maxConcurrent: 400, limit: 'fixed' }, freshness: LONG },
  width: { places: Number.POSITIVE_INFINITY, delayMs: 500 },
  warmMs: 500,
  measureMs: 3000,
  restarts: true,
  happens: async ({ store, services }) => {
    await Promise.all(services.map((service) => service.stop()));
    await store.command('FLUSHALL');
    await Promise.all(services.map((service) => service.start(service.config() ?? '')));
  },
};

/** The engine refuses everything for 3 s, and is four times slower for 4 s more, as one that has lost its own caches. */
export const DOWN: Scenario = {
  name: 'down, back cold',
  ratePerSecond: RATE,
  among: SEARCHES,
  changes: { engine: { ...ENGINE, maxConcurrent: 24, limit: 'fixed' }, freshness: LONG },
  width: NARROW,
  warmMs: 1500,
  measureMs: 9500,
  happens: async ({ store, engineProxy }) => {
    engineProxy.set({ fail: 'shutdown in progress' });
    await store.command('FLUSHALL');
    await sleep(3000);
    engineProxy.set({ fail: undefined, delayMs: 4 * NARROW.delayMs });
    await sleep(4000);
    engineProxy.set({ delayMs: NARROW.delayMs });
  },
};

/** Every page comes after the deadline, before the hard one. */
export const LATE: Scenario = {
  name: 'late',
  ratePerSecond: RATE / 2,
  among: SEARCHES,
  changes: { engine: { ...ENGINE, limit: 'fixed' }, freshness: LONG },
  width: { places: 64, delayMs: 1000 },
  warmMs: 1500,
  measureMs: 5000,
  happens: async ({ store }) => {
    await store.command('FLUSHALL');
  },
};
