import { bytesText, countText, durationText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { known } from '../facts.ts';
import { dataNodesOf, fine, type NodeView, reasonOf, skipped, stateAbove } from '../window.ts';
import {
  cli,
  largerBacklog,
  largerReplicaLimit,
  MIB,
  NO_INFO,
  NO_PAIR,
  outputLimitOf,
  type ReplicaLine,
  replicasOf,
  serversAmong,
  wrongIf,
} from './store-figures.ts';
import { usesOf } from './store-uses.ts';

/** Replicas of store nodes: their cost, their lag, and their full copies. */

function withReplicas(window: Window): readonly NodeView[] {
  return serversAmong(dataNodesOf(window)).filter(({ level }) => (level('connected_slaves') ?? 0) > 0);
}

const perSecondBytes = (bytes: number): string => `${bytesText(bytes)}/s`;

/** The least backlog to advise, and the time that it should hold. */
const ROOM = { minBytes: 64 * MIB, seconds: 60 };

const moreBacklog = (view: NodeView, written: number): readonly string[] =>
  largerBacklog(view, Math.max(ROOM.minBytes, ROOM.seconds * written));

function replicas(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return dataNodesOf(window).flatMap((view): Observation[] => {
    const { subject, level, rate } = view;
    if (useOf(view) !== 'cache') return [];
    const count = level('connected_slaves');
    if (count === undefined) return [skipped(subject, NO_INFO)];
    const bytes = rate('master_repl_offset') ?? 0;
    return [
      wrongIf(count > 0, subject, () => ({
        evidence: `${countText(count)} ${count === 1 ? 'replica holds' : 'replicas hold'} pages that can be computed again; each receives ${perSecondBytes(bytes)} and uses ${bytesText(level('used_memory'))}.`,
        figures: { replicas: count, bytesPerSecond: bytes },
        advice: [
          'Right where a failover must not lose the hit ratio. Otherwise, on each replica: redis-cli -h HOST -p PORT REPLICAOF NO ONE (in a cluster: redis-cli --cluster del-node HOST:PORT ID), then end it.',
        ],
      })),
    ];
  });
}

// --- lag --------------------------------------------------------------------------------------------------------------

/**
 * A replica acknowledges once a second, so up to `ackSeconds` of writes are no lag. The rest is compared with the
 * backlog: a replica that loses its connection while it is further behind needs a full copy.
 */
const LAG = { backlogShare: 0.1, minBytes: MIB, maxBytes: 8 * MIB, ackSeconds: 2, silentSeconds: 10, clears: 0.5 };

interface Lag {
  readonly replica: ReplicaLine;
  readonly bytes: number;
}

function lags(window: Window): readonly Observation[] {
  return withReplicas(window).map((view): Observation => {
    const { subject, level, rate } = view;
    const [offset, written] = [level('master_repl_offset'), rate('master_repl_offset')];
    if (offset === undefined || written === undefined) return skipped(subject, NO_PAIR);
    const backlog = level('repl_backlog_size') ?? MIB;
    const raises = Math.max(LAG.minBytes, Math.min(LAG.maxBytes, LAG.backlogShare * backlog));
    // A replica in a full copy has no place in the stream yet, nor has one without its first acknowledgement.
    const [worst] = replicasOf(view)
      .filter(({ state, offset: acknowledged }) => state === 'online' && acknowledged > 0)
      .map((replica): Lag => ({ replica, bytes: Math.max(0, offset - replica.offset - LAG.ackSeconds * written) }))
      .toSorted((a, b) => b.bytes - a.bytes || b.replica.lagSeconds - a.replica.lagSeconds);
    if (worst === undefined) return fine(subject);
    const { replica, bytes } = worst;
    const isSilent = replica.lagSeconds >= LAG.silentSeconds;
    const state = isSilent ? 'raise' : stateAbove(bytes, { raises, clears: LAG.clears * raises });
    if (state === 'fine') return fine(subject);
    const behind = offset - replica.offset;
    return {
      ...{ subject, state },
      evidence: `The replica ${replica.address} is ${bytesText(behind)} behind and acknowledged ${countText(replica.lagSeconds)} s ago; ${perSecondBytes(written)} are written, and the backlog holds ${bytesText(backlog)}.`,
      figures: { behindBytes: behind, lagSeconds: replica.lagSeconds, bytesPerSecond: written, backlogBytes: backlog },
      advice: [
        `Look at the replica first: redis-cli -h ${replica.address.replace(/:(\d+)$/, ' -p $1')} INFO cpu; its network and its disk.`,
        ...moreBacklog(view, written),
      ],
    };
  });
}

// --- broken links and full copies ---------------------------------------------------------------------------------------

function downLinks(window: Window): readonly Observation[] {
  return serversAmong(dataNodesOf(window)).flatMap((view): Observation[] => {
    const { subject, text, level } = view;
    if (text('role') !== 'slave') return [];
    const link = text('master_link_status');
    if (link === undefined) return [skipped(subject, NO_INFO)];
    // A full copy is a finding of `store-full-resync`.
    const isDown = link === 'down' && level('master_sync_in_progress') !== 1;
    const master = `${text('master_host') ?? 'unknown'}:${text('master_port') ?? ''}`;
    const seconds = Math.max(0, level('master_link_down_since_seconds') ?? 0);
    return [
      wrongIf(isDown, subject, () => ({
        evidence: `Its link to the master ${master} is down${seconds === 0 ? '' : ` for ${durationText(1000 * seconds)}`}.`,
        figures: { master, downSeconds: seconds },
        advice: [
          cli(view, 'INFO replication'),
          'Then the server’s log: the address, masterauth and masteruser, or an output buffer limit of the master.',
        ],
      })),
    ];
  });
}

function fullCopies(window: Window): readonly Observation[] {
  return serversAmong(dataNodesOf(window)).map((view): Observation => {
    const { subject, level, grown, rate } = view;
    const begun = grown('sync_full');
    const copying = replicasOf(view).filter(({ state }) => state !== 'online' && state !== '');
    if (begun === undefined && copying.length === 0) return skipped(subject, NO_PAIR);
    return wrongIf((begun ?? 0) > 0 || copying.length > 0, subject, () => ({
      evidence: `${countText(begun ?? 0)} full copies for replicas began in the window, ${countText(level('sync_full'))} since the start${copying.length === 0 ? '' : `; in progress: ${copying.map(({ address, state }) => `${address} (${state})`).join(', ')}`}.`,
      figures: { begun: begun ?? 0, copying: copying.length, total: level('sync_full') ?? 0 },
      advice: [
        ...moreBacklog(view, rate('master_repl_offset') ?? 0),
        ...largerReplicaLimit(view, { hardBytes: 1024 * MIB, softBytes: 512 * MIB, softSeconds: 120 }),
        cli(view, 'CONFIG SET repl-diskless-sync yes'),
      ],
    }));
  });
}

// --- buffers ----------------------------------------------------------------------------------------------------------

const BACKLOG = { seconds: 30, bytesPerSecond: 100 * 1024, clears: 0.8 };

function backlogs(window: Window): readonly Observation[] {
  return withReplicas(window).map((view): Observation => {
    const { subject, level, rate } = view;
    const [size, written] = [level('repl_backlog_size'), rate('master_repl_offset')];
    if (size === undefined || written === undefined) return skipped(subject, NO_PAIR);
    if (written < BACKLOG.clears * BACKLOG.bytesPerSecond || size >= BACKLOG.seconds * written) return fine(subject);
    return {
      subject,
      state: written >= BACKLOG.bytesPerSecond ? 'raise' : 'hold',
      evidence: `The backlog of ${bytesText(size)} holds ${durationText((1000 * size) / written)} of the present ${perSecondBytes(written)}.`,
      figures: { backlogBytes: size, bytesPerSecond: written, seconds: size / written },
      advice: largerBacklog(view, 2 * BACKLOG.seconds * written),
    };
  });
}

/** A store that is configured by the address of a replica: reads work, writes are refused. */
function isReplica({ after }: Window): readonly Observation[] {
  return after.stores
    .filter(({ kind }) => kind === 'standalone')
    .flatMap(({ name, nodes }): readonly Observation[] => {
      const listed = known(nodes);
      if (listed === undefined) return [skipped(name, reasonOf(nodes))];
      const [first] = listed;
      const info = first === undefined ? undefined : known(first.info);
      if (first === undefined || info === undefined) return [skipped(name, NO_INFO)];
      const master = `${info['master_host']}:${info['master_port']}`;
      return [
        wrongIf(info['role'] === 'slave', name, () => ({
          evidence: `${first.address}, the only configured node of this store, is a replica of ${master}.`,
          figures: { node: first.address, master },
          advice: [`Name the master in the configuration of this store: nodes: ["${master}"]`],
        })),
      ];
    });
}

const BUFFER = { raises: 0.5, clears: 0.4 };

function buffers(window: Window): readonly Observation[] {
  return withReplicas(window).map((view): Observation => {
    const { subject, node, level, text } = view;
    const [used, limit] = [level('mem_clients_slaves'), outputLimitOf(view, 'replica')?.hardBytes];
    if (used === undefined) return skipped(subject, NO_INFO);
    if (limit === undefined) return skipped(subject, reasonOf(node.config) || 'CONFIG GET tells no limit');
    if (limit === 0) return fine(subject);
    // Replicas share one buffer from Redis 7 on; before, the figure is the sum of a buffer each.
    const major = Number.parseInt(text('redis_version') ?? '', 10);
    const each = major >= 7 ? used : used / Math.max(1, level('connected_slaves') ?? 1);
    const state = stateAbove(each / limit, BUFFER);
    if (state === 'fine') return fine(subject);
    return {
      ...{ subject, state },
      evidence: `${bytesText(each)} wait for a replica, which is cut off at ${bytesText(limit)} and then needs a full copy.`,
      figures: { bufferBytes: each, limitBytes: limit },
      advice: largerReplicaLimit(view, { hardBytes: 4 * limit, softBytes: 2 * limit, softSeconds: 120 }),
    };
  });
}

const SETTING = { minimum: 'none', clears: 'otherwise' };
const RATE = 'a replica, and two readings of one run of the master';

export const REPLICATION_CHECKS: readonly Check[] = [
  {
    ...{ id: 'store-replicas', area: 'store', severity: 'info', title: 'a cache has replicas' },
    needs: ['info'],
    ...SETTING,
    raises: '≥ 1 replica of a server of a domain’s store that keeps neither control documents nor counts',
    why: 'A replica keeps the hit ratio over a failover. It costs the memory again, a copy of every write and, when it falls behind, full copies that fork.',
    source: 'Redis documentation, “Redis replication”; field report: a cache runs better without them',
    look: replicas,
  },
  {
    ...{ id: 'store-replica-lag', area: 'store', severity: 'warning', title: 'a replica falls behind' },
    needs: ['info'],
    minimum: RATE,
    raises: `behind by ${LAG.backlogShare * 100} % of the backlog (≥ ${bytesText(LAG.minBytes)}, ≤ ${bytesText(LAG.maxBytes)}) beyond the writes of ${LAG.ackSeconds} s, or no acknowledgement for ${LAG.silentSeconds} s`,
    clears: `below half of it, with an acknowledgement in the last ${LAG.silentSeconds} s`,
    why: 'A replica that falls out of the backlog needs a full copy, and a failover to it loses the newest pages.',
    source: 'Redis documentation, “Redis replication” (one acknowledgement a second, the backlog); field report',
    look: lags,
  },
  {
    ...{ id: 'store-replica-down', area: 'store', severity: 'critical', title: 'a replica has lost its master' },
    needs: ['info'],
    ...SETTING,
    raises: 'master_link_status is down, and no full copy is in progress',
    why: 'Nothing is left to take over when the master fails, and the replica serves older and older pages.',
    source: 'Redis documentation, “INFO” (replication)',
    look: downLinks,
  },
  {
    ...{ id: 'store-full-resync', area: 'store', severity: 'warning', title: 'replicas are copied from the start' },
    needs: ['info'],
    minimum: 'two readings of one run of the master',
    raises: 'sync_full grows, or a replica is in a full copy',
    clears: 'neither',
    why: 'The master forks, sends all its memory and buffers every write meanwhile. A replica that needs longer than its output buffer lasts begins again, without end.',
    source: 'Redis documentation, “Redis replication”; field report: full resyncs that could not finish',
    look: fullCopies,
  },
  {
    ...{ id: 'store-repl-backlog', area: 'store', severity: 'info', title: 'the replication backlog is short' },
    needs: ['info'],
    minimum: `a replica, and ${perSecondBytes(BACKLOG.bytesPerSecond)} written`,
    raises: `it holds < ${BACKLOG.seconds} s of the present writes`,
    clears: `it holds ${BACKLOG.seconds} s, or below ${perSecondBytes(BACKLOG.clears * BACKLOG.bytesPerSecond)}`,
    why: 'A replica that is away for longer than the backlog lasts needs a full copy.',
    source: 'redis.conf, “repl-backlog-size”: the default is 1 MiB, in Valkey 8 10 MiB',
    look: backlogs,
  },
  {
    ...{ id: 'store-is-replica', area: 'store', severity: 'warning', title: 'a store is configured by a replica' },
    needs: ['info'],
    minimum: 'none',
    raises: 'the configured node of a standalone store is a replica',
    clears: 'otherwise',
    why: 'A replica refuses writes: computed pages are not stored, flushes and purges do not reach it.',
    source: 'Redis documentation, “Redis replication”: read-only replica',
    look: isReplica,
  },
  {
    ...{
      id: 'store-replica-buffer',
      area: 'store',
      severity: 'warning',
      title: 'a replica’s output buffer is near its limit',
    },
    needs: ['info', 'config'],
    minimum: 'a replica',
    raises: `≥ ${BUFFER.raises * 100} % of the hard limit for replicas`,
    clears: `below ${BUFFER.clears * 100} %`,
    why: 'At the limit the master closes the connection, and the replica begins a full copy, which fills the buffer again.',
    source: 'Redis documentation, “Redis client handling” (output buffer limits) and “INFO” (mem_clients_slaves)',
    look: buffers,
  },
];
