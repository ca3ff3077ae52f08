import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { runTimeOf } from './run-time.ts';

/** Somebody else on the same store whose commands are heavy: what makes a shard slow for everybody. */
export interface Neighbour {
  /**
   * Begins to take `share` of the store's core, in commands of two milliseconds, however late they are answered.
   * @returns what ends it, when all are answered. It throws when one was refused: then the shard was not slow.
   */
  readonly work: (share: number) => () => Promise<void>;
  /** One command that holds the store for so long. @throws when it is refused. */
  readonly hold: (ms: number) => Promise<void>;
}

/** Heavy, and still short enough for a store at 75 % to answer everybody else in time. */
const COMMAND_MS = 2;
const CONNECTIONS = 20;
/** Of its commands: a second of work, so that a store is not kept from healing by a queue nobody would let grow. */
const MOST_WAITING = 500;
const PILOT_LOOPS = 100_000;
const PILOTS = 8;
const PILOT_COMMANDS = 25;

/**
 * Connects, and measures what a loop costs this store. A script that counts stands for a sort, a union, a `KEYS`: the one
 * thread works, and nobody else is answered. `DEBUG SLEEP` would leave free the processor that all of this is about.
 * @param ca PEM, where the store speaks TLS.
 */
export async function meetNeighbour(lab: Lab, store: LabStore, ca?: string): Promise<Neighbour> {
  const { host, port } = store;
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const client = new Redis({ host, port, protocol: 2, ...(ca !== undefined && { tls: { ca } }) });
    client.on('error', () => undefined);
    lab.atEnd(async () => client.disconnect());
    return client;
  });
  await Promise.all(clients.map((client) => client.ping()));

  let [waiting, next, isGone] = [0, 0, false];
  // Whoever fails does not say that it is enough.
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

  // The least of several: what else a store has to do after a fill is none of the loop's.
  let pilotMs = Number.POSITIVE_INFINITY;
  for (let pilot = 0; pilot < PILOTS; pilot += 1) {
    const before = runTimeOf(store.pid()).ranMs;
    for (let at = 0; at < PILOT_COMMANDS; at += 1) await count(PILOT_LOOPS);
    pilotMs = Math.min(pilotMs, (runTimeOf(store.pid()).ranMs - before) / PILOT_COMMANDS);
  }
  const loopsPerMs = PILOT_LOOPS / Math.max(0.01, pilotMs);

  return {
    work: (share) => {
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
      return async () => {
        isOn = false;
        await working;
        while (waiting > 0 && !isGone) await sleep(5);
        if (refused !== undefined) throw refused;
      };
    },
    hold: (ms) => count(ms * loopsPerMs),
  };
}
