import dns from 'node:dns';
import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../runtime.ts';
import type { ReadHost } from '../doctor.ts';
import type { DnsFacts, HostFacts } from '../facts.ts';
import { median } from '../window.ts';
import { serversAt } from './servers.ts';
import { readQdiscs } from './tc.ts';

interface HostReaderOptions {
  readonly role: HostFacts['role'];
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  /** Where /proc and /sys are; a test has its own. */
  readonly root?: string;
  /** Programs that are tried for `tc`. */
  readonly tc?: readonly string[];
}

/** Reads the host of this process; never rejects. A cheap reading opens files only; a full one runs `tc` and looks names up. */
export function createHostReader({ role, clock, root = '/', tc }: HostReaderOptions): ReadHost {
  const readNames = createNameReader({ clock });

  const memory = async (): Promise<HostFacts['memory']> => {
    const vm = await readFile(join(root, 'proc/vmstat'), 'utf8').catch(() => '');
    const figure = (name: string): number => Number(new RegExp(`^${name} +(\\d+)$`, 'm').exec(vm)?.[1]);
    const known = { swappedIn: figure('pswpin'), swappedOut: figure('pswpout') };
    return Number.isNaN(known.swappedIn + known.swappedOut)
      ? { skipped: 'a figure is missing in /proc/vmstat' }
      : { known };
  };
  return async (depth, names) => {
    const isFull = depth === 'full';
    const wallMs = clock.wallMs();
    // The last four start a program or a thread, ask a resolver, or look at every process.
    const [swap, qdiscs, intrinsic, looked, servers] = await Promise.all([
      memory(),
      isFull ? readQdiscs(tc) : CHEAP,
      isFull ? measureTimers() : CHEAP,
      isFull ? readNames(names).then((known) => ({ known })) : CHEAP,
      isFull ? serversAt(root, wallMs).then((known) => ({ known })) : CHEAP,
    ]);
    return {
      name: hostname(),
      role,
      addresses: addressesHere(),
      wallMs,
      memory: swap,
      qdiscs,
      intrinsic,
      dns: looked,
      servers,
    };
  };
}

const CHEAP = { skipped: 'cheap' };

function addressesHere(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  } catch {
    return [];
  }
}

const TIMERS = 60;
const TIMERS_LIMIT_MS = 1000;

/** A thread of its own, so that the event loop of the service is not measured: it is another figure. */
const TIMER_THREAD = `
  const { parentPort } = require('node:worker_threads');
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const late = [];
  for (let at = 0; at < ${TIMERS}; at += 1) {
    const from = performance.now();
    Atomics.wait(cell, 0, 0, 1);
    late.push(performance.now() - from - 1);
  }
  parentPort.postMessage(late);`;

function measureTimers(): Promise<HostFacts['intrinsic']> {
  return new Promise((resolve) => {
    let worker: Worker;
    try {
      worker = new Worker(TIMER_THREAD, { eval: true, execArgv: [] });
    } catch {
      resolve({ skipped: 'its thread does not start' });
      return;
    }
    const settle = (figure: HostFacts['intrinsic']): void => {
      clearTimeout(limit);
      void worker.terminate();
      resolve(figure);
    };
    const limit = setTimeout(() => settle({ skipped: 'its thread did not end in time' }), TIMERS_LIMIT_MS);
    worker.once('message', (late: readonly number[]) => {
      const medianMs = Math.max(0, median(late) ?? 0);
      settle({ known: { medianMs, maxMs: Math.max(0, ...late), samples: late.length } });
    });
    worker.once('error', () => settle({ skipped: 'its thread failed' }));
  });
}

// --- names ------------------------------------------------------------------------------------------------------------

interface NameReaderOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** As a connection resolves a name. @returns its addresses */
  readonly lookup?: (name: string) => Promise<readonly string[]>;
}

const MAX_NAMES = 16;
/**
 * getaddrinfo holds a thread, and libuv gives it two at a time. With more at once a name would be charged with the time in
 * which it waited for the others.
 */
const AT_ONCE = 2;
const LOOKUP_LIMIT_MS = 1000;
/** After this time no look-up begins any more; the names that are left get no facts. */
const BEGIN_LIMIT_MS = 500;

/** Times the resolution of names. A name whose look-up has no answer yet is not looked up again, because each holds a thread. */
export function createNameReader({ clock, lookup = addressesOf }: NameReaderOptions) {
  const running = new Set<string>();

  const timed = async (name: string): Promise<DnsFacts> => {
    if (running.has(name)) return { name, addresses: [], problem: 'an earlier look-up has no answer yet' };
    running.add(name);
    const startedMs = clock.monotonicMs();
    const looked = lookup(name)
      .then(
        (addresses): DnsFacts => ({ name, lookupMs: clock.monotonicMs() - startedMs, addresses }),
        (error): DnsFacts => ({ name, addresses: [], problem: codeOf(error) }),
      )
      .finally(() => running.delete(name));
    const answered = new AbortController();
    const late = sleep(LOOKUP_LIMIT_MS, undefined, { signal: answered.signal, ref: false }).then(
      (): DnsFacts => ({ name, addresses: [], problem: `no answer within ${LOOKUP_LIMIT_MS} ms` }),
      () => looked,
    );
    const facts = await Promise.race([looked, late]);
    answered.abort();
    return facts;
  };

  return async (names: readonly string[]): Promise<readonly DnsFacts[]> => {
    const startedMs = clock.monotonicMs();
    const found: DnsFacts[] = [];
    const waiting = names.slice(0, MAX_NAMES).values();
    const work = async (): Promise<void> => {
      for (const name of waiting) {
        if (clock.monotonicMs() - startedMs > BEGIN_LIMIT_MS) return;
        found.push(await timed(name));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return found.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  };
}

function addressesOf(name: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(name, { all: true }, (error, found) => {
      if (error === null) resolve(found.map(({ address }) => address));
      else reject(error);
    });
  });
}

function codeOf(error: unknown): string {
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
  return String(error);
}
