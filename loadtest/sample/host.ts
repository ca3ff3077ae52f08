import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { disciplinesOf } from '../../src/operations/doctor/collect/host.ts';
import { cpuSecondsIn, processFile, residentBytesIn, TICKS_PER_SECOND } from '../stack/processors.ts';

const run = promisify(execFile);

/** The machine. Times are of all cores together, since boot. */
export type HostSample = NonNullable<Awaited<ReturnType<ReturnType<typeof createHostReader>>>>;
export type ProcessSample = NonNullable<ReturnType<typeof readProcess>>;

/**
 * @param tc the program of iproute2 that shows queueing disciplines.
 * @returns a reader of the machine on which this process runs. It never rejects; undefined where there is no /proc.
 */
export function createHostReader(tc = 'tc') {
  let disks: ReturnType<typeof disksOf> | undefined;
  let busyMs = 0;
  let hasTc = true;

  /** Undefined where no disk is visible. */
  const readDisks = async () => {
    const now = disksOf(await textOf('/proc/diskstats'));
    if (now.size === 0) return undefined;
    const before = disks ?? now;
    disks = now;
    // Summed here: the disk that was busiest since boot need not be the busiest now.
    const grown = Array.from(now, ([name, disk]) => disk.busyMs - (before.get(name)?.busyMs ?? disk.busyMs));
    busyMs += Math.max(0, ...grown);
    const diskWrittenBytes = Array.from(now.values()).reduce((sum, disk) => sum + disk.writtenBytes, 0);
    return {
      /** Each time those of the busiest disk. */
      diskBusyMs: busyMs,
      diskWrittenBytes,
    };
  };

  /** The packets that queueing disciplines dropped and delayed, loopback included; undefined without `tc`. */
  const readLimiters = async (limitMs: number) => {
    if (!hasTc) return undefined;
    // On Debian it is in a folder of root's PATH only.
    const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
    try {
      const { stdout } = await run(tc, ['-s', 'qdisc', 'show'], { env, timeout: limitMs });
      const { drops, overlimits } = limitersOf(stdout);
      return { limiterDrops: drops, limiterOverlimits: overlimits };
    } catch (error) {
      hasTc = !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
      return undefined;
    }
  };

  return async (limitMs: number) => {
    const reading = Object.entries(HOST_FILES).map(async ([name, path]) => [name, await textOf(path)] as const);
    const [texts, disk, limiters] = await Promise.all([Promise.all(reading), readDisks(), readLimiters(limitMs)]);
    const sample = hostSampleOf(Object.fromEntries(texts) as HostTexts);
    return sample && { ...sample, ...disk, ...limiters };
  };
}

const HOST_FILES = {
  stat: '/proc/stat',
  meminfo: '/proc/meminfo',
  dev: '/proc/net/dev',
  snmp: '/proc/net/snmp',
  netstat: '/proc/net/netstat',
  sockstat: '/proc/net/sockstat',
};
export type HostTexts = Readonly<Record<keyof typeof HOST_FILES, string>>;

/** Empty when it cannot be read. */
function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** @returns undefined when a figure is missing, on an unknown kernel. */
export function hostSampleOf(texts: HostTexts) {
  const loopback = numbersAfter(/^ *lo: */m, texts.dev);
  const sample = {
    cores: texts.stat.match(/^cpu\d/gm)?.length ?? Number.NaN,
    ...cpuOf(texts.stat),
    availableBytes: memoryBytes('MemAvailable', texts.meminfo),
    totalBytes: memoryBytes('MemTotal', texts.meminfo),
    // On loopback everything sent is received, so one direction is counted. Drops are counted by the receiver.
    loopbackBytes: sum([loopback[0]]),
    loopbackDrops: sum([loopback[3]]),
    retransmits: column('Tcp', 'RetransSegs', texts.snmp),
    // These include ListenOverflows.
    listenDrops: column('TcpExt', 'ListenDrops', texts.netstat),
    tcpInUse: numberAfter(/^TCP: inuse +/m, texts.sockstat),
  };
  return Object.values(sample).some((value) => Number.isNaN(value)) ? undefined : sample;
}

/** In /proc/diskstats a sector is 512 bytes on every disk. */
const SECTOR_BYTES = 512;
/** Devices in memory, on files, or on disks that have their own lines. */
const NO_DISK = /^(loop|ram|zram|dm-|md|nbd|sr|fd)\d/;

