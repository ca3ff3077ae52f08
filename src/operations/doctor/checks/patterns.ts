import { KIB, MIB } from '../../../schema/units.ts';
import { MAX_BATCH } from '../../../search/read-path.ts';
import type { CheckRule, Window } from '../check.ts';
import { known } from '../facts.ts';
import {
  cpuOf,
  type DomainView,
  dataNodesOf,
  domainsOf,
  each,
  finding,
  grownEach,
  type Judgement,
  mastersOf,
  median,
  NO_PAIR,
  type NodeView,
  raiseOrHold,
  skip,
} from '../window.ts';
import { ms } from './network.ts';
import { cli, largerBacklog, largerReplicaLimit, othersCalls, replicasOf, repliedBytes } from './store-figures.ts';

/**
 * Troubles that no single figure shows. Each names all the figures that it joins, also those that are low: a full
 * network beside an idle CPU is another trouble than both full.
 */

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const perSecond = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));

const ROUND_TRIP = { rttMs: 2, clearMs: 1.5, reads: 100, cpu: 0.3 };

/** Shares of a read's time that the network takes, by the store nodes of one domain. */
function roundTrips({ now, before, seconds }: DomainView, window: Window): Judgement {
  const reads = Object.values(grownEach(now.reads, before?.reads)).reduce((sum, count) => sum + count, 0);
  if (before === undefined || reads < ROUND_TRIP.reads) return skip('fewer than 100 reads of its store');
  const nodes = dataNodesOf(window).filter(({ store }) => store.domains.includes(now.domain));
  const rttMs = median(nodes.flatMap(({ node }) => median(known(node.rtt) ?? []) ?? []));
  const cpus = nodes.flatMap((node) => cpuOf(node) ?? []);
  if (rttMs === undefined || cpus.length === 0) return skip('no round trips or CPU times of its store');
  const cpu = Math.max(...cpus);
  if (rttMs < ROUND_TRIP.clearMs || cpu >= ROUND_TRIP.cpu) return 'fine';
  return finding(raiseOrHold(rttMs >= ROUND_TRIP.rttMs), () => ({
    evidence: `${perSecond(reads / seconds)} reads a second each wait for one round trip of ${ms(rttMs)}, while the busiest store node uses ${percent(cpu)} of a core.`,
    figures: { readsPerSecond: reads / seconds, rttMs, cpu },
    advice: [
      `Send searches in batches: POST /msearch reads the entries of up to ${MAX_BATCH} searches in one round trip to each node.`,
      'Raise L1 (memory.maxBytes), so that fewer searches need the store.',
      'Move the store nearer: the same zone, no proxy between.',
    ],
  }));
}

const BIG = { replyBytes: 16 * KIB, bytesPerSecond: 20e6, clearBytesPerSecond: 10e6, cpu: 0.6 };

function bigReplies(view: NodeView): Judgement {
  const [replied, calls, cpu] = [repliedBytes(view), othersCalls(view), cpuOf(view)];
  if (replied === undefined || calls === undefined || cpu === undefined) return skip(NO_PAIR);
  const bytes = replied / view.seconds;
  const mean = replied / Math.max(1, calls);
  if (bytes < BIG.clearBytesPerSecond || mean < BIG.replyBytes || cpu >= BIG.cpu) return 'fine';
  return finding(raiseOrHold(bytes >= BIG.bytesPerSecond), () => ({
    evidence: `${(bytes / 1e6).toFixed(0)} MB a second leave in replies of ${(mean / KIB).toFixed(0)} KiB on average, while the CPU is at ${percent(cpu)} of a core.`,
    figures: { bytesPerSecond: bytes, replyBytes: mean, cpu },
    advice: [
      `Find them: ${cli(view, '--bigkeys')}`,
      'Store smaller pages: compression.coding: zstd, fewer results per page, no descriptions in results.',
    ],
  }));
}

