import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../runtime.ts';
import type { ReadHost } from '../doctor.ts';
import type { HostFacts, Part } from '../facts.ts';
import { median } from '../window.ts';
import { createNameReader } from './names.ts';
import {
  chosenWord,
  column,
  cpuGroupsOf,
  cpuOf,
  createSocketSums,
  interfacesOf,
  memoryBytes,
  named,
  throttlingOf,
} from './proc.ts';
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

const TIMERS = 60;
const TIMERS_LIMIT_MS = 1000;
/** About 110,000 sockets, those in TIME_WAIT included. */
const MAX_TABLE_BYTES = 2 ** 24;
const MAX_INTERFACES = 256;
const KERNEL = ['vm.overcommit_memory', 'vm.swappiness', 'net.core.somaxconn', 'net.ipv4.tcp_max_syn_backlog'] as const;

/** Reads the host of this process; never rejects. A cheap reading opens files only; a full one runs `tc` and looks names up. */
export function createHostReader({ role, clock, root = '/', tc }: HostReaderOptions): ReadHost {
  const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8').catch(() => '');
  const readNames = createNameReader({ clock });

  const throttling = async (): Promise<HostFacts['throttling']> => {
    for (const folder of cpuGroupsOf(await text('proc/self/cgroup'))) {
      const file = (name: string): Promise<string> => text(`${folder}/${name}`);
      const [stat, max] = await Promise.all([file('cpu.stat'), file('cpu.max')]);
      const [quota, period] = await Promise.all([file('cpu.cfs_quota_us'), file('cpu.cfs_period_us')]);
      const found = throttlingOf({ stat, max, quota, period });
      if (found !== undefined) return whole(found, 'its cgroup does not count throttled periods');
    }
    return { skipped: 'no CPU limit is set' };
  };
  const interfaces = async (dev: string): Promise<HostFacts['interfaces']> => {
    const listed = interfacesOf(dev);
    if (listed.length === 0) return { skipped: 'there is no /proc/net/dev' };
    const known = await Promise.all(
      listed.slice(0, MAX_INTERFACES).map(async (one) => {
        const folder = join(root, 'sys/class/net', one.name);
        // Virtual interfaces tell a speed that limits nothing; only those with a device have one.
        const isDevice = await readdir(join(folder, 'device')).then(
          () => true,
          () => false,
        );
        const speedMbit = isDevice ? Number(await text(`sys/class/net/${one.name}/speed`)) : 0;
        return speedMbit > 0 ? { ...one, speedMbit } : one;
      }),
    );
    return { known };
  };
  const descriptors = async (): Promise<HostFacts['descriptors']> => {
    const listed = await readdir(join(root, 'proc/self/fd')).catch(() => undefined);
    const limit = Number(/^Max open files +(\d+)/m.exec(await text('proc/self/limits'))?.[1]);
    return listed === undefined || !Number.isFinite(limit)
      ? { skipped: 'there is no /proc/self' }
      : { known: { open: listed.length, limit } };
  };
  const kernel = async (): Promise<HostFacts['kernel']> => {
    const values = await Promise.all(
      KERNEL.map(async (name) => [name, (await text(`proc/sys/${name.replaceAll('.', '/')}`)).trim()] as const),
    );
    const pages = chosenWord(await text('sys/kernel/mm/transparent_hugepage/enabled'));
    const known = Object.fromEntries(
      [...values, ['transparent_hugepage', pages] as const].filter(([, value]) => value !== ''),
    );
    return Object.keys(known).length === 0 ? { skipped: 'there is no /proc/sys' } : { known };
  };

  const sockets = async (): Promise<HostFacts['sockets']> => {
    const sums = createSocketSums();
    const ends = await Promise.all(
      ['proc/net/tcp', 'proc/net/tcp6'].map((path) => eachLine(join(root, path), MAX_TABLE_BYTES, sums.add)),
    );
    if (ends.includes('longer')) return { skipped: 'the table of sockets is longer than 16 MiB' };
    return ends[0] === 'missing' ? { skipped: 'there is no /proc/net/tcp' } : { known: sums.fullest() };
  };
  /** The parts that start a program or a thread, ask a resolver, or look at every process. */
  const costly = (names: readonly string[]) =>
    settled({
      qdiscs: readQdiscs(tc),
      sockets: sockets(),
      intrinsic: measureTimers(),
      dns: readNames(names).then((known) => ({ known })),
      servers: serversAt(root, clock.wallMs()).then((known) => ({ known })),
    });

  return async (depth, names) => {
    const [stat, meminfo, vm, snmp, netstat, dev] = await Promise.all(
      ['stat', 'meminfo', 'vmstat', 'net/snmp', 'net/netstat', 'net/dev'].map((file) => text(`proc/${file}`)),
    );
    const addresses = addressesHere();
    return {
      ...{ name: hostname(), role, addresses, wallMs: clock.wallMs(), cores: availableParallelism() },
      cpu: whole(cpuOf(stat ?? ''), 'there is no /proc/stat'),
      memory: whole(
        {
          totalBytes: memoryBytes('MemTotal', meminfo ?? ''),
          availableBytes: memoryBytes('MemAvailable', meminfo ?? ''),
          swapTotalBytes: memoryBytes('SwapTotal', meminfo ?? ''),
          swapFreeBytes: memoryBytes('SwapFree', meminfo ?? ''),
          swappedIn: named('pswpin', vm ?? ''),
          swappedOut: named('pswpout', vm ?? ''),
        },
        'a figure is missing in /proc/meminfo or /proc/vmstat',
      ),
      tcp: whole(
        {
          segmentsOut: column('Tcp', 'OutSegs', snmp ?? ''),
          retransmits: column('Tcp', 'RetransSegs', snmp ?? ''),
          listenOverflows: column('TcpExt', 'ListenOverflows', netstat ?? ''),
          listenDrops: column('TcpExt', 'ListenDrops', netstat ?? ''),
          timeouts: column('TcpExt', 'TCPTimeouts', netstat ?? ''),
        },
        'a figure is missing in /proc/net/snmp or /proc/net/netstat',
      ),
      ...(await settled({
        interfaces: interfaces(dev ?? ''),
        throttling: throttling(),
        descriptors: descriptors(),
        kernel: kernel(),
      })),
      ...(depth === 'cheap' ? CHEAP_PARTS : await costly(names)),
    };
  };
}

