import type { Second } from '../../loadtest/judge/record.ts';
import type { SeenOutcome } from '../../loadtest/k6/kit/outcome.ts';
import type { HostSample } from '../../loadtest/sample/host.ts';
import type { ReplicaSample, Sample } from '../../loadtest/sample/sample.ts';

/** The figures of a service and its parts in one second of a fake run. */
export interface Moment {
  readonly atMs: number;
  /** Searches a second. */
  readonly rate: number;
  /** 0–1 */
  readonly hitRatio: number;
  /** 0–1, as a share of the searches. */
  readonly shedShare: number;
  readonly p99Ms: number;
  readonly dropped: number;
}

/** The figures that stay the same during the whole run. */
export interface Deployment {
  readonly replicas: number;
  readonly cores: number;
  readonly vusCap: number;
  /** Whether stores, processes and the host are sampled, or only the replicas. */
  readonly isLocal: boolean;
}

const DOMAINS = [
  { domain: 'goods', share: 0.7 },
  { domain: 'packages', share: 0.3 },
];
const NODES = ['goods-1', 'goods-2', 'goods-3', 'packages-1', 'packages-2', 'packages-3'];
const MIB = 2 ** 20;
/** Maximum number of keys of a node: more than a run of a few minutes writes. */
const KEYS = 12_000;
/** Engine slots of a domain, for all replicas together. */
const SLOTS = 4;
/** CPU time of searchd per call, and duration of a call. */
const CALL_CPU_SECONDS = 2.4e-3;
const CALL_SECONDS = 0.012;

/** A reproducible variation of a few per cent up and down. */
export function wobble(at: number, by = 0.03): number {
  return 1 + by * Math.sin(at * 12.9898) * Math.cos(at * 4.1414);
}

export function secondOf({ atMs, rate, hitRatio, shedShare, p99Ms, dropped }: Moment, { vusCap }: Deployment): Second {
  const searches = Math.round(rate);
  const part = (share: number): number => Math.round(searches * share);
  const some: [SeenOutcome, number][] = [
    ['shed', part(shedShare)],
    ['hit-l2', part(hitRatio * (1 - shedShare) * 0.3)],
    ['collapsed', part((1 - hitRatio) * (1 - shedShare) * 0.2)],
    ['stale', part((1 - hitRatio) * (1 - shedShare) * 0.1)],
    ['engine', part((1 - hitRatio) * (1 - shedShare) * 0.7)],
  ];
  const hits = searches - some.reduce((sum, [, count]) => sum + count, 0);
  const outcomes = Object.fromEntries([...some, ['hit-l1', Math.max(0, hits)]].filter(([, count]) => count !== 0));
  return {
    atMs,
    searches,
    errors: part(shedShare),
    dropped,
    vus: dropped > 0 ? vusCap : Math.min(vusCap, Math.ceil(5 + (rate * p99Ms) / 4000)),
    receivedBytes: searches * 5200,
    outcomes,
    latencyMs: searches > 0 ? { p50: 0.6, p90: p99Ms / 3, p99: p99Ms, max: p99Ms * 1.8 } : undefined,
  };
}

/** Engine calls a second, limited by the engine slots. */
export function callsOf({ rate, hitRatio, shedShare }: Moment): number {
  return Math.min(rate * (1 - hitRatio) * (1 - shedShare) * 0.72, (2 * SLOTS) / CALL_SECONDS);
}

