import { execFile } from 'node:child_process';
import dns from 'node:dns';
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../runtime.ts';
import type { ReadHost } from '../doctor.ts';
import type { DnsFacts, HostFacts, Part } from '../facts.ts';
import { chosenWord, column, cpuOf, interfacesOf, memoryBytes, socketsOf, throttlingOf, vmstat } from './proc.ts';
import { serversAt } from './servers.ts';
import { qdiscsOf } from './tc.ts';

interface HostReaderOptions {
  readonly role: HostFacts['role'];
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  /** Where /proc and /sys are; a test has its own. */
  readonly root?: string;
}

const run = promisify(execFile);
const TC_LIMIT_MS = 1000;
const DNS_LIMIT_MS = 1500;
const MAX_NAMES = 16;
const TIMERS = 60;
const KERNEL = ['vm.overcommit_memory', 'vm.swappiness', 'net.core.somaxconn', 'net.ipv4.tcp_max_syn_backlog'] as const;
const CHEAP = { skipped: 'cheap' } as const;

/** Reads the host of this process. A cheap reading opens files only; a full one runs `tc` and looks names up. */
export function createHostReader({ role, clock, root = '/' }: HostReaderOptions): ReadHost {
  const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8').catch(() => '');

  const throttling = async (): Promise<HostFacts['throttling']> => {
    const group = /^0::(.*)$/m.exec(await text('proc/self/cgroup'))?.[1] ?? '/';
    const folder = join('sys/fs/cgroup', group);
    const found = throttlingOf(await text(join(folder, 'cpu.stat')), await text(join(folder, 'cpu.max')));
    return found === undefined ? { skipped: 'no CPU limit of cgroup v2 is set' } : { known: found };
  };
  const interfaces = async (dev: string): Promise<HostFacts['interfaces']> => {
    const listed = interfacesOf(dev);
    if (listed.length === 0) return { skipped: 'there is no /proc/net/dev' };
    const known = await Promise.all(
      listed.map(async (one) => {
        const speedMbit = Number(await text(`sys/class/net/${one.name}/speed`));
        return speedMbit > 0 ? { ...one, speedMbit } : one;
      }),
    );
    return { known };
  };
  const descriptors = async (): Promise<HostFacts['descriptors']> => {
    const open = await readdir(join(root, 'proc/self/fd')).catch(() => undefined);
    const limit = Number(/^Max open files +(\d+)/m.exec(await text('proc/self/limits'))?.[1]);
    return open === undefined || !Number.isFinite(limit)
      ? { skipped: 'there is no /proc/self' }
      : { known: { open: open.length, limit } };
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

  return async (depth, names) => {
    const [stat, meminfo, vm, snmp, netstat, dev] = await Promise.all(
      ['stat', 'meminfo', 'vmstat', 'net/snmp', 'net/netstat', 'net/dev'].map((file) => text(`proc/${file}`)),
    );
    const isFull = depth === 'full';
    const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
    return {
      ...{ name: hostname(), role, addresses, wallMs: clock.wallMs(), cores: availableParallelism() },
      cpu: whole(cpuOf(stat ?? ''), 'there is no /proc/stat'),
      memory: whole(
        {
          totalBytes: memoryBytes('MemTotal', meminfo ?? ''),
          availableBytes: memoryBytes('MemAvailable', meminfo ?? ''),
          swapTotalBytes: memoryBytes('SwapTotal', meminfo ?? ''),
          swapFreeBytes: memoryBytes('SwapFree', meminfo ?? ''),
          swappedIn: vmstat('pswpin', vm ?? ''),
          swappedOut: vmstat('pswpout', vm ?? ''),
        },
        'there is no /proc/meminfo',
      ),
      tcp: whole(
        {
          segmentsOut: column('Tcp', 'OutSegs', snmp ?? ''),
          retransmits: column('Tcp', 'RetransSegs', snmp ?? ''),
          listenOverflows: column('TcpExt', 'ListenOverflows', netstat ?? ''),
          listenDrops: column('TcpExt', 'ListenDrops', netstat ?? ''),
          timeouts: column('TcpExt', 'TCPTimeouts', netstat ?? ''),
        },
        'there is no /proc/net/snmp',
      ),
      interfaces: await interfaces(dev ?? ''),
      throttling: await throttling(),
      descriptors: await descriptors(),
      kernel: await kernel(),
      ...(isFull ? await costly(names, text, root, clock) : { ...ABSENT }),
    };
  };
}

const ABSENT = { qdiscs: CHEAP, sockets: CHEAP, intrinsic: CHEAP, dns: CHEAP, servers: CHEAP };

/** The parts that start a process, ask a resolver or read every process. */
async function costly(
  names: readonly string[],
  text: (path: string) => Promise<string>,
  root: string,
  clock: Pick<Clock, 'monotonicMs'>,
) {
  const [qdiscs, sockets, intrinsic, resolved, servers] = await Promise.all([
    readQdiscs(),
    Promise.all([text('proc/net/tcp'), text('proc/net/tcp6')]).then((tables) => ({ known: socketsOf(...tables) })),
    measureTimers(),
    resolveNames(names, clock),
    serversAt(root).then((known) => ({ known })),
  ]);
  return { qdiscs, sockets, intrinsic, dns: resolved, servers };
}

/** A part of numbers; missing when one of them is. */
function whole<T extends Readonly<Record<string, number>>>(figures: T, reason: string): Part<T> {
  return Object.values(figures).some((value) => Number.isNaN(value)) ? { skipped: reason } : { known: figures };
}

async function readQdiscs(): Promise<HostFacts['qdiscs']> {
  // On Debian it is in a folder of root's PATH only.
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  try {
    const { stdout } = await run('tc', ['-s', '-d', 'qdisc', 'show'], { env, timeout: TC_LIMIT_MS });
    return { known: qdiscsOf(stdout) };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { skipped: isMissing ? 'the program tc is missing (package iproute2)' : 'tc does not show the disciplines' };
  }
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
    const worker = new Worker(TIMER_THREAD, { eval: true, execArgv: [] });
    const limit = setTimeout(() => settle({ skipped: 'its thread did not end in time' }), TC_LIMIT_MS);
    const settle = (part: HostFacts['intrinsic']): void => {
      clearTimeout(limit);
      void worker.terminate();
      resolve(part);
    };
    worker.once('message', (late: readonly number[]) => {
      const sorted = late.toSorted((a, b) => a - b);
      const medianMs = Math.max(0, sorted[Math.floor(sorted.length / 2)] ?? 0);
      settle({ known: { medianMs, maxMs: Math.max(0, sorted.at(-1) ?? 0), samples: sorted.length } });
    });
    worker.once('error', () => settle({ skipped: 'its thread failed' }));
  });
}

