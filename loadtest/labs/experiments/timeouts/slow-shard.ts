import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { waitUntil } from '../../../stack/process.ts';
import type { LabDriven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';

export type SpellRun = Awaited<ReturnType<typeof runSpell>>;

interface Spell {
  readonly store: LabStore;
  readonly neighbour: Neighbour;
  /** Share of the store's core that the neighbour takes all the time. */
  readonly share: number;
  readonly seconds: number;
  readonly connections: number;
  /** Starts the load; the neighbour starts when all connections are there. */
  readonly load: () => Promise<LabDriven>;
  /** Commands of the slow spell, one after the other. Absent: no slow spell, as a check that the store can bear the load. */
  readonly holds?: { readonly ms: number; readonly everyMs: number };
}

const [LOOK_EVERY_MS, POLL_MS] = [50, 10];
/** Parts of the load: the beginning of the spell, and of its last command. The rest shows the recovery. */
const [CALM_PART, SPELL_PART] = [0.2, 0.6];
const OPEN_LIMIT_MS = 4000;
/** A connection that has just been closed may still be counted, so the count may fall short of all. */
const MOST_PART = 0.9;
const REST_LIMIT_MS = 20_000;
/** INFO while the store still works off a spell may take longer than the client waits, 5 s. */
const TRIES = 4;
/** INFO itself comes over one connection. */
const OWN_CONNECTIONS = 1;

/** Runs the load through the spell. At the end the store is idle, with no connections. */
export async function runSpell(run: Spell) {
  const { store, neighbour, seconds, connections, holds } = run;
  const openNow = (): number => readdirSync(`/proc/${store.pid()}/fd`).length;
  const before = openNow();
  const receivedBefore = await receivedBy(store);
  const load = run.load();
  const state = { isOver: false, mostOpen: 0 };
  const ended = Promise.allSettled([load]).then(() => {
    state.isOver = true;
  });
  await waitUntil(() => state.isOver || openNow() - before >= MOST_PART * connections, OPEN_LIMIT_MS, POLL_MS);
  // The neighbour starts after the load has its connections: hundreds of handshakes beside it are another experiment.
  const rest = neighbour.work(run.share);
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
  /** Share of the time in which the store was ready to run while its processor ran another process. */
  const waitedShare = (runTimeOf(store.pid()).waitedMs - waitedBefore) / (performance.now() - startedMs);
  // The store accepts connections in its backlog although their clients are gone: that is part of the cost.
  await waitUntil(() => openNow() <= before + OWN_CONNECTIONS, REST_LIMIT_MS, POLL_MS);
  const first = connections + OWN_CONNECTIONS;
  /** Connections that the store accepted beside those of the beginning. */
  const opened = Math.max(0, (await receivedBy(store)) - receivedBefore - first);
  return { load: await load, opened, mostOpen: state.mostOpen, waitedShare };
}

/** Connections that the store has accepted since its start. @throws when it does not answer at all. */
async function receivedBy(store: LabStore): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    try {
      return Number((await store.info('stats'))['total_connections_received'] ?? 0);
    } catch (error) {
      if (tried === TRIES) throw error;
    }
  }
}

/** Counts descriptors of the process: INFO would make a slow store slower. */
async function watch(state: { isOver: boolean; mostOpen: number }, open: () => number): Promise<void> {
  while (!state.isOver) {
    state.mostOpen = Math.max(state.mostOpen, open());
    await sleep(LOOK_EVERY_MS);
  }
}

/** Another client of the store with heavy commands: they make the shard slow for all its clients. */
type Neighbour = Awaited<ReturnType<typeof startNeighbour>>;

/** Heavy, and still short enough for a store at 75 % to answer its other clients in time. */
const COMMAND_MS = 2;
const NEIGHBOUR_CONNECTIONS = 20;
/** Maximum of its commands under way, a second of work: a longer queue would keep the store from recovering. */
const MOST_WAITING = 500;
const PILOT_LOOPS = 100_000;
const PILOTS = 8;
const PILOT_COMMANDS = 25;

/**
 * Connects, and measures the time of a loop on this store. A script that counts stands for a sort, a union, a `KEYS`: the
 * one thread works, and no other client is answered. `DEBUG SLEEP` would leave the processor free.
 */
export async function startNeighbour(lab: Lab, store: LabStore) {
  const { host, port, ca } = store;
  const clients = Array.from({ length: NEIGHBOUR_CONNECTIONS }, () => {
    const client = new Redis({ host, port, protocol: 2, tls: ca === undefined ? undefined : { ca } });
    client.on('error', () => undefined);
    lab.atEnd(async () => client.disconnect());
    return client;
  });
  await Promise.all(clients.map((client) => client.ping()));

  let [waiting, next, isGone] = [0, 0, false];
  // A load that fails does not end the neighbour's work.
  lab.atEnd(async () => {
    isGone = true;
  });
  const count = async (loops: number): Promise<void> => {
    const client = clients[next % clients.length];
    next += 1;
    waiting += 1;
    try {
      await client?.call('EVAL', `local x=0 for i=1,${Math.round(loops)} do x=x+i end return 1`, '0');
    } finally {
      waiting -= 1;
    }
  };

  // The minimum of several pilots: a store has other work after it was filled.
  let pilotMs = Number.POSITIVE_INFINITY;
  for (let pilot = 0; pilot < PILOTS; pilot += 1) {
    const before = runTimeOf(store.pid()).ranMs;
    for (let at = 0; at < PILOT_COMMANDS; at += 1) await count(PILOT_LOOPS);
    pilotMs = Math.min(pilotMs, (runTimeOf(store.pid()).ranMs - before) / PILOT_COMMANDS);
  }
  const loopsPerMs = PILOT_LOOPS / Math.max(0.01, pilotMs);

  return {
    /**
     * Starts to take `share` of the store's core, in commands of two milliseconds, however late they are answered.
     * @returns a function that ends it when all are answered. It throws when one was refused: then the shard was not slow.
     */
    work: (share: number) => {
      let isOn = true;
      let refused: unknown;
      const working = (async () => {
        for (let dueMs = performance.now(); isOn && !isGone; await sleep(1))
          for (const now = performance.now(); dueMs <= now; dueMs += COMMAND_MS / share)
            if (waiting < MOST_WAITING)
              count(COMMAND_MS * loopsPerMs).catch((error: unknown) => {
                refused ??= error;
              });
      })();
      return async (): Promise<void> => {
        isOn = false;
        await working;
        while (waiting > 0 && !isGone) await sleep(5);
        if (refused !== undefined) throw refused;
      };
    },
    /** One command that holds the store for `ms`. @throws when it is refused. */
    hold: (ms: number) => count(ms * loopsPerMs),
  };
}

/**
 * Times of a process's main thread since its start: running, and ready to run while its processor ran another process. In
 * nanoseconds; /proc/<pid>/stat counts in steps of 10 ms (https://docs.kernel.org/scheduler/sched-stats.html).
 */
function runTimeOf(pid: number) {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}
