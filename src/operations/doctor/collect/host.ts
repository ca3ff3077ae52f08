import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../runtime.ts';
import type { ReadHost } from '../doctor.ts';
import type { HostFacts } from '../facts.ts';
import { median } from '../window.ts';
import { createNameReader } from './names.ts';
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
    const [swap, qdiscs, intrinsic, dns, servers] = await Promise.all([
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
      dns,
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
