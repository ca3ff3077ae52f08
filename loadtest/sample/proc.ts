/** Files of /proc as figures. The formats are those of proc(5) and of the kernel's documentation. */

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
