import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { HostSample, ProcessSample } from './sample.ts';

/** The machine this process runs on. */
export interface HostReader {
  /** Never rejects; undefined where there is no /proc. */
  readonly read: (limitMs: number) => Promise<HostSample | undefined>;
}

const run = promisify(execFile);

/** @param tc the program that shows queueing disciplines, of iproute2. */
export function createHostReader(tc = 'tc'): HostReader {
  let disks: ReadonlyMap<string, DiskSample> | undefined;
  let busyMs = 0;
  let hasTc = true;

  const readDisks = async (): Promise<Pick<HostSample, 'diskBusyMs' | 'diskWrittenBytes'>> => {
    const now = disksOf(await readFile('/proc/diskstats', 'utf8').catch(() => ''));
    if (now.size === 0) return {};
    const before = disks ?? now;
    disks = now;
    // Counted here and not in the kernel: the disk that had most to do since boot need not be the one that has now.
    const grown = Array.from(now, ([name, disk]) => disk.busyMs - (before.get(name)?.busyMs ?? disk.busyMs));
    busyMs += Math.max(0, ...grown);
    const diskWrittenBytes = Array.from(now.values()).reduce((sum, disk) => sum + disk.writtenBytes, 0);
    return { diskBusyMs: busyMs, diskWrittenBytes };
  };

  const readLimiters = async (limitMs: number): Promise<LimiterSample | undefined> => {
    if (!hasTc) return undefined;
    // Debian keeps it where only root's PATH leads.
    const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
    try {
      const { stdout } = await run(tc, ['-s', 'qdisc', 'show'], { env, timeout: limitMs });
      return limitersOf(stdout);
    } catch (error) {
      hasTc = !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
      return undefined;
    }
  };

  return {
    read: async (limitMs) => {
      const file = (path: string): Promise<string> => readFile(`/proc/${path}`, 'utf8').catch(() => '');
      const [stat, meminfo, dev, snmp, netstat, sockstat, disk, limiters] = await Promise.all([
        file('stat'),
        file('meminfo'),
        file('net/dev'),
        file('net/snmp'),
        file('net/netstat'),
        file('net/sockstat'),
        readDisks(),
        readLimiters(limitMs),
      ]);
      const sample = hostSampleOf({ stat, meminfo, dev, snmp, netstat, sockstat });
      if (sample === undefined) return undefined;
      const limiter = limiters && { limiterDrops: limiters.drops, limiterOverlimits: limiters.overlimits };
      return { ...sample, ...disk, ...limiter };
    },
  };
}

/** Texts of the files in /proc that a sample of the machine is made of. */
export interface HostTexts {
  readonly stat: string;
  readonly meminfo: string;
  /** Of /proc/net. */
  readonly dev: string;
  readonly snmp: string;
  readonly netstat: string;
  readonly sockstat: string;
}

