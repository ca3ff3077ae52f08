import { MAX_BATCH } from '../../../search/read-path.ts';
import type { Check, Observation, Window } from '../check.ts';
import { known } from '../facts.ts';
import {
  cpuOf,
  cpuShares,
  dataNodesOf,
  domainsOf,
  fine,
  grownEach,
  hostsOf,
  MIN_CPU_SECONDS,
  mastersOf,
  median,
  type NodeView,
  reasonOf,
  skipped,
  stallOf,
} from '../window.ts';
import { limitedOf, ms, wideningOf } from './limiters.ts';
import { cli, largerBacklog, largerReplicaLimit, MIB, othersCalls } from './store-figures.ts';
import { usesOf } from './store-uses.ts';

/**
 * Troubles that no single figure shows. Each names all the figures that it joins, also those that are low: a full
 * network beside an idle CPU is another trouble than both full.
 */

function rttOf({ node }: Pick<NodeView, 'node'>): { readonly medianMs: number; readonly maxMs: number } | undefined {
  const times = known(node.rtt) ?? [];
  const medianMs = median(times);
  return medianMs === undefined ? undefined : { medianMs, maxMs: Math.max(...times) };
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const perSecond = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));

// --- round trips ------------------------------------------------------------------------------------------------------

const ROUND_TRIP = { rttMs: 2, clearMs: 1.5, reads: 100, cpu: 0.3 };

/** Shares of a read's time that the network takes, by the store nodes of one domain. */
function roundTrips(window: Window): readonly Observation[] {
  return domainsOf(window).map((domain): Observation => {
    const { subject, now, before, seconds } = domain;
    const reads = Object.values(grownEach(now.reads, before?.reads)).reduce((sum, count) => sum + count, 0);
    if (before === undefined || reads < ROUND_TRIP.reads) return skipped(subject, 'fewer than 100 reads of its store');
    const nodes = dataNodesOf(window).filter(({ store }) => store.domains.includes(now.domain));
    const rtt = median(nodes.flatMap((node) => rttOf(node)?.medianMs ?? []));
    const cpus = nodes.flatMap((node) => cpuOf(node) ?? []);
    if (rtt === undefined || cpus.length === 0) return skipped(subject, 'no round trips or CPU times of its store');
    const cpu = Math.max(...cpus);
    if (rtt < ROUND_TRIP.clearMs || cpu >= ROUND_TRIP.cpu) return fine(subject);
    return {
      subject,
      state: rtt >= ROUND_TRIP.rttMs ? 'raise' : 'hold',
      evidence: `${perSecond(reads / seconds)} reads a second each wait for one round trip of ${ms(rtt)}, while the busiest store node uses ${percent(cpu)} of a core.`,
      figures: { readsPerSecond: reads / seconds, rttMs: rtt, cpu },
      advice: [
        `Send searches in batches: POST /msearch reads the entries of up to ${MAX_BATCH} searches in one round trip to each node.`,
        'Raise L1 (memory.maxBytes), so that fewer searches need the store.',
        'Move the store nearer: the same zone, no proxy between.',
      ],
    };
  });
}

// --- reconnects -------------------------------------------------------------------------------------------------------

/** Many new connections are a trouble on a server of any size; few are one where they are much of its work. */
const RECONNECT = { perSecond: 10, clearPerSecond: 5, share: 0.1, alonePerSecond: 50, clearAlonePerSecond: 25 };

function reconnects(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((node): Observation => {
    const { subject, rate, level } = node;
    const [opened, calls] = [rate('total_connections_received'), othersCalls(node)];
    if (opened === undefined || calls === undefined) return skipped(subject, 'no two readings of one run');
    const commands = calls / node.seconds;
    // A connection counts as one command, whatever its handshake: the doctor sends the same commands, which are left out.
    const share = opened / Math.max(1, commands + opened);
    const isFew = opened < RECONNECT.clearPerSecond || share < RECONNECT.share;
    if (isFew && opened < RECONNECT.clearAlonePerSecond) return fine(subject);
    const isRaised = (!isFew && opened >= RECONNECT.perSecond) || opened >= RECONNECT.alonePerSecond;
    const cpu = cpuOf(node) ?? 0;
    const rtt = rttOf(node);
    return {
      subject,
      state: isRaised ? 'raise' : 'hold',
      evidence: `${perSecond(opened)} connections are opened a second, ${percent(share)} of all commands and connections, beside ${level('connected_clients') ?? 0} that stay; the CPU is at ${percent(cpu)} of a core${rtt === undefined ? '' : `, PING takes ${ms(rtt.medianMs)}, at worst ${ms(rtt.maxMs)}`}.`,
      figures: { connectionsPerSecond: opened, connectShare: share, cpu, rttMs: rtt?.medianMs ?? 0 },
      advice: [
        'Keep connections: one long-lived connection per process and node, no connection per request.',
        'Set a long client timeout and a short application timeout: a client that disconnects at its timeout reconnects under load.',
        `Find the clients, youngest by age=: ${cli(node, 'CLIENT LIST')}`,
      ],
    };
  });
}