async function resolveNames(names: readonly string[], clock: Pick<Clock, 'monotonicMs'>): Promise<HostFacts['dns']> {
  return { known: await Promise.all(names.slice(0, MAX_NAMES).map((name) => resolveName(name, clock))) };
}

/** As a connection resolves it (getaddrinfo); the TTL is asked of a DNS server beside it. */
async function resolveName(name: string, clock: Pick<Clock, 'monotonicMs'>): Promise<DnsFacts> {
  const startedMs = clock.monotonicMs();
  const looked = new Promise<DnsFacts>((resolve) => {
    const late = setTimeout(
      () => resolve({ name, addresses: [], problem: `no answer within ${DNS_LIMIT_MS} ms` }),
      DNS_LIMIT_MS,
    );
    dns.lookup(name, { all: true }, (error, found) => {
      clearTimeout(late);
      const lookupMs = clock.monotonicMs() - startedMs;
      if (error !== null) resolve({ name, addresses: [], problem: error.code ?? error.message });
      else resolve({ name, lookupMs, addresses: found.map(({ address }) => address) });
    });
  });
  const [facts, ttlSeconds] = await Promise.all([looked, ttlOf(name)]);
  return ttlSeconds === undefined ? facts : { ...facts, ttlSeconds };
}

async function ttlOf(name: string): Promise<number | undefined> {
  const resolver = new dns.promises.Resolver({ timeout: DNS_LIMIT_MS / 3, tries: 1 });
  const records = await resolver.resolve4(name, { ttl: true }).catch(() => []);
  return records.length === 0 ? undefined : Math.min(...records.map(({ ttl }) => ttl));
}
