import type { Clock } from '../../clock.ts';

export interface Refresher {
  /** Refresh soon: at once when the last one is long enough ago, else as soon as it is. Never lost, never a storm. */
  readonly soon: () => void;
  readonly close: () => void;
}

export interface RefresherOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Between refreshes while all is well. */
  readonly intervalMs: number;
  readonly refresh: (why: 'interval' | 'trouble') => void;
}

/** Each refresh opens a connection: in trouble every process makes about one a second, not one per failed read. */
const TROUBLE_GAP_MS = 1000;

/** When to look at the topology again: every `intervalMs`, ±25 % so that a fleet does not ask at once. */
export function createRefresher({ clock, random, intervalMs, refresh }: RefresherOptions): Refresher {
  const jittered = (ms: number): number => ms * (0.75 + random() / 2);
  let lastMs = clock.monotonicMs();
  let urgent: NodeJS.Timeout | undefined;
  let closed = false;

  const run = (why: 'interval' | 'trouble'): void => {
    lastMs = clock.monotonicMs();
    refresh(why);
  };
  const next = (): NodeJS.Timeout =>
    setTimeout(() => {
      run('interval');
      regular = next();
    }, jittered(intervalMs)).unref();
  let regular = next();

  return {
    soon() {
      if (urgent !== undefined || closed) return;
      const waitMs = Math.max(0, lastMs + jittered(TROUBLE_GAP_MS) - clock.monotonicMs());
      urgent = setTimeout(() => {
        urgent = undefined;
        run('trouble');
      }, waitMs).unref();
    },
    close() {
      closed = true;
      clearTimeout(regular);
      clearTimeout(urgent);
    },
  };
}