// --- big replies ------------------------------------------------------------------------------------------------------

const BIG = { replyBytes: 16 * 1024, bytesPerSecond: 20e6, clearBytesPerSecond: 10e6, cpu: 0.6 };

function bigReplies(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((node): Observation => {
    const { subject, rate } = node;
    const [sent, calls] = [rate('total_net_output_bytes'), othersCalls(node)];
    const cpu = cpuOf(node);
    if (sent === undefined || calls === undefined || cpu === undefined) {
      return skipped(subject, 'no two readings of one run');
    }
    // INFO counts the stream to replicas, and their full copies, as output too.
    const bytes = Math.max(0, sent - (rate('total_net_repl_output_bytes') ?? 0));
    const mean = (bytes * node.seconds) / Math.max(1, calls);
    if (bytes < BIG.clearBytesPerSecond || mean < BIG.replyBytes || cpu >= BIG.cpu) return fine(subject);
    return {
      subject,
      state: bytes >= BIG.bytesPerSecond ? 'raise' : 'hold',
      evidence: `${(bytes / 1e6).toFixed(0)} MB a second leave in replies of ${(mean / 1024).toFixed(0)} KiB on average, while the CPU is at ${percent(cpu)} of a core.`,
      figures: { bytesPerSecond: bytes, replyBytes: mean, cpu },
      advice: [
        `Find them: ${cli(node, '--bigkeys')}`,
        'Store smaller pages: compression.coding: zstd, fewer results per page, no descriptions in results.',
      ],
    };
  });
}

// --- a limiter --------------------------------------------------------------------------------------------------------

const LIMITER = { stallMs: 5, clearMs: 2.5, timesMedian: 10, cpu: 0.7, free: 0.8 };

function limiters(window: Window): readonly Observation[] {
  const held = limitedOf(window).filter(
    ({ drops, overlimits, bitsPerSecond, ownBits }) => drops + overlimits > 0 && bitsPerSecond < LIMITER.free * ownBits,
  );
  const [worst] = held.toSorted((a, b) => b.drops + b.overlimits - (a.drops + a.overlimits));
  return dataNodesOf(window).map((node): Observation => {
    const { subject } = node;
    const stall = stallOf(window, node);
    const cpu = cpuOf(node);
    if (stall === undefined || cpu === undefined) return skipped(subject, 'no round trips, delays or CPU times');
    const { maxMs, medianMs, aboveMs } = stall;
    const isIdle = cpu < LIMITER.cpu && maxMs >= LIMITER.timesMedian * medianMs;
    if (worst === undefined || !isIdle || aboveMs < LIMITER.clearMs) return fine(subject);
    const { subject: limiterName, qdisc, drops, overlimits, bitsPerSecond } = worst;
    const rate = qdisc.rateBits ?? 0;
    return {
      subject,
      state: aboveMs >= LIMITER.stallMs ? 'raise' : 'hold',
      evidence: `PING takes up to ${ms(maxMs)} (median ${ms(medianMs)}) while nothing is full: CPU ${percent(cpu)} of a core, and ${limiterName} passes ${(bitsPerSecond / 1e6).toFixed(1)} of ${(rate / 1e6).toFixed(0)} Mbit/s, drops ${drops} and holds back ${overlimits} packets.`,
      figures: { maxMs, medianMs, cpu, drops, overlimits, bitsPerSecond, rateBits: rate },
      advice: [
        `Show it: tc -s -d qdisc show dev ${qdisc.device}`,
        `Give it a burst of at least rate ÷ HZ and some milliseconds of the rate: ${wideningOf(qdisc)}`,
        'Remove it where nothing needs the limit.',
      ],
    };
  });
}

// --- a noisy neighbour ------------------------------------------------------------------------------------------------

const NEIGHBOUR = { steal: 0.05, clearSteal: 0.02, stallMs: 5 };

function neighbours(window: Window): readonly Observation[] {
  return hostsOf(window).map((host): Observation => {
    const { subject, now } = host;
    const shares = cpuShares(host);
    const intrinsic = known(now.intrinsic);
    if (shares === undefined) return skipped(subject, `less than ${MIN_CPU_SECONDS} s of CPU time`);
    if (intrinsic === undefined) return skipped(subject, reasonOf(now.intrinsic));
    const share = shares.stolen;
    if (share < NEIGHBOUR.clearSteal || intrinsic.maxMs < NEIGHBOUR.stallMs) return fine(subject);
    return {
      subject,
      state: share >= NEIGHBOUR.steal ? 'raise' : 'hold',
      evidence: `Other guests of the hardware took ${percent(share)} of the CPU time, and timers of 1 ms came up to ${ms(intrinsic.maxMs)} late.`,
      figures: { stealShare: share, intrinsicMaxMs: intrinsic.maxMs },
      advice: ['Ask for dedicated cores, or move the machine: nothing inside it can change this.'],
    };
  });
}

