/** Files of /proc and /sys as figures. The formats are those of proc(5) and of the kernel's documentation. */

const TICKS_PER_SECOND = 100;

/** The numbers after a word at the beginning of a line. Empty when it is missing. */
export function numbersAfter(start: RegExp, text: string): readonly number[] {
  const found = start.exec(text);
  if (found === null) return [];
  const [line = ''] = text.slice(found.index + found[0].length).split('\n', 1);
  return line.trim().split(/ +/).map(Number);
}

/** Each protocol has two lines: the names of the figures, then the figures. NaN when it is missing. */
export function column(protocol: string, name: string, text: string): number {
  const [names = [], figures = []] = text
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}: `))
    .map((line) => line.trim().split(/ +/));
  return Number(figures[names.indexOf(name)]);
}

/** Times of all processors together since boot, from /proc/stat; in seconds. NaN on an unknown kernel. */
export function cpuOf(stat: string) {
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
export function memoryBytes(name: string, meminfo: string): number {
  return (numbersAfter(new RegExp(`^${name}: +`, 'm'), meminfo)[0] ?? NaN) * 1024;
}

/** A figure of a file of names and numbers, such as /proc/vmstat and cpu.stat. NaN when it is missing. */
export function named(name: string, text: string): number {
  return numbersAfter(new RegExp(`^${name} `, 'm'), text)[0] ?? NaN;
}

/** The lines of /proc/net/dev. */
export function interfacesOf(dev: string) {
  return dev.split('\n').flatMap((line) => {
    const [, name, figures = ''] = /^ *([^:\s]+): *(.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const [receivedBytes = 0, , , receiveDrops = 0, , , , , sentBytes = 0, , , sendDrops = 0] = figures
      .trim()
      .split(/ +/)
      .map(Number);
    return [{ name, receivedBytes, sentBytes, dropped: receiveDrops + sendDrops }];
  });
}

const ESTABLISHED = '01';
const MAX_REMOTES = 20;

/** Queues of established sockets by their remote address, from the lines of /proc/net/tcp and /proc/net/tcp6. */
export function createSocketSums() {
  const addresses = new Map<string, string>();
  const byRemote = new Map<string, { count: number; sendBytes: number; receiveBytes: number }>();
  const add = (line: string): void => {
    const [, , remote, state, queues] = line.trim().split(/ +/, 5);
    if (remote === undefined || queues === undefined || state !== ESTABLISHED) return;
    const [send = '0', receive = '0'] = queues.split(':');
    const address = addresses.get(remote) ?? addressOf(remote);
    addresses.set(remote, address);
    const sum = byRemote.get(address) ?? { count: 0, sendBytes: 0, receiveBytes: 0 };
    sum.count += 1;
    sum.sendBytes += Number.parseInt(send, 16);
    sum.receiveBytes += Number.parseInt(receive, 16);
    byRemote.set(address, sum);
  };
  return {
    add,
    fullest: () =>
      [...byRemote]
        .map(([remote, sum]) => ({ remote, ...sum }))
        .toSorted((a, b) => b.sendBytes + b.receiveBytes - (a.sendBytes + a.receiveBytes))
        .slice(0, MAX_REMOTES),
  };
}

/** `0100007F:1F90` → `127.0.0.1:8080`. The kernel writes addresses as words of four bytes, the lowest byte first. */
function addressOf(written: string): string {
  const [hex = '', port = ''] = written.split(':');
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).toReversed().map((byte) => Number.parseInt(byte, 16)),
  );
  const isMapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  const four = isMapped ? bytes.slice(12) : bytes;
  return `${four.length === 4 ? four.join('.') : shortened(bytes)}:${Number.parseInt(port, 16)}`;
}

/** `[2001:db8::1]`, as configurations write it. */
function shortened(bytes: readonly number[]): string {
  const words = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${words.join(':')}]`).hostname;
}

/**
 * The folders that may hold the CPU limit of this process, its own cgroup first: a limit of a parent holds too. In a container
 * the path is often that of the machine, and then only the last folder exists.
 * @param groups /proc/self/cgroup
 */
export function cpuGroupsOf(groups: string): readonly string[] {
  return groups.split('\n').flatMap((line) => {
    const [, controllers, path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || !(controllers === '' || controllers.split(',').includes('cpu'))) return [];
    const names = path.split('/').filter((name) => name !== '');
    const top = controllers === '' ? 'sys/fs/cgroup' : `sys/fs/cgroup/${controllers}`;
    return Array.from({ length: names.length + 1 }, (_, up) =>
      [top, ...names.slice(0, names.length - up)].join('/'),
    ).slice(-MAX_GROUPS);
  });
}

const MAX_GROUPS = 12;

/** Files of one cgroup; empty when they are missing. `max` is of version 2, `quota` and `period` are of version 1. */
export type CpuGroup = Readonly<Record<'stat' | 'max' | 'quota' | 'period', string>>;

/** @returns undefined without a limit */
export function throttlingOf({ stat, max, quota, period }: CpuGroup) {
  const [limit = '', length = ''] = max === '' ? [quota.trim(), period.trim()] : max.trim().split(' ');
  const limitCores = Number(limit) / Number(length);
  // `max` in version 2, -1 in version 1.
  if (limit === '' || !(limitCores > 0) || !Number.isFinite(limitCores)) return undefined;
  const micros = named('throttled_usec', stat);
  return {
    periods: named('nr_periods', stat),
    throttled: named('nr_throttled', stat),
    throttledSeconds: Number.isNaN(micros) ? named('throttled_time', stat) / 1e9 : micros / 1e6,
    limitCores,
  };
}

/** The chosen word of a file such as `always [madvise] never`. */
export function chosenWord(text: string): string {
  return /\[(\w+)\]/.exec(text)?.[1] ?? text.trim();
}
