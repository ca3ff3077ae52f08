import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../../kit/lab.ts';
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
  /** Of its files: reads are from the system's memory, which no process is charged with. */
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
  const look = async (): Promise<MemoryLook> => {
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
  const missedShare = (room.searches() - searchesBefore) / sample.length;
  return memoryFiguresOf({ before, after, pages: paths.length, filled, missedShare });
}

/** Bytes. */
interface MemoryLook {
  /** Of all processes, with garbage and without. */
  readonly whole: number;
  readonly resident: number;
  readonly store: number;
  readonly disk: number;
}

export interface MemoryLooked {
  readonly before: MemoryLook;
  readonly after: MemoryLook;
  /** How many were filled in between. */
  readonly pages: number;
  readonly filled: { readonly bodyBytes: number; readonly requests: number };
  /** Of a sample of them, asked of the engine again. */
  readonly missedShare: number;
}

const LEAST_KEPT = 0.05;

/** @throws when hardly any is kept */
export function memoryFiguresOf({ before, after, pages, filled, missedShare }: MemoryLooked): MemoryFigures {
  const keptShare = Math.max(0, 1 - missedShare);
  const kept = pages * keptShare;
  if (keptShare < LEAST_KEPT) throw new Error(`of ${pages} pages it keeps ${Math.round(kept)}`);
  return {
    pages,
    pageBytes: filled.bodyBytes / filled.requests,
    keptShare,
    residentPerPage: (after.resident - before.resident) / kept,
    storePerPage: (after.store - before.store) / kept,
    diskPerPage: (after.disk - before.disk) / kept,
    residentBytes: after.whole,
  };
}

/** What a page takes, wherever it lies. */
export function bytesPerPage(of: Pick<MemoryFigures, 'residentPerPage' | 'storePerPage' | 'diskPerPage'>): number {
  return of.residentPerPage + of.storePerPage + of.diskPerPage;
}