/** One sample a second, with counters that only grow. */
export function samplesOf(moments: readonly Moment[], deployment: Deployment): readonly Sample[] {
  const sum = { seconds: 0, searches: 0, hits: 0, sheds: 0, calls: 0, writes: 0 };
  return moments.map((moment): Sample => {
    const calls = callsOf(moment);
    sum.seconds += 1;
    sum.searches += moment.rate;
    sum.hits += moment.rate * (1 - moment.shedShare) * moment.hitRatio;
    sum.sheds += moment.rate * moment.shedShare;
    sum.calls += calls;
    const atMs = moment.atMs + 9;
    const replicas = Array.from({ length: deployment.replicas }, (_, at) =>
      replicaOf(at, moment, calls, sum, deployment),
    );
    if (!deployment.isLocal) return { atMs, replicas, stores: [], processes: [] };
    const service = 0.02 * sum.seconds + 105e-6 * sum.searches;
    const searchd = CALL_CPU_SECONDS * sum.calls;
    const k6 = 0.03 * sum.seconds + 160e-6 * sum.searches;
    const commands = sum.searches * 0.4 + sum.calls;
    const node = 0.002 * sum.seconds + (60e-6 * commands) / NODES.length;
    const keys = Math.min(KEYS, Math.round(2000 + sum.calls / NODES.length));
    return {
      atMs,
      replicas,
      stores: NODES.map((name) => ({
        name,
        commands: commands / NODES.length,
        cpuSeconds: node,
        usedBytes: 3 * MIB + keys * 4600,
        maxBytes: 64 * MIB,
        keys,
        evicted: 0,
        connections: 2 + deployment.replicas * 2,
        maxConnections: 10_000,
        rejectedConnections: 0,
        connectionsOpened: 12,
        receivedBytes: 90 * commands,
        sentBytes: 4100 * sum.searches * 0.3,
      })),
      processes: [
        ...Array.from({ length: deployment.replicas }, (_, at) => ({
          name: at === 0 ? 'serpcache' : `serpcache-${at + 1}`,
          cpuSeconds: service / deployment.replicas,
          residentBytes: 180 * MIB,
        })),
        ...NODES.map((name) => ({ name, cpuSeconds: node, residentBytes: 18 * MIB })),
        { name: 'searchd', cpuSeconds: searchd, residentBytes: 220 * MIB },
        { name: 'k6', cpuSeconds: k6, residentBytes: 400 * MIB },
      ],
      host: hostOf(service + searchd + k6 + node * NODES.length, sum.searches, sum.seconds, deployment),
    };
  });
}

function replicaOf(
  at: number,
  { rate, hitRatio, shedShare }: Moment,
  calls: number,
  sum: { readonly seconds: number; readonly searches: number; readonly hits: number; sheds: number; calls: number },
  { replicas }: Deployment,
): ReplicaSample {
  const own = (value: number): number => Math.round(value / replicas);
  const ceiling = Math.max(1, Math.floor(SLOTS / replicas));
  const domains = DOMAINS.map(({ domain, share }) => {
    const wanted = (calls * share * CALL_SECONDS * wobble(sum.seconds + at, 0.4)) / replicas;
    const outcomes = {
      'hit-l1': own(sum.hits * share * 0.7),
      'hit-l2': own(sum.hits * share * 0.3),
      engine: own(sum.calls * share),
      shed: own(sum.sheds * share),
    };
    const figures = {
      outcomes,
      engineCalls: own(sum.calls * share),
      engineFailures: 0,
      engineInFlight: shedShare > 0 ? ceiling : Math.min(ceiling, Math.round(wanted)),
      engineQueued: shedShare > 0 ? 12 : 0,
      engineLimit: ceiling,
      engineCeiling: ceiling,
      breaker: 0,
      storeCommands: { ok: own(sum.searches * share * 0.4) },
      flushedShare: hitRatio < 0.8 ? 0.3 : 0,
    };
    return [domain, figures] as const;
  });
  return {
    name: `127.0.0.1:${8081 + at * 10}`,
    cpuSeconds: (0.02 * sum.seconds + 105e-6 * sum.searches) / replicas,
    residentBytes: 180 * MIB,
    loopUtilization: Math.min(1, 0.02 + (110e-6 * rate) / replicas),
    loopLagP99Ms: 1.5,
    inFlight: Math.round((calls * 0.01) / replicas),
    inFlightMax: 1000,
    memoryBytes: 90 * MIB,
    memoryMaxBytes: 128 * MIB,
    memoryEvictions: 0,
    domains: Object.fromEntries(domains),
    sheds: { overloaded: own(sum.sheds) },
    misses: { unseen: own(sum.calls * 0.8), expired: own(sum.calls * 0.2) },
  };
}

function hostOf(usedSeconds: number, searches: number, seconds: number, { cores }: Deployment): HostSample {
  const busySeconds = usedSeconds + 0.05 * seconds;
  return {
    cores,
    busySeconds: 5000 + busySeconds,
    idleSeconds: 90_000 + Math.max(0, cores * seconds - busySeconds),
    stolenSeconds: 0,
    availableBytes: 5 * 2 ** 30,
    totalBytes: 8 * 2 ** 30,
    loopbackBytes: 7000 * searches,
    loopbackDrops: 0,
    retransmits: 3,
    listenDrops: 0,
    tcpInUse: 130,
    diskBusyMs: 4 * seconds,
    diskWrittenBytes: 20_000 * seconds,
    limiterDrops: 0,
    limiterOverlimits: 0,
  };
}
