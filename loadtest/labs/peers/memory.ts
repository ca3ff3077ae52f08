import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from '../../stack/process.ts';
import type { Lab } from '../kit/lab.ts';
import type { Room } from './peer.ts';
import { fillPages, type Replicas } from './replicas.ts';

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

/** Where Node listens for a debugger, on loopback, once SIGUSR1 told it to. */
const PORT = 9229;
const INSPECTOR = `http://127.0.0.1:${PORT}`;
const OPEN_MS = 5000;
const LOOK_EVERY_MS = 50;
const MOST_ANSWER_MS = 20_000;
/** What one collection leaves behind the next one takes: finalisers, and pages that are given back to the system. */
const TIMES = 2;

export function isNode(pid: number): boolean {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === 'node';
  } catch {
    return false;
  }
}

/**
 * Has a Node process collect all its garbage, by its own debugger: what it keeps can be told from what it only has not thrown
 * away yet, which is several times as much and differs from run to run. The debugger is closed again.
 * @throws when it does not answer, or when another process has that port.
 */
export async function collectGarbage(pid: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await connected(await addressOf(pid));
  try {
    const owner = await inspector.ask('Runtime.evaluate', { expression: 'process.pid' });
    if (!JSON.stringify(owner).includes(`"value":${pid}`)) throw new Error(`another process has ${INSPECTOR}`);
    for (let time = 0; time < TIMES; time += 1) await inspector.ask('HeapProfiler.collectGarbage', {});
    // Later: it waits for its last client, which is the one that asks for this.
    const close = "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 50)";
    await inspector.ask('Runtime.evaluate', { expression: `void ${close}` });
  } finally {
    inspector.close();
  }
  await closed(pid);
}

async function addressOf(pid: number): Promise<string> {
  for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(LOOK_EVERY_MS)) {
    const answer = await fetch(`${INSPECTOR}/json/list`).catch(() => undefined);
    if (answer === undefined) continue;
    const [first]: { webSocketDebuggerUrl?: string }[] = JSON.parse(await answer.text());
    if (first?.webSocketDebuggerUrl !== undefined) return first.webSocketDebuggerUrl;
  }
  throw new Error(`process ${pid} opens no debugger at ${INSPECTOR}`);
}

async function closed(pid: number): Promise<void> {
  for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(LOOK_EVERY_MS)) {
    if (!(await accepts(PORT))) return;
  }
  throw new Error(`process ${pid} leaves its debugger open`);
}

interface Inspector {
  readonly ask: (method: string, parameters: object) => Promise<unknown>;
  readonly close: () => void;
}

async function connected(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const signal = AbortSignal.timeout(MOST_ANSWER_MS);
  const next = (name: 'open' | 'message'): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error('the debugger of a peer does not answer'));
      socket.addEventListener(name, (event) => resolve('data' in event ? event.data : undefined), { once: true });
      socket.addEventListener('close', fail, { once: true });
      signal.addEventListener('abort', fail, { once: true });
    });
  await next('open');
  let id = 0;
  return {
    // One question at a time, and no domain is enabled that would speak unasked.
    ask: async (method, params) => {
      id += 1;
      const answered = next('message');
      socket.send(JSON.stringify({ id, method, params }));
      const { error, result } = JSON.parse(String(await answered));
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    close: () => socket.close(),
  };
}
