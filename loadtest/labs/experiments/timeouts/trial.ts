import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabDriven } from '../../kit/driven.ts';
import type { LabStore } from '../../kit/lab.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { Neighbour } from './neighbour.ts';
import { runTimeOf } from './run-time.ts';

export interface Trial {
  readonly store: LabStore;
  readonly neighbour: Neighbour;
  /** Of the store's core, taken by the neighbour all the time. */
  readonly share: number;
  readonly seconds: number;
  readonly connections: number;
  readonly deadlineMs: number;
  /** Starts the load; its neighbour follows when all connections are there. */
  readonly load: () => Promise<LabDriven>;
  /** In the slow spell, one after the other. Absent: no slow spell, to see that the store can do it. */
  readonly holds?: { readonly ms: number; readonly everyMs: number };
}

const LOOK_EVERY_MS = 50;
/** Of the load: before the spell begins, and when its last command begins. What follows shows how it heals. */
const [CALM_PART, SPELL_PART] = [0.2, 0.6];
const OPEN_LIMIT_MS = 4000;
/** One of somebody who has just left may still be counted, and gone a moment later. */
const MOST_PART = 0.9;
const REST_LIMIT_MS = 20_000;
/** Of INFO: one that is asked while the store still works off a spell may take longer than the client waits, 5 s. */
const TRIES = 4;
/** The INFO that reads how many there were comes over one of its own. */
const OWN_CONNECTIONS = 1;

/** One load through one slow spell. The store is left to rest, with nobody connected, before it ends. */
export async function runTrial(trial: Trial): Promise<Figures> {
  const { store, neighbour, seconds, connections, holds } = trial;
  const openNow = (): number => readdirSync(`/proc/${store.pid()}/fd`).length;
  const received = (): Promise<number> => receivedBy(store);
  const before = openNow();
  const receivedBefore = await received();
  const load = trial.load();
  const state = { isOver: false, mostOpen: 0 };
  const ended = load.then(
    () => {
      state.isOver = true;
    },
    () => {
      state.isOver = true;
    },
  );
  await waitUntil(() => state.isOver || openNow() - before >= MOST_PART * connections, OPEN_LIMIT_MS);
  // After the load has its connections: hundreds of handshakes beside it are another experiment.
  const rest = neighbour.work(trial.share);
  const watching = watch(state, () => openNow() - before);
  const waitedBefore = runTimeOf(store.pid()).waitedMs;
  const startedMs = performance.now();
  await Promise.race([ended, sleep(seconds * CALM_PART * 1000)]);
  const held: Promise<unknown>[] = [];
  for (const untilMs = startedMs + seconds * SPELL_PART * 1000; holds !== undefined && !state.isOver; ) {
    const hold = neighbour.hold(holds.ms);
    hold.catch(() => undefined);
    held.push(hold);
    await Promise.race([ended, sleep(holds.everyMs)]);
    if (performance.now() >= untilMs) break;
  }
  await Promise.all([ended, watching, ...held]);
  await rest();
  const waitedShare = (runTimeOf(store.pid()).waitedMs - waitedBefore) / (performance.now() - startedMs);
  // What lies in the backlog is accepted and looked at though nobody is there any more: that is part of the price.
  await waitUntil(() => openNow() <= before + OWN_CONNECTIONS, REST_LIMIT_MS);
  const first = connections + OWN_CONNECTIONS;
  return figuresOf(await load, {
    deadlineMs: trial.deadlineMs,
    opened: Math.max(0, (await received()) - receivedBefore - first),
    mostOpen: state.mostOpen,
    waitedShare,
  });
}

/** Connections it has accepted since it was started. @throws when it does not answer at all. */
async function receivedBy(store: LabStore): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    try {
      return Number((await store.info('stats'))['total_connections_received'] ?? 0);
    } catch (error) {
      if (tried === TRIES) throw error;
    }
  }
}

/** Descriptors of the process, not INFO: a store that is asked how slow it is gets slower. */
async function watch(state: { isOver: boolean; mostOpen: number }, open: () => number): Promise<void> {
  while (!state.isOver) {
    state.mostOpen = Math.max(state.mostOpen, open());
    await sleep(LOOK_EVERY_MS);
  }
}

async function waitUntil(isSo: () => boolean, limitMs: number): Promise<void> {
  for (const untilMs = performance.now() + limitMs; !isSo() && performance.now() < untilMs; ) await sleep(10);
}
