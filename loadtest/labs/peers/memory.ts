import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from '../../stack/process.ts';
import type { Lab } from '../kit/lab.ts';
import type { Backend } from './peer.ts';
import { fillPages, type Replicas } from './replicas.ts';

export interface MemoryFigures {
  /** Pages that were asked for. */
  readonly pages: number;
  /** Body of a page, on average. */
  readonly pageBytes: number;
  /** Share of those pages that are still cached, by a sample: 0–1. An evicted page takes no memory. */
  readonly keptShare: number;
  /** Growth of resident memory per kept page. Node processes collect their garbage before and after. */
  readonly residentPerPage: number;
  /** Growth of the store's memory per kept page, by its own count. */
  readonly storePerPage: number;
  /** Growth of the replica's files per kept page: they are read from the page cache, which is charged to no process. */
  readonly diskPerPage: number;
  /** Resident memory of the replica with all those pages and its garbage. */
  readonly residentBytes: number;
}

const SAMPLE = 200;
/** Store writes end after the reply, and memory returns to the system when the process is idle. */
const SETTLE_MS = 700;

/**
 * Fills one replica with new pages after it had others, so that its first allocations are not counted.
 * @throws when pages are not answered, or hardly any is kept.
 */
export async function fillMemory(
  lab: Lab,
  backend: Backend,
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
  const searchesBefore = backend.searches();
  await fillPages(lab, replicas.urls, sample, 1);
  const missedShare = (backend.searches() - searchesBefore) / sample.length;
  return memoryFiguresOf({ before, after, pages: paths.length, filled, missedShare });
}

/** Bytes. */
interface MemoryLook {
  /** All processes of the replica, with garbage and without. */
  readonly whole: number;
  readonly resident: number;
  readonly store: number;
  readonly disk: number;
}

export interface MemoryLooked {
  readonly before: MemoryLook;
  readonly after: MemoryLook;
  /** Number of pages filled between the two readings. */
  readonly pages: number;
  readonly filled: { readonly bodyBytes: number; readonly requests: number };
  /** Sampled pages that reached the engine again. */
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

/** Bytes of a page in process, store and files. */
export function bytesPerPage(of: Pick<MemoryFigures, 'residentPerPage' | 'storePerPage' | 'diskPerPage'>): number {
  return of.residentPerPage + of.storePerPage + of.diskPerPage;
}

/** Where Node listens for a debugger, on loopback, once SIGUSR1 told it to. */
const PORT = 9229;
const INSPECTOR = `http://127.0.0.1:${PORT}`;
const OPEN_MS = 5000;
const LOOK_EVERY_MS = 50;
const MOST_ANSWER_MS = 20_000;
/** Collections in a row: the second one frees objects with finalisers. */
const TIMES = 2;

export function isNode(pid: number): boolean {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === 'node';
  } catch {
    return false;
  }
}

/**
 * Makes a Node process collect all its garbage, by its own debugger. Uncollected garbage is several times as large as the
 * live memory and differs from run to run. The debugger is closed again.
 * @throws when it does not answer, or when another process has that port.
 */
export async function collectGarbage(pid: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await connected(await addressOf(pid));
  try {
    const owner = await inspector.ask('Runtime.evaluate', { expression: 'process.pid' });
    if (!JSON.stringify(owner).includes(`"value":${pid}`)) throw new Error(`another process has ${INSPECTOR}`);
    for (let time = 0; time < TIMES; time += 1) await inspector.ask('HeapProfiler.collectGarbage', {});
    // Later, because closing waits for the last client, which is this one.
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
    // One request at a time, and no debugger domain is enabled that sends events.
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
