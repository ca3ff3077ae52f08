import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type DiskSample, disksOf, hostSampleOf, type LimiterSample, limitersOf } from './host-sample.ts';
import type { HostSample } from './sample.ts';

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
