import { bytesText, countText } from '../../../report/format.ts';
import { MIB } from '../../../schema/units.ts';
import type { CheckRule, Window } from '../check.ts';
import {
  dataNodesOf,
  each,
  finding,
  NO_PAIR,
  type NodeView,
  serversOf,
  skip,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { cli, largerBacklog, largerReplicaLimit, NO_INFO, type ReplicaLine, replicasOf } from './store-figures.ts';

/** Copies of a store node's data: snapshots and append-only files, replicas, their lag and their full copies. */

type Saving = NonNullable<ReturnType<typeof savingOf>>;

/** `points`: save points, `3600 1 300 100`; empty: none; undefined: CONFIG GET did not tell them. */
function savingOf(view: NodeView) {
  const appends = view.level('aof_enabled');
  return appends === undefined ? undefined : { view, appends: appends !== 0, points: view.config('save') };
}

const isSaving = ({ appends, points }: Saving): boolean => appends || (points ?? '') !== '';
const isUnknown = ({ appends, points }: Saving): boolean => !appends && points === undefined;
const NO_SAVE = 'CONFIG GET tells no save';

/** The commands that end saving to disk; none where something lasts. */
function endsSaving({ view, appends, points }: Saving): readonly string[] {
  if (view.use() !== 'cache') return [];
  return [
    ...(points === '' ? [] : [cli(view, 'CONFIG SET save ""')]),
    ...(appends ? [cli(view, 'CONFIG SET appendonly no')] : []),
  ];
}

function withReplicas(window: Window): readonly NodeView[] {
  return serversOf(window).filter(({ level }) => (level('connected_slaves') ?? 0) > 0);
}

const perSecondBytes = (bytes: number): string => `${bytesText(bytes)}/s`;

/** The least backlog to advise, and the time that it should hold. */
const ROOM = { minBytes: 64 * MIB, seconds: 60 };

const moreBacklog = (view: NodeView, written: number): readonly string[] =>
  largerBacklog(view, Math.max(ROOM.minBytes, ROOM.seconds * written));

/**
 * A replica acknowledges once a second, so up to `ackSeconds` of writes are no lag. The rest is compared with the
 * backlog: a replica that loses its connection while it is further behind needs a full copy.
 */
const LAG = { backlogShare: 0.1, minBytes: MIB, maxBytes: 8 * MIB, ackSeconds: 2, silentSeconds: 10, clears: 0.5 };
const RATE = 'a replica, and two readings of one run of the master';

/** The replica that is furthest behind. One in a full copy has no place in the stream yet, nor has one without its first acknowledgement. */
function furthestBehind(view: NodeView, offset: number): ReplicaLine | undefined {
  return replicasOf(view)
    .filter(({ state, offset: acknowledged }) => state === 'online' && acknowledged > 0)
    .toSorted(
      (a, b) => Math.max(0, offset - b.offset) - Math.max(0, offset - a.offset) || b.lagSeconds - a.lagSeconds,
    )[0];
}

export const REPLICATION_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-persistence',
    severity: 'warning',
    title: 'a cache is kept on disk',
    needs: ['info', 'config'],
    raises:
      'save points or appendonly yes on a server of a domain’s store that keeps neither control documents nor counts',
    why: 'Its pages can be computed again. A snapshot forks, and copies what is written meanwhile; an append-only file makes writes wait for a disk.',
    source: 'Redis documentation, “Redis persistence” and “Diagnosing latency issues” (fork, AOF); deploy/redis',
    look: each(dataNodesOf, (view) => {
      // A control document cannot be computed again.
      if (view.use() !== 'cache') return undefined;
      const saving = savingOf(view);
      if (saving === undefined) return skip(NO_INFO);
      if (isUnknown(saving)) return skip(whyMissing(view.node.config) || NO_SAVE);
      const { appends, points } = saving;
      return finding(isSaving(saving), () => ({
        evidence: `A cache is kept on disk: save is ${points === undefined ? 'unknown' : `"${points}"`}, appendonly is ${appends ? 'yes' : 'no'}.`,
        figures: { save: points ?? 'unknown', appendonly: appends ? 'yes' : 'no' },
        advice: [...endsSaving(saving), 'In its configuration file: save "" and appendonly no, as in deploy/redis.'],
      }));
    }),
  },
  {
    id: 'store-replicas',
    severity: 'info',
    title: 'a cache has replicas',
    needs: ['info'],
    raises: '≥ 1 replica of a server of a domain’s store that keeps neither control documents nor counts',
    why: 'A replica keeps the hit ratio over a failover. It costs the memory again, a copy of every write and, when it falls behind, full copies that fork.',
    source: 'Redis documentation, “Redis replication”; field report: a cache runs better without them',
    look: each(dataNodesOf, (view) => {
      if (view.use() !== 'cache') return undefined;
      const count = view.level('connected_slaves');
      if (count === undefined) return skip(NO_INFO);
      const bytes = view.rate('master_repl_offset') ?? 0;
      return finding(count > 0, () => ({
        evidence: `${countText(count)} ${count === 1 ? 'replica holds' : 'replicas hold'} pages that can be computed again; each receives ${perSecondBytes(bytes)} and uses ${bytesText(view.level('used_memory'))}.`,
        figures: { replicas: count, bytesPerSecond: bytes },
        advice: [
          'Right where a failover must not lose the hit ratio. Otherwise, on each replica: redis-cli -h HOST -p PORT REPLICAOF NO ONE (in a cluster: redis-cli --cluster del-node HOST:PORT ID), then end it.',
        ],
      }));
    }),
  },
  {
    id: 'store-replica-lag',
    severity: 'warning',
    title: 'a replica falls behind',
    needs: ['info'],
    minimum: RATE,
    raises: `behind by ${LAG.backlogShare * 100} % of the backlog (≥ ${bytesText(LAG.minBytes)}, ≤ ${bytesText(LAG.maxBytes)}) beyond the writes of ${LAG.ackSeconds} s, or no acknowledgement for ${LAG.silentSeconds} s`,
    clears: `below half of it, with an acknowledgement in the last ${LAG.silentSeconds} s`,
    why: 'A replica that falls out of the backlog needs a full copy, and a failover to it loses the newest pages.',
    source: 'Redis documentation, “Redis replication” (one acknowledgement a second, the backlog); field report',
    look: each(withReplicas, (view) => {
      const [offset, written] = [view.level('master_repl_offset'), view.rate('master_repl_offset')];
      if (offset === undefined || written === undefined) return skip(NO_PAIR);
      const replica = furthestBehind(view, offset - LAG.ackSeconds * written);
      if (replica === undefined) return 'fine';
      const backlog = view.level('repl_backlog_size') ?? MIB;
      const raises = Math.max(LAG.minBytes, Math.min(LAG.maxBytes, LAG.backlogShare * backlog));
      const behind = offset - replica.offset;
      const isSilent = replica.lagSeconds >= LAG.silentSeconds;
      const late = stateAbove(behind - LAG.ackSeconds * written, { raises, clears: LAG.clears * raises });
      return finding(isSilent ? 'raise' : late, () => ({
        evidence: `The replica ${replica.address} is ${bytesText(behind)} behind and acknowledged ${countText(replica.lagSeconds)} s ago; ${perSecondBytes(written)} are written, and the backlog holds ${bytesText(backlog)}.`,
        figures: {
          behindBytes: behind,
          lagSeconds: replica.lagSeconds,
          bytesPerSecond: written,
          backlogBytes: backlog,
        },
        advice: [
          `Look at the replica first: redis-cli -h ${replica.address.replace(/:(\d+)$/, ' -p $1')} INFO cpu; its network and its disk.`,
          ...moreBacklog(view, written),
        ],
      }));
    }),
  },
  {
    id: 'store-full-resync',
    severity: 'warning',
    title: 'replicas are copied from the start',
    needs: ['info'],
    minimum: 'two readings of one run of the master',
    raises: 'sync_full grows, or a replica is in a full copy',
    clears: 'neither',
    why: 'The master forks, sends all its memory and buffers every write meanwhile. A replica that needs longer than its output buffer lasts begins again, without end.',
    source: 'Redis documentation, “Redis replication”; field report: full resyncs that could not finish',
    look: each(serversOf, (view) => {
      const { level, grown, rate } = view;
      const grew = grown('sync_full');
      const copying = replicasOf(view).filter(({ state }) => state !== 'online' && state !== '');
      if (grew === undefined && copying.length === 0) return skip(NO_PAIR);
      const begun = grew ?? 0;
      const running = copying.map(({ address, state }) => `${address} (${state})`).join(', ');
      return finding(begun > 0 || copying.length > 0, () => ({
        evidence: `${countText(begun)} full copies for replicas began in the window, ${countText(level('sync_full'))} since the start${running === '' ? '' : `; in progress: ${running}`}.`,
        figures: { begun, copying: copying.length, total: level('sync_full') ?? 0 },
        advice: [
          ...moreBacklog(view, rate('master_repl_offset') ?? 0),
          ...largerReplicaLimit(view, { hardBytes: 1024 * MIB, softBytes: 512 * MIB, softSeconds: 120 }),
          cli(view, 'CONFIG SET repl-diskless-sync yes'),
        ],
      }));
    }),
  },
];
