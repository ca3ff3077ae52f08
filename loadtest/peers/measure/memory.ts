import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../../lab/lab.ts';
import { fillPages } from './fill.ts';
import type { Replicas } from './replicas.ts';
import type { Room } from './room.ts';

export interface MemoryFigures {
  /** Pages that were asked for. */
  readonly pages: number;
  /** Body of a page, on average. */
  readonly pageBytes: number;
  /** Of those pages, as far as a sample shows: 0–1. What was thrown out again takes no memory. */
  readonly keptShare: number;
  /** What all processes of the replica grew by, for each page kept, garbage collected before and after where they are Node's. */
  readonly residentPerPage: number;
  /** The same of the store, by its own count. */
  readonly storePerPage: number;
  readonly diskPerPage: number;
  /** Of the replica, with all those pages and its garbage. */
  readonly residentBytes: number;
}

const SAMPLE = 200;
/** Writes to a store are not on a reply's path; memory is given back to the system when it is quiet. */
const SETTLE_MS = 700;

/**
 * Fills one replica with pages it never had, after it had others: what it takes to get pages at all is there then.
 * @throws when pages are not answered, or hardly any is kept.
 */
export async function fillMemory(
  lab: Lab,
  room: Room,
  replicas: Replicas,
  paths: readonly string[],
): Promise<MemoryFigures> {
  const look = async () => {
    await sleep(SETTLE_MS);
    const whole = replicas.residentBytes();
    await replicas.collectGarbage();
    await sleep(SETTLE_MS);
    const memory = await replicas.store.info('memory');
    return {
      whole,
      resident: replicas.residentBytes(),
      store: Number(memory['used_memory'] ?? 0),
      disk: await replicas.diskBytes(),
    };
  };
  const before = await look();
  const filled = await fillPages(lab, replicas.urls, paths);
  const after = await look();
  const sample = paths.filter((_, at) => at % Math.max(1, Math.floor(paths.length / SAMPLE)) === 0);
  const searchesBefore = room.searches();
  await fillPages(lab, replicas.urls, sample, 1);
  const keptShare = Math.max(0, 1 - (room.searches() - searchesBefore) / sample.length);
  const kept = paths.length * keptShare;
  if (keptShare < LEAST_KEPT) throw new Error(`of ${paths.length} pages it keeps ${Math.round(kept)}`);
  return {
    pages: paths.length,
    pageBytes: filled.bodyBytes / filled.requests,
    keptShare,
    residentPerPage: (after.resident - before.resident) / kept,
    storePerPage: (after.store - before.store) / kept,
    diskPerPage: (after.disk - before.disk) / kept,
    residentBytes: after.whole,
  };
}

const LEAST_KEPT = 0.05;