const CHEAP = { skipped: 'cheap' } as const;
const CHEAP_PARTS = { qdiscs: CHEAP, sockets: CHEAP, intrinsic: CHEAP, dns: CHEAP, servers: CHEAP };

/** All promises of a record. */
async function settled<T extends Readonly<Record<string, unknown>>>(
  parts: T,
): Promise<{ [Name in keyof T]: Awaited<T[Name]> }> {
  const values = await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await part] as const));
  return Object.fromEntries(values) as { [Name in keyof T]: Awaited<T[Name]> };
}

function addressesHere(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  } catch {
    return [];
  }
}

/** Reads piece by piece, so that a long file does not hold up the event loop. Files of /proc do not tell their size. */
async function eachLine(
  path: string,
  maxBytes: number,
  note: (line: string) => void,
): Promise<'read' | 'longer' | 'missing'> {
  let bytes = 0;
  let rest = '';
  try {
    for await (const piece of createReadStream(path, { encoding: 'latin1', end: maxBytes })) {
      bytes += piece.length;
      const lines = `${rest}${piece}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) note(line);
    }
  } catch {
    return 'missing';
  }
  note(rest);
  return bytes > maxBytes ? 'longer' : 'read';
}

/** A part of numbers; missing when one of them is. */
function whole<T extends Readonly<Record<string, number>>>(figures: T, reason: string): Part<T> {
  return Object.values(figures).some((value) => Number.isNaN(value)) ? { skipped: reason } : { known: figures };
}

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
    const settle = (part: HostFacts['intrinsic']): void => {
      clearTimeout(limit);
      void worker.terminate();
      resolve(part);
    };
    const limit = setTimeout(() => settle({ skipped: 'its thread did not end in time' }), TIMERS_LIMIT_MS);
    worker.once('message', (late: readonly number[]) => {
      const medianMs = Math.max(0, median(late) ?? 0);
      settle({ known: { medianMs, maxMs: Math.max(0, ...late), samples: late.length } });
    });
    worker.once('error', () => settle({ skipped: 'its thread failed' }));
  });
}