// --- a hot shard ------------------------------------------------------------------------------------------------------

const HOT = { times: 2, clearTimes: 1.5, cpu: 0.5, masters: 3 };

function hotShards(window: Window): readonly Observation[] {
  const byStore = Map.groupBy(mastersOf(window), ({ store }) => store.name);
  return [...byStore.values()].flatMap((masters) => {
    if (masters.length < HOT.masters) return [];
    return masters.map((node): Observation => {
      const [cpu, rate] = [cpuOf(node), node.rate('total_commands_processed')];
      const others = masters.filter((one) => one !== node).flatMap((one) => cpuOf(one) ?? []);
      if (cpu === undefined || rate === undefined || others.length === 0) {
        return skipped(node.subject, 'no two readings of one run');
      }
      const mean = others.reduce((sum, one) => sum + one, 0) / others.length;
      if (cpu < HOT.cpu || cpu < HOT.clearTimes * mean) return fine(node.subject);
      return {
        subject: node.subject,
        state: cpu >= HOT.times * mean ? 'raise' : 'hold',
        evidence: `This master uses ${percent(cpu)} of a core for ${perSecond(rate)} commands a second; the ${others.length} others use ${percent(mean)} on average.`,
        figures: { cpu, othersCpu: mean, commandsPerSecond: rate },
        advice: [
          `Find the keys: redis-cli -h ${node.node.address.replace(/:(\d+)$/, ' -p $1')} --hotkeys (with an LFU policy), or the most asked searches: serpcache popular DOMAIN`,
          'Raise L1 (memory.maxBytes): the hottest pages are then served from memory.',
        ],
      };
    });
  });
}

// --- an eviction storm ------------------------------------------------------------------------------------------------

const STORM = {
  ...{ evictedPerSecond: 100, clearPerSecond: 50, lagBytes: MIB },
  // Limits to advise.
  ...{ backlogBytes: 256 * MIB, output: { hardBytes: 1024 * MIB, softBytes: 512 * MIB, softSeconds: 60 } },
};

function evictionStorms(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return mastersOf(window).map((node): Observation => {
    const { subject, rate, level, text, grown } = node;
    const replicas = level('connected_slaves') ?? 0;
    const evicted = rate('evicted_keys');
    if (evicted === undefined) return skipped(subject, 'no two readings of one run');
    if (evicted < STORM.clearPerSecond) return fine(subject);
    const offset = level('master_repl_offset') ?? 0;
    const lags = Array.from({ length: replicas }, (_, at) => {
      const acked = /offset=(\d+)/.exec(text(`slave${at}`) ?? '')?.[1];
      return acked === undefined ? 0 : Math.max(0, offset - Number(acked));
    });
    const lagBytes = Math.max(0, ...lags);
    const resyncs = grown('sync_full') ?? 0;
    if (lagBytes < STORM.lagBytes && resyncs === 0) return fine(subject);
    return {
      subject,
      state: evicted >= STORM.evictedPerSecond ? 'raise' : 'hold',
      evidence: `${perSecond(evicted)} keys are evicted a second, each a command for ${replicas} replicas, which are up to ${(lagBytes / 2 ** 20).toFixed(1)} MiB behind; ${resyncs} full resyncs began in the window.`,
      figures: { evictedPerSecond: evicted, replicas, lagBytes, fullResyncs: resyncs },
      advice: [
        ...(useOf(node) === 'cache'
          ? ['Run shards of a pure cache without replicas: REPLICAOF NO ONE on the replica, then remove it.']
          : []),
        ...[...largerBacklog(node, STORM.backlogBytes), ...largerReplicaLimit(node, STORM.output)].map(
          (command) => `Room for the replicas: ${command}`,
        ),
        'Add memory or shards, so that fewer keys are evicted: CONFIG SET maxmemory …',
      ],
    };
  });
}

