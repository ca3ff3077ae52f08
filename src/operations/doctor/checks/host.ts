import type { Check, Observation } from '../check.ts';
import { known, type ServerFacts } from '../facts.ts';
import {
  cpuShares,
  dataNodesOf,
  fine,
  type HostView,
  hostPartOf,
  hostsOf,
  isAt,
  MIN_CPU_SECONDS,
  type NodeView,
  reasonOf,
  skipped,
  stateAbove,
} from '../window.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const CPU_MINIMUM = `${MIN_CPU_SECONDS} s of CPU time between two readings`;
const CPU_TOO_SHORT = `less than ${MIN_CPU_SECONDS} s of CPU time`;

/** Store servers that run on the host. */
function storesOn({ now }: HostView): readonly ServerFacts[] {
  return (known(now.servers) ?? []).filter(({ program }) => /^(redis|valkey|keydb)-server$/.test(program));
}

const STEAL = { raises: 0.05, clears: 0.02 };

const steal: Check = {
  id: 'host-steal',
  area: 'host',
  severity: 'warning',
  title: 'the hardware gives processor time to other guests',
  needs: ['host'],
  minimum: CPU_MINIMUM,
  raises: `≥ ${percent(STEAL.raises)} of the CPU time is stolen`,
  clears: `below ${percent(STEAL.clears)}`,
  why: 'Every process of this host stops meanwhile, and none of them can show it.',
  source: 'proc(5): steal',
  look: (window) =>
    hostsOf(window).map((host): Observation => {
      const { subject, now } = host;
      const shares = cpuShares(host);
      if (shares === undefined) return skipped(subject, reasonOf(now.cpu) || CPU_TOO_SHORT);
      const state = stateAbove(shares.stolen, STEAL);
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `${percent(shares.stolen)} of the CPU time was stolen, ${percent(shares.busy)} was used.`,
        figures: { stolenShare: shares.stolen, busyShare: shares.busy },
        advice: ['Ask for dedicated cores or another machine; show it: vmstat 1 (column st)'],
      };
    }),
};

const BUSY = { raises: 0.95, clears: 0.85 };

const cpuFull: Check = {
  id: 'host-cpu-full',
  area: 'host',
  severity: 'info',
  title: 'all processors of a host are busy',
  needs: ['host'],
  minimum: CPU_MINIMUM,
  raises: `≥ ${percent(BUSY.raises)} busy`,
  clears: `below ${percent(BUSY.clears)}`,
  why: 'Latencies measured meanwhile are those of waiting for a processor.',
  source: 'proc(5)',
  look: (window) =>
    hostsOf(window).map((host): Observation => {
      const { subject, now } = host;
      const shares = cpuShares(host);
      if (shares === undefined) return skipped(subject, reasonOf(now.cpu) || CPU_TOO_SHORT);
      const state = stateAbove(shares.busy, BUSY);
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `${percent(shares.busy)} of ${now.cores} processors were used.`,
        figures: { busyShare: shares.busy, cores: now.cores },
        advice: ['By whom: top -b -n1 | head -15'],
      };
    }),
};

const THROTTLED = { periods: 5, raises: 0.05, clears: 0.01 };

const throttling: Check = {
  id: 'host-throttling',
  area: 'host',
  severity: 'warning',
  title: 'the CPU limit of the container stops its processes',
  needs: ['host'],
  minimum: `${THROTTLED.periods} periods of 100 ms with a CPU limit`,
  raises: `≥ ${percent(THROTTLED.raises)} of the periods are throttled`,
  clears: `below ${percent(THROTTLED.clears)}`,
  why: 'A throttled process stops for the rest of the period, up to 100 ms: twice the deadline of a read.',
  source: 'kernel documentation, “CFS Bandwidth Control”: nr_throttled',
  look: (window) =>
    hostsOf(window).map(({ subject, now, before }): Observation => {
      const [own, then] = [known(now.throttling), before === undefined ? undefined : known(before.throttling)];
      if (own === undefined || then === undefined)
        return skipped(subject, reasonOf(now.throttling) || 'read once only');
      const periods = own.periods - then.periods;
      if (periods < THROTTLED.periods) return skipped(subject, `fewer than ${THROTTLED.periods} periods`);
      const throttled = own.throttled - then.throttled;
      const state = stateAbove(throttled / periods, THROTTLED);
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `${throttled} of ${periods} periods were throttled, with a limit of ${own.limitCores} cores.`,
        figures: { throttled, periods, limitCores: own.limitCores },
        advice: ['Raise or remove the CPU limit of the container; keep its request.'],
      };
    }),
};

