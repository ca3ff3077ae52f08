import { setTimeout as sleep } from 'node:timers/promises';
import type { LabStore } from '../../kit/lab.ts';

export interface Watched {
  /** Resident memory, and what its children had to copy: the most that was there at once. */
  readonly peakBytes: number;
  /** How long not all replicas were attached. */
  readonly awaySeconds: number;
  /** At the last look. */
  readonly attached: number;
}

type Info = Readonly<Record<string, string>>;

const EVERY_MS = 200;

/** Looks at a master again and again until `work` is over. Looks it could not take (a master that stalls) count as none. */
export async function watchMaster<T>(
  master: LabStore,
  replicas: number,
  work: Promise<T>,
): Promise<{ readonly result: T; readonly watched: Watched }> {
  let [peakBytes, awayMs, attached, lookedMs] = [0, 0, replicas, performance.now()];
  let isOver = false;
  const look = async (): Promise<void> => {
    const info = await master.info('default');
    peakBytes = Math.max(peakBytes, memoryOf(info));
    attached = attachedOf(info);
    const nowMs = performance.now();
    if (attached < replicas) awayMs += nowMs - lookedMs;
    lookedMs = nowMs;
  };
  const watching = (async () => {
    while (!isOver) {
      await look().catch(() => undefined);
      await sleep(EVERY_MS);
    }
  })();
  const result = await work.finally(() => {
    isOver = true;
  });
  await watching;
  await look();
  return { result, watched: { peakBytes, awaySeconds: awayMs / 1000, attached } };
}

/** Replicas that have the data and follow. */
export function attachedOf(info: Info): number {
  return Object.entries(info).filter(([name, value]) => /^slave\d+$/.test(name) && /\bstate=online\b/.test(value))
    .length;
}

function memoryOf(info: Info): number {
  const figure = (name: string): number => Number(info[name] ?? 0);
  const copied = Math.max(figure('current_cow_size'), figure('current_cow_peak'));
  const hasChild = ['rdb_bgsave_in_progress', 'aof_rewrite_in_progress'].some((name) => figure(name) > 0);
  return figure('used_memory_rss') + (hasChild ? copied : 0);
}

/** Until all replicas are attached and no child of the master's own runs, or the time is over. @returns whether it is so. */
export async function settled(
  master: LabStore,
  replicas: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const giveUpMs = performance.now() + limitMs;
  while (performance.now() < giveUpMs) {
    const info = await master.info('default');
    const isBusy = info['rdb_bgsave_in_progress'] !== '0' || info['aof_rewrite_in_progress'] !== '0';
    if (attachedOf(info) >= replicas && !isBusy) return true;
    await sleep(EVERY_MS / 4, undefined, { signal });
  }
  return false;
}