/** Whole disks by name. @param diskstats /proc/diskstats */
export function disksOf(diskstats: string) {
  const lines = diskstats.split('\n').map((line) => line.trim().split(/ +/));
  const names = lines.flatMap(([, , name]) => name ?? []);
  const disks = new Map<string, { readonly busyMs: number; readonly writtenBytes: number }>();
  for (const [, , name, ...figures] of lines) {
    if (name === undefined || NO_DISK.test(name) || names.some((other) => isPartition(name, other))) continue;
    disks.set(name, { busyMs: Number(figures[9]), writtenBytes: Number(figures[6]) * SECTOR_BYTES });
  }
  return disks;
}

/** `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`: a `p` stands where the disk's name ends in a digit. */
function isPartition(name: string, disk: string): boolean {
  return name.startsWith(disk) && (/\d$/.test(disk) ? /^p\d+$/ : /^\d+$/).test(name.slice(disk.length));
}

/**
 * A discipline reports its drops to its parents, so the outermost ones (and those of incoming packets) know all drops. Each
 * counts only its own delays, except that `mq` adds those of its parts.
 *
 * @param shown `tc -s qdisc show`
 */
export function limitersOf(shown: string) {
  let [drops, overlimits] = [0, 0];
  for (const { kind, handle, parent, dropped, overlimits: heldBack } of disciplinesOf(shown)) {
    // Classes stand in `tc -s class show`, and their discipline counts for them.
    if (!handle.endsWith(':')) continue;
    if (parent === 'root' || parent === 'ffff:fff1') drops += dropped;
    if (kind !== 'mq' && kind !== 'mqprio') overlimits += heldBack;
  }
  return { drops, overlimits };
}

function numberAfter(start: RegExp, text: string): number {
  return sum([numbersAfter(start, text)[0]]);
}

/** NaN when one of them is missing. */
function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((all, value) => all + (value ?? Number.NaN), 0);
}

export interface NamedProcess {
  readonly name: string;
  readonly pid: number;
}

/** With all its threads, without its children. Undefined when it has ended, for a zombie, and without /proc. */
export function readProcess({ name, pid }: NamedProcess) {
  const cpuSeconds = cpuSecondsIn(processFile(pid, 'stat'));
  const residentBytes = residentBytesIn(processFile(pid, 'status'));
  return cpuSeconds === undefined || residentBytes === undefined ? undefined : { name, cpuSeconds, residentBytes };
}

// Files of /proc as figures. The formats are those of proc(5) and of the kernel's documentation.

/** The numbers after a word at the beginning of a line. Empty when it is missing. */
function numbersAfter(start: RegExp, text: string): readonly number[] {
  const found = start.exec(text);
  if (found === null) return [];
  const [line = ''] = text.slice(found.index + found[0].length).split('\n', 1);
  return line.trim().split(/ +/).map(Number);
}

/** Each protocol has two lines: the names of the figures, then the figures. NaN when it is missing. */
function column(protocol: string, name: string, text: string): number {
  const [names = [], figures = []] = text
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}: `))
    .map((line) => line.trim().split(/ +/));
  return Number(figures[names.indexOf(name)]);
}

/** Times of all processors together since boot, from /proc/stat; in seconds. NaN on an unknown kernel. */
function cpuOf(stat: string) {
  // `guest` is in `user` already, and `guest_nice` in `nice`: proc(5).
  const [user = NaN, nice = NaN, system = NaN, idle = NaN, iowait = NaN, irq = NaN, softirq = NaN, steal = NaN] =
    numbersAfter(/^cpu +/m, stat);
  return {
    busySeconds: (user + nice + system + irq + softirq) / TICKS_PER_SECOND,
    // A processor that waits for a disk is idle: another process may use it.
    idleSeconds: (idle + iowait) / TICKS_PER_SECOND,
    stolenSeconds: steal / TICKS_PER_SECOND,
  };
}

/** A figure of /proc/meminfo in bytes. NaN when it is missing. */
function memoryBytes(name: string, meminfo: string): number {
  return (numbersAfter(new RegExp(`^${name}: +`, 'm'), meminfo)[0] ?? NaN) * 1024;
}