const DESCRIPTORS = { raises: 0.8, clears: 0.7 };

const descriptors: Check = {
  id: 'host-descriptors',
  area: 'host',
  severity: 'warning',
  title: 'serpcache has used most of its file descriptors',
  needs: ['host'],
  minimum: 'none',
  raises: `≥ ${percent(DESCRIPTORS.raises)} of the limit`,
  clears: `below ${percent(DESCRIPTORS.clears)}`,
  why: 'At the limit no connection is accepted, and none to a store or an engine is opened.',
  source: 'getrlimit(2): RLIMIT_NOFILE',
  look: (window) =>
    hostsOf(window)
      .filter(({ now }) => now.role === 'service')
      .map(({ subject, now }): Observation => {
        const own = known(now.descriptors);
        if (own === undefined) return skipped(subject, reasonOf(now.descriptors));
        const state = stateAbove(own.open / own.limit, DESCRIPTORS);
        if (state === 'fine') return fine(subject);
        return {
          subject,
          state,
          evidence: `${own.open} of ${own.limit} descriptors are open.`,
          figures: { open: own.open, limit: own.limit },
          advice: ['LimitNOFILE=65536 in its unit', 'Or lower public.maxConnections.'],
        };
      }),
};

/** A setting of a host with store servers. */
function storeSetting(
  host: HostView,
  isWrong: (value: string) => boolean,
  name: string,
  observe: (value: string) => Observation,
): Observation {
  const { subject, now } = host;
  const kernel = known(now.kernel);
  const servers = known(now.servers);
  if (kernel === undefined || servers === undefined)
    return skipped(subject, reasonOf(now.kernel) || reasonOf(now.servers));
  const value = kernel[name];
  if (value === undefined) return skipped(subject, `the kernel does not tell ${name}`);
  return storesOn(host).length > 0 && isWrong(value) ? observe(value) : fine(subject);
}

const pages: Check = {
  id: 'host-thp',
  area: 'host',
  severity: 'warning',
  title: 'transparent huge pages are always on beside a store server',
  needs: ['host', 'servers'],
  minimum: 'a store server runs on this host',
  raises: 'transparent_hugepage is always',
  clears: 'otherwise',
  why: 'After a fork a write of one byte copies two megabytes: latency and memory grow together.',
  source: 'Redis documentation, “Diagnosing latency issues”: transparent huge pages',
  look: (window) =>
    hostsOf(window).map((host) =>
      storeSetting(
        host,
        (value) => value === 'always',
        'transparent_hugepage',
        (value) => ({
          subject: host.subject,
          state: 'raise',
          evidence: `transparent_hugepage is ${value}, and store servers run here: ${storesOn(host).length}.`,
          figures: { value, servers: storesOn(host).length },
          advice: ['echo madvise > /sys/kernel/mm/transparent_hugepage/enabled'],
        }),
      ),
    ),
};

const overcommit: Check = {
  id: 'host-overcommit',
  area: 'host',
  severity: 'warning',
  title: 'the kernel may refuse the fork of a store server that persists or has replicas',
  needs: ['host', 'servers', 'info', 'config'],
  minimum: 'a store server runs on this host',
  raises:
    'vm.overcommit_memory is not 1, and a node on this host has save points, appendonly yes, or replicas for which it forked',
  clears: 'otherwise',
  why: 'A background save needs as much virtual memory again; without overcommit it fails on a host that is half full.',
  source: 'Redis documentation, “Administration”: vm.overcommit_memory = 1',
  look: (window) =>
    hostsOf(window).map((host) => {
      const forking = dataNodesOf(window).filter(
        (view) => isAt(hostPartOf(view.node.address), host.now) && forks(view),
      );
      return storeSetting(
        host,
        (value) => value !== '1' && forking.length > 0,
        'vm.overcommit_memory',
        (value) => ({
          subject: host.subject,
          state: 'raise',
          evidence: `vm.overcommit_memory is ${value}, and these nodes on this host fork: ${forking.map(({ node }) => node.address).join(', ')}.`,
          figures: { value, nodes: forking.length },
          advice: ['sysctl -w vm.overcommit_memory=1', 'Or let nothing fork: save "", appendonly no, no replicas.'],
        }),
      );
    }),
};

