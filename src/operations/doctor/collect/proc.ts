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

/** A figure of /proc/meminfo in bytes, or of /proc/vmstat as it is. NaN when it is missing. */
export function memoryBytes(name: string, meminfo: string): number {
  return (numbersAfter(new RegExp(`^${name}: +`, 'm'), meminfo)[0] ?? NaN) * 1024;
}

export function vmstat(name: string, text: string): number {
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

/** Queues of established sockets by their remote address. @param tables /proc/net/tcp and /proc/net/tcp6 */
export function socketsOf(...tables: readonly string[]) {
  const byRemote = new Map<string, { count: number; sendBytes: number; receiveBytes: number }>();
  for (const line of tables.flatMap((table) => table.split('\n').slice(1))) {
    const [, , remote, state, queues] = line.trim().split(/ +/);
    if (remote === undefined || queues === undefined || state !== ESTABLISHED) continue;
    const [send = '0', receive = '0'] = queues.split(':');
    const address = addressOf(remote);
    const sum = byRemote.get(address) ?? { count: 0, sendBytes: 0, receiveBytes: 0 };
    sum.count += 1;
    sum.sendBytes += Number.parseInt(send, 16);
    sum.receiveBytes += Number.parseInt(receive, 16);
    byRemote.set(address, sum);
  }
  return [...byRemote]
    .map(([remote, sum]) => ({ remote, ...sum }))
    .toSorted((a, b) => b.sendBytes + b.receiveBytes - (a.sendBytes + a.receiveBytes))
    .slice(0, MAX_REMOTES);
}

/** `0100007F:1F90` → `127.0.0.1:8080`. The kernel writes addresses as words of four bytes, the lowest byte first. */
function addressOf(written: string): string {
  const [hex = '', port = ''] = written.split(':');
  const bytes = (hex.match(/.{8}/g) ?? [])
    .flatMap((word) => (word.match(/../g) ?? []).reverse())
    .map((byte) => Number.parseInt(byte, 16));
  const mapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  const four = mapped ? bytes.slice(12) : bytes;
  const host =
    four.length === 4
      ? four.join('.')
      : `[${Array.from({ length: 8 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16)).join(':')}]`;
  return `${host}:${Number.parseInt(port, 16)}`;
}

/** cgroup v2 `cpu.stat` with `cpu.max`; undefined without a limit. */
export function throttlingOf(stat: string, max: string) {
  const [quota, period] = max.trim().split(' ');
  if (quota === undefined || quota === 'max' || period === undefined) return undefined;
  return {
    periods: vmstat('nr_periods', stat),
    throttled: vmstat('nr_throttled', stat),
    throttledSeconds: vmstat('throttled_usec', stat) / 1e6,
    limitCores: Number(quota) / Number(period),
  };
}

/** The chosen word of a file such as `always [madvise] never`. */
export function chosenWord(text: string): string {
  return /\[(\w+)\]/.exec(text)?.[1] ?? text.trim();
}