export const PATTERN_CHECKS: readonly Check[] = [
  {
    id: 'pattern-round-trips',
    area: 'pattern',
    severity: 'info',
    title: 'reads wait for the network and for nothing else',
    needs: ['rtt', 'info', 'service'],
    minimum: `${ROUND_TRIP.reads} reads of the store in the window`,
    raises: `the median PING takes ≥ ${ROUND_TRIP.rttMs} ms and the busiest node uses < ${percent(ROUND_TRIP.cpu)} of a core`,
    clears: `PING below ${ROUND_TRIP.clearMs} ms`,
    why: 'Each read is one round trip. A faster server changes nothing; fewer round trips do.',
    source: 'Redis documentation, “Pipelining”; pipelines of 100–200 commands were best in the field report',
    look: roundTrips,
  },
  {
    id: 'pattern-reconnects',
    area: 'pattern',
    severity: 'warning',
    title: 'clients spend the server on reconnecting',
    needs: ['info', 'rtt'],
    minimum: 'two readings of one run of the server',
    raises: `≥ ${RECONNECT.perSecond} connections a second, and these are ≥ ${percent(RECONNECT.share)} of commands and connections; or ≥ ${RECONNECT.alonePerSecond} a second`,
    clears: `below ${RECONNECT.clearPerSecond} connections a second, or below that share with less than ${RECONNECT.clearAlonePerSecond} a second`,
    why: 'Accepting, TLS and handshakes run on the main thread between commands: latency rises while the CPU seems free, and clients that time out reconnect again.',
    source:
      'field report: frequent reconnecting hurts, not the number of clients; Redis documentation, “Redis client handling”',
    look: reconnects,
  },
  {
    id: 'pattern-big-replies',
    area: 'pattern',
    severity: 'warning',
    title: 'big replies keep the network busy while the CPU idles',
    needs: ['info'],
    minimum: 'two readings of one run of the server',
    raises: `≥ ${BIG.bytesPerSecond / 1e6} MB a second out in replies of ≥ ${BIG.replyBytes / 1024} KiB on average, with the CPU below ${percent(BIG.cpu)} of a core`,
    clears: `below ${BIG.clearBytesPerSecond / 1e6} MB a second`,
    why: 'A reply of many packets waits for the network and holds the replies behind it on the same connection.',
    source: 'field report: big replies are slow because the network carries them while the CPU idles',
    look: bigReplies,
  },
  {
    id: 'pattern-limiter',
    area: 'pattern',
    severity: 'warning',
    title: 'a limiter stalls a network that is not full',
    needs: ['rtt', 'info', 'tc', 'intrinsic'],
    minimum: '20 PINGs, and a queueing discipline with a rate on a host that was seen',
    raises: `PING at worst ≥ ${LIMITER.stallMs} ms above the delays of the doctor itself, the CPU below ${percent(LIMITER.cpu)} of a core, and a discipline that drops or holds back packets below ${percent(LIMITER.free)} of its rate`,
    clears: `less than ${LIMITER.clearMs} ms above them, or no packet dropped or held back`,
    why: 'A token bucket with a small burst stops a burst of replies although its average rate is free. Nothing looks full, so nobody looks there.',
    source: 'field report: the bottleneck was a tc queue; tc-tbf(8), “burst”',
    look: limiters,
  },
  {
    id: 'pattern-noisy-neighbour',
    area: 'pattern',
    severity: 'warning',
    title: 'another guest of the hardware takes the CPU',
    needs: ['host', 'intrinsic'],
    minimum: 'two readings of the CPU times',
    raises: `steal ≥ ${percent(NEIGHBOUR.steal)} and timers ≥ ${NEIGHBOUR.stallMs} ms late`,
    clears: `steal below ${percent(NEIGHBOUR.clearSteal)}, or timers in time`,
    why: 'Stolen time is latency that no process on this machine shows as its own.',
    source: 'proc(5), “steal”; Redis documentation, “Diagnosing latency issues” (intrinsic latency)',
    look: neighbours,
  },
  {
    id: 'pattern-hot-shard',
    area: 'pattern',
    severity: 'warning',
    title: 'one shard works while the others wait',
    needs: ['info'],
    minimum: `${HOT.masters} masters`,
    raises: `a master uses ≥ ${percent(HOT.cpu)} of a core and ≥ ${HOT.times} times the mean of the others`,
    clears: `below ${HOT.clearTimes} times the mean, or below ${percent(HOT.cpu)} of a core`,
    why: 'The whole store is as fast as its busiest shard, and more shards do not split one key.',
    source: 'Redis documentation, “Redis cluster specification”: a key belongs to one slot',
    look: hotShards,
  },
  {
    id: 'pattern-eviction-storm',
    area: 'pattern',
    severity: 'critical',
    title: 'evictions outrun the replicas',
    needs: ['info'],
    minimum: 'two readings of one run of the server',
    raises: `≥ ${STORM.evictedPerSecond} evictions a second with a replica ≥ ${STORM.lagBytes / MIB} MiB behind, or with a full resync`,
    clears: `below ${STORM.clearPerSecond} evictions a second, or the replicas are in step`,
    why: 'Each eviction is sent to the replicas as a DEL. A replica that falls out of the backlog needs a full resync, which forks and evicts more: the loop does not end.',
    source: 'field report: evictions → replica lag → full resyncs that could not finish',
    look: evictionStorms,
  },
];