/** It will fork: it saves, or it has copied its data to replicas and will again. Without CONFIG, a fork of the past counts. */
function forks({ level, config }: NodeView): boolean {
  const save = config('save');
  if (level('aof_enabled') === 1 || (save ?? '') !== '') return true;
  return (level('total_forks') ?? 0) > 0 && (save === undefined || (level('connected_slaves') ?? 0) > 0);
}

const SOMAXCONN = 511;

const somaxconn: Check = {
  id: 'host-somaxconn',
  area: 'host',
  severity: 'info',
  title: 'the kernel cuts the listen queue of a store server',
  needs: ['host', 'servers'],
  minimum: 'a store server runs on this host',
  raises: `net.core.somaxconn below ${SOMAXCONN}`,
  clears: 'otherwise',
  why: 'When a fleet reconnects at once, connections beyond the queue wait a second.',
  source: 'Redis configuration file, “tcp-backlog”',
  look: (window) =>
    hostsOf(window).map((host) =>
      storeSetting(
        host,
        (value) => Number(value) < SOMAXCONN,
        'net.core.somaxconn',
        (value) => ({
          subject: host.subject,
          state: 'raise',
          evidence: `net.core.somaxconn is ${value}.`,
          figures: { value: Number(value) },
          advice: ['sysctl -w net.core.somaxconn=4096'],
        }),
      ),
    ),
};

const SWAPPED = { raises: 100, clears: 10 };

const swap: Check = {
  id: 'host-swap',
  area: 'host',
  severity: 'warning',
  title: 'a host swaps',
  needs: ['host'],
  minimum: 'two readings',
  raises: `≥ ${SWAPPED.raises} pages in and out a second`,
  clears: `below ${SWAPPED.clears}`,
  why: 'A page that comes from the disk stops a single-threaded server for milliseconds.',
  source: 'Redis documentation, “Diagnosing latency issues”: swapping; vmstat(8)',
  look: (window) =>
    hostsOf(window).map(({ subject, now, before, seconds }): Observation => {
      const [own, then] = [known(now.memory), before === undefined ? undefined : known(before.memory)];
      if (own === undefined || then === undefined) return skipped(subject, reasonOf(now.memory) || 'read once only');
      const moved = own.swappedIn - then.swappedIn + own.swappedOut - then.swappedOut;
      const perSecond = seconds > 0 ? moved / seconds : 0;
      const state = stateAbove(perSecond, SWAPPED);
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `${perSecond.toFixed(0)} pages a second are swapped.`,
        figures: { pagesPerSecond: perSecond },
        advice: [
          'sysctl -w vm.swappiness=1',
          'Lower maxmemory of the store, or memory.maxBytes.',
          'Whose: grep VmSwap /proc/*/status',
        ],
      };
    }),
};

const AVAILABLE = { raises: 0.05, clears: 0.08 };

const memory: Check = {
  id: 'host-memory',
  area: 'host',
  severity: 'warning',
  title: 'a host has nearly no memory left',
  needs: ['host'],
  minimum: 'none',
  raises: `less than ${percent(AVAILABLE.raises)} available`,
  clears: `${percent(AVAILABLE.clears)} available`,
  why: 'The kernel reclaims pages in the middle of requests, and ends a process when there are none.',
  source: 'proc(5): MemAvailable',
  look: (window) =>
    hostsOf(window).map(({ subject, now }): Observation => {
      const own = known(now.memory);
      if (own === undefined) return skipped(subject, reasonOf(now.memory));
      const share = own.availableBytes / own.totalBytes;
      if (share >= AVAILABLE.clears) return fine(subject);
      return {
        subject,
        state: share < AVAILABLE.raises ? 'raise' : 'hold',
        evidence: `${(own.availableBytes / 2 ** 20).toFixed(0)} of ${(own.totalBytes / 2 ** 20).toFixed(0)} MiB are available.`,
        figures: { availableBytes: own.availableBytes, totalBytes: own.totalBytes },
        advice: ['Lower maxmemory of the store, or memory.maxBytes.', 'Who has it: ps -eo rss,comm --sort=-rss | head'],
      };
    }),
};

export const HOST_CHECKS: readonly Check[] = [
  ...[steal, cpuFull, throttling, descriptors, pages, overcommit, somaxconn, swap, memory],
];
