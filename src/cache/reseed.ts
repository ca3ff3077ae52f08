import type { Clock } from '../clock.ts';
import { createBoundedMap } from './bounded-map.ts';
import type { CacheEvent } from './events.ts';
import type { MemoryTier } from './memory.ts';
import { createReseedRun, type ReseedResult, type ReseedRun, type ReseedRunOptions } from './reseed-run.ts';
import type { Store } from './store.ts';

/**
 * Writes back what L1 holds for a part of the store that has lost its data, and for no other reason. That a part lost
 * something is seen by its epoch, which differs from the one seen before; a part seen for the first time has lost nothing
 * that this process knows of.
 */
export interface Reseeder {
  readonly running: () => boolean;
  readonly close: () => void;
}

export interface ReseederOptions extends Omit<ReseedRunOptions, 'node' | 'store'> {
  readonly domain: string;
  readonly store: Pick<Store, 'epochs' | 'seedMany' | 'locate'>;
  readonly memory: MemoryTier;
  readonly intervalMs?: number;
  readonly deadlineMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: CacheEvent) => void;
}

/** Parts of the largest Redis Cluster anybody runs, and as many again that were replaced. */
const REMEMBERED_PARTS = 2048;
/**
 * A node that answers but refuses every write (out of memory, read-only) is tried again after 1, 2, 4 … 32 s: by then it
 * is well, or what L1 holds has mostly been written by the misses themselves.
 */
const MAX_ATTEMPTS = 7;
/** A part that has not been seen for so long has left the store. */
const FORGET_AFTER_MS = 600_000;

/** Of a part that lost its data: what is being done about it, or was. */
interface Loss {
  readonly node: string;
  readonly attempts: number;
  readonly state: { readonly kind: 'running'; readonly run: ReseedRun } | Ended;
}

interface Ended {
  readonly kind: ReseedResult['end'];
  readonly atMs: number;
}

export function createReseeder(options: ReseederOptions): Reseeder {
  const { domain, store, clock, random, observe, intervalMs = 1000, deadlineMs = 200 } = options;
  const epochs = createBoundedMap<string>(REMEMBERED_PARTS);
  const losses = new Map<string, Loss>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const stop = (loss: Loss | undefined): void => {
    if (loss?.state.kind === 'running') loss.state.run.stop();
  };

  /** Over L1 from the hottest on; what an earlier run of the part wrote was lost too, or is kept. */
  const start = (part: string, node: string, attempts: number): void => {
    stop(losses.get(part));
    const startedMs = clock.monotonicMs();
    const run = createReseedRun({ ...options, node });
    const running: Loss = { node, attempts, state: { kind: 'running', run } };
    losses.set(part, running);
    void run.finished.then(({ stored, kept, dropped, end }) => {
      if (closed) return;
      const atMs = clock.monotonicMs();
      observe({ kind: 'reseed', domain, node, stored, kept, dropped, durationMs: atMs - startedMs });
      if (losses.get(part) === running) losses.set(part, { node, attempts, state: { kind: end, atMs } });
    });
  };

  /** What a look at the part means for a loss of its that was noticed before. */
  const goOn = (part: string, node: string, { attempts, state }: Loss): void => {
    switch (state.kind) {
      case 'running':
        return;
      case 'faulted':
        if (attempts >= MAX_ATTEMPTS) losses.delete(part);
        else if (clock.monotonicMs() - state.atMs >= intervalMs * 2 ** (attempts - 1)) start(part, node, attempts + 1);
        return;
      case 'done':
      case 'stopped':
        losses.delete(part);
    }
  };

  const look = async (): Promise<void> => {
    const parts = await store.epochs(deadlineMs);
    if (closed) return;
    for (const { part, node, epoch } of parts) {
      const before = epochs.get(part);
      epochs.set(part, epoch);
      const loss = losses.get(part);
      if (before !== undefined && before !== epoch) start(part, node, 1);
      else if (loss === undefined) continue;
      // A failover. Whatever was looked at since was found on neither node, so a run is over only when a look after its
      // end still finds the part where it was.
      else if (loss.node !== node) start(part, node, loss.attempts);
      else goOn(part, node, loss);
    }
    const nowMs = clock.monotonicMs();
    for (const [part, { state }] of losses) {
      if (state.kind !== 'running' && nowMs - state.atMs > FORGET_AFTER_MS) losses.delete(part);
    }
    // Spread by ±20 %, so that a fleet does not ask in step; one question at a time, however slow.
    timer = setTimeout(look, intervalMs * (0.8 + 0.4 * random())).unref();
  };
  void look();

  return {
    running: () => [...losses.values()].some(({ state }) => state.kind === 'running'),
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const loss of losses.values()) stop(loss);
      losses.clear();
    },
  };
}