const STORM = { evictedPerSecond: 100, clearPerSecond: 50, lagBytes: MIB };
/** Limits to advise. */
const STORM_ROOM = {
  backlogBytes: 256 * MIB,
  output: { hardBytes: 1024 * MIB, softBytes: 512 * MIB, softSeconds: 60 },
};

function evictionStorm(view: NodeView): Judgement {
  const { rate, level, grown } = view;
  const evicted = rate('evicted_keys');
  if (evicted === undefined) return skip(NO_PAIR);
  if (evicted < STORM.clearPerSecond) return 'fine';
  const offset = level('master_repl_offset') ?? 0;
  const lagBytes = Math.max(0, ...replicasOf(view).map((replica) => offset - replica.offset));
  const [replicas, resyncs] = [level('connected_slaves') ?? 0, grown('sync_full') ?? 0];
  if (lagBytes < STORM.lagBytes && resyncs === 0) return 'fine';
  return finding(raiseOrHold(evicted >= STORM.evictedPerSecond), () => ({
    evidence: `${perSecond(evicted)} keys are evicted a second, each a command for ${replicas} replicas, which are up to ${(lagBytes / MIB).toFixed(1)} MiB behind; ${resyncs} full resyncs began in the window.`,
    figures: { evictedPerSecond: evicted, replicas, lagBytes, fullResyncs: resyncs },
    advice: [
      ...(view.use() === 'cache'
        ? ['Run shards of a pure cache without replicas: REPLICAOF NO ONE on the replica, then remove it.']
        : []),
      ...[...largerBacklog(view, STORM_ROOM.backlogBytes), ...largerReplicaLimit(view, STORM_ROOM.output)].map(
        (command) => `Room for the replicas: ${command}`,
      ),
      'Add memory or shards, so that fewer keys are evicted: CONFIG SET maxmemory …',
    ],
  }));
}

const PAIR = 'two readings of one run of the server';

export const PATTERN_CHECKS: readonly CheckRule[] = [
  {
    id: 'pattern-round-trips',
    severity: 'info',
    title: 'reads wait for the network and for nothing else',
    needs: ['rtt', 'info', 'service'],
    minimum: `${ROUND_TRIP.reads} reads of the store in the window`,
    raises: `the median PING takes ≥ ${ROUND_TRIP.rttMs} ms and the busiest node uses < ${percent(ROUND_TRIP.cpu)} of a core`,
    clears: `PING below ${ROUND_TRIP.clearMs} ms`,
    why: 'Each read is one round trip. A faster server changes nothing; fewer round trips do.',
    source: 'Redis documentation, “Pipelining”; pipelines of 100–200 commands were best in the field report',
    look: each(domainsOf, roundTrips),
  },
  {
    id: 'pattern-big-replies',
    severity: 'warning',
    title: 'big replies keep the network busy while the CPU idles',
    needs: ['info'],
    minimum: PAIR,
    raises: `≥ ${BIG.bytesPerSecond / 1e6} MB a second out in replies of ≥ ${BIG.replyBytes / KIB} KiB on average, with the CPU below ${percent(BIG.cpu)} of a core`,
    clears: `below ${BIG.clearBytesPerSecond / 1e6} MB a second`,
    why: 'A reply of many packets waits for the network and holds the replies behind it on the same connection.',
    source: 'field report: big replies are slow because the network carries them while the CPU idles',
    look: each(dataNodesOf, bigReplies),
  },
  {
    id: 'pattern-eviction-storm',
    severity: 'critical',
    title: 'evictions outrun the replicas',
    needs: ['info'],
    minimum: PAIR,
    raises: `≥ ${STORM.evictedPerSecond} evictions a second with a replica ≥ ${STORM.lagBytes / MIB} MiB behind, or with a full resync`,
    clears: `below ${STORM.clearPerSecond} evictions a second, or the replicas are in step`,
    why: 'Each eviction is sent to the replicas as a DEL. A replica that falls out of the backlog needs a full resync, which forks and evicts more: the loop does not end.',
    source: 'field report: evictions → replica lag → full resyncs that could not finish',
    look: each(mastersOf, evictionStorm),
  },
];