/** @returns undefined when a figure is missing: the kernel is no Linux we know. */
export function hostSampleOf(texts: HostTexts): HostSample | undefined {
  const ticks = numbersAfter(/^cpu +/m, texts.stat);
  // `guest` is in `user` already, and `guest_nice` in `nice`: proc(5).
  const [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
  const loopback = numbersAfter(/^ *lo: */m, texts.dev);
  const sample: HostSample = {
    cores: texts.stat.match(/^cpu\d/gm)?.length ?? Number.NaN,
    busySeconds: sum([user, nice, system, irq, softirq]) / TICKS_PER_SECOND,
    // Waiting for a disk is idle: the core is there for whoever wants it.
    idleSeconds: sum([idle, iowait]) / TICKS_PER_SECOND,
    stolenSeconds: sum([steal]) / TICKS_PER_SECOND,
    availableBytes: kilobytes('MemAvailable', texts.meminfo) * 1024,
    totalBytes: kilobytes('MemTotal', texts.meminfo) * 1024,
    // What loopback sends it receives: one direction is all there is. Drops are only counted where they are received.
    loopbackBytes: sum([loopback[0]]),
    loopbackDrops: sum([loopback[3]]),
    retransmits: column('Tcp', 'RetransSegs', texts.snmp),
    // ListenOverflows are counted here as well.
    listenDrops: column('TcpExt', 'ListenDrops', texts.netstat),
    tcpInUse: numberAfter(/^TCP: inuse +/m, texts.sockstat),
  };
  return Object.values(sample).some((value) => Number.isNaN(value)) ? undefined : sample;
}

export interface DiskSample {
  readonly busyMs: number;
  readonly writtenBytes: number;
}

/** Sectors are 512 bytes here, whatever they are on the disk. */
const SECTOR_BYTES = 512;
/** In memory, of other files, or of disks that have a line of their own. */
const NO_DISK = /^(loop|ram|zram|dm-|md|nbd|sr|fd)\d/;

/** Whole disks by name. @param diskstats /proc/diskstats */
export function disksOf(diskstats: string): ReadonlyMap<string, DiskSample> {
  const lines = diskstats.split('\n').map((line) => line.trim().split(/ +/));
  const names = lines.flatMap(([, , name]) => name ?? []);
  const disks = new Map<string, DiskSample>();
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

export interface LimiterSample {
  readonly drops: number;
  readonly overlimits: number;
}

/**
 * A discipline inside another tells its parents of what it drops, so the outermost ones (and those of incoming packets)
 * know all drops. What it holds back only itself knows, except that `mq` adds up its parts'.
 *
 * @param shown `tc -s qdisc show`
 */
export function limitersOf(shown: string): LimiterSample {
  let drops = 0;
  let overlimits = 0;
  for (const [, head = '', dropped, heldBack] of shown.matchAll(QDISC)) {
    if (/ root\b| parent ffff:fff1\b/.test(head)) drops += Number(dropped);
    if (!/^mq(prio)? /.test(head)) overlimits += Number(heldBack);
  }
  return { drops, overlimits };
}

const QDISC = /^qdisc (.*)\n\s+Sent .*\(dropped (\d+), overlimits (\d+) /gm;

function numbersAfter(start: RegExp, text: string): readonly number[] {
  const found = start.exec(text);
  if (found === null) return [];
  const [line = ''] = text.slice(found.index + found[0].length).split('\n', 1);
  return line.trim().split(/ +/).map(Number);
}

function numberAfter(start: RegExp, text: string): number {
  return sum([numbersAfter(start, text)[0]]);
}

function kilobytes(name: string, meminfo: string): number {
  return numberAfter(new RegExp(`^${name}: +`, 'm'), meminfo.replaceAll(' kB', ''));
}

/** Two lines a protocol: the names of the figures, then the figures. */
function column(protocol: string, name: string, text: string): number {
  const [names = [], figures = []] = text
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}: `))
    .map((line) => line.trim().split(/ +/));
  return Number(figures[names.indexOf(name)]);
}

/** NaN when one of them is missing. */
function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((all, value) => all + (value ?? Number.NaN), 0);
}

/** Of the unit /proc counts processor time in: 100 on every architecture Node runs on, whatever the kernel's own HZ. */
export const TICKS_PER_SECOND = 100;

export interface NamedProcess {
  readonly name: string;
  readonly pid: number;
}

/** All its threads, none of its children. Undefined when it has ended, or there is no /proc. */
export function readProcess({ name, pid }: NamedProcess): ProcessSample | undefined {
  try {
    return processSampleOf(
      name,
      readFileSync(`/proc/${pid}/stat`, 'utf8'),
      readFileSync(`/proc/${pid}/status`, 'utf8'),
    );
  } catch {
    return undefined;
  }
}

/**
 * @param stat /proc/<pid>/stat
 * @param status /proc/<pid>/status: the same figure as in statm, but in kilobytes and not in pages of unknown size.
 * @returns undefined of a process that has ended and was not waited for: it has no memory any more.
 */
export function processSampleOf(name: string, stat: string, status: string): ProcessSample | undefined {
  // The program's name comes second and may hold spaces and brackets; proc(5) counts the fields from 1.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  const cpuTicks = field(14) + field(15);
  const residentKb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (!Number.isFinite(cpuTicks) || residentKb === undefined) return undefined;
  return { name, cpuSeconds: cpuTicks / TICKS_PER_SECOND, residentBytes: Number(residentKb) * 1024 };
}
