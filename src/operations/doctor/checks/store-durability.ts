import { bytesText, countText, durationText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { dataNodesOf, fine, hostPartOf, type NodeView, reasonOf, skipped } from '../window.ts';
import { cli, NO_INFO, NO_PAIR, serverSeconds, serversAmong, wrongIf } from './store-figures.ts';
import { REPLICATION_CHECKS } from './store-replication.ts';
import { endsSaving, type Saving, usesOf } from './store-uses.ts';

/** Snapshots and append-only files of store nodes. */

function savingOf({ level, config }: NodeView): Saving | undefined {
  const appends = level('aof_enabled');
  return appends === undefined ? undefined : { appends: appends !== 0, points: config('save') };
}

function persistence(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return dataNodesOf(window).flatMap((view): Observation[] => {
    const { node, subject } = view;
    // A control document cannot be computed again.
    if (useOf(view) !== 'cache') return [];
    const saving = savingOf(view);
    if (saving === undefined) return [skipped(subject, NO_INFO)];
    const { appends, points } = saving;
    if (!appends && points === undefined)
      return [skipped(subject, reasonOf(node.config) || 'CONFIG GET tells no save')];
    const saves = (points ?? '') !== '';
    return [
      wrongIf(appends || saves, subject, () => ({
        evidence: `A cache is kept on disk: save is ${points === undefined ? 'unknown' : `"${points}"`}, appendonly is ${appends ? 'yes' : 'no'}.`,
        figures: { save: points ?? 'unknown', appendonly: appends ? 'yes' : 'no' },
        advice: [
          ...endsSaving(view, 'cache', saving),
          'In its configuration file: save "" and appendonly no, as in deploy/redis.',
        ],
      })),
    ];
  });
}

// --- forks ------------------------------------------------------------------------------------------------------------

const FORK = { ms: 100, recentSeconds: 3600 };

/** The figure of the last fork stays for ever, so it counts only while more forks are to be expected. */
function forks(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return serversAmong(dataNodesOf(window)).map((view): Observation => {
    const { subject, level, grown } = view;
    const [micros, lastSave] = [level('latest_fork_usec'), level('rdb_last_save_time')];
    const saving = savingOf(view);
    if (micros === undefined || lastSave === undefined || saving === undefined) return skipped(subject, NO_INFO);
    const isRunning = level('rdb_bgsave_in_progress') === 1 || level('aof_rewrite_in_progress') === 1;
    const isNew = (grown('total_forks') ?? 0) > 0;
    // The time of the last save is the start of the server before the first save; `rdb_saves` tells them apart from Redis 7 on.
    const ageSeconds = serverSeconds(view, window) - lastSave;
    const hasSaved = level('rdb_saves') !== 0 && ageSeconds <= FORK.recentSeconds;
    const savesAgain = saving.appends || saving.points !== '';
    const ms = micros / 1000;
    return wrongIf(ms >= FORK.ms && (isRunning || isNew || (hasSaved && savesAgain)), subject, () => ({
      evidence: `The last fork stopped the server for ${durationText(ms)}, with ${bytesText(level('used_memory'))} in use; ${isRunning ? 'its child is still saving' : isNew ? 'it was in this window' : `the last save was ${durationText(1000 * ageSeconds)} ago`}.`,
      figures: { forkMs: ms, usedBytes: level('used_memory') ?? 0, saveAgeSeconds: ageSeconds },
      advice: [
        ...endsSaving(view, useOf(view), saving),
        'More and smaller nodes: the time of a fork grows with the memory of one.',
        'Transparent huge pages off: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled',
      ],
    }));
  });
}

// --- the disk ---------------------------------------------------------------------------------------------------------

function delayedFsync(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return serversAmong(dataNodesOf(window)).map((view): Observation => {
    const { subject, level, grown } = view;
    const appends = level('aof_enabled');
    if (appends === undefined) return skipped(subject, NO_INFO);
    if (appends === 0) return fine(subject);
    const delayed = grown('aof_delayed_fsync');
    if (delayed === undefined) return skipped(subject, NO_PAIR);
    return wrongIf(delayed > 0, subject, () => ({
      evidence: `${countText(delayed)} writes waited for a slow fsync in the window, ${countText(level('aof_delayed_fsync'))} since the start.`,
      figures: { delayed },
      advice: [
        ...(useOf(view) === 'cache' ? [cli(view, 'CONFIG SET appendonly no')] : []),
        cli(view, 'CONFIG SET no-appendfsync-on-rewrite yes'),
        'Show what else uses the disk: iostat -x 1',
      ],
    }));
  });
}

/** Servers that save at the same address: their saves share a disk, as far as an address tells. */
function sharedDisks(window: Window): readonly Observation[] {
  const servers = serversAmong(dataNodesOf(window));
  const useOf = usesOf(window);
  return [...Map.groupBy(servers, ({ node }) => hostPartOf(node.address))].map(([host, views]): Observation => {
    const subject = `stores at ${host}`;
    const savings = views.flatMap((view) => {
      const saving = savingOf(view);
      return saving === undefined ? [] : [{ view, ...saving }];
    });
    const saving = savings.filter(({ appends, points }) => appends || (points ?? '') !== '');
    const unknown = savings.filter(({ appends, points }) => !appends && points === undefined);
    if (saving.length < 2 && saving.length + unknown.length >= 2) return skipped(subject, 'CONFIG GET tells no save');
    return wrongIf(saving.length >= 2, subject, () => ({
      evidence: `${saving.length} servers at this address keep their data on disk: ${saving.map(({ view }) => view.node.address).join(', ')}.`,
      figures: { servers: saving.length },
      advice: [
        ...saving.flatMap((one) => endsSaving(one.view, useOf(one.view), one)),
        'Or give each a disk of its own, and save points at different times.',
      ],
    }));
  });
}

function failedSaves(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return serversAmong(dataNodesOf(window)).map((view): Observation => {
    const { subject, text, config } = view;
    if (text('rdb_last_bgsave_status') === undefined) return skipped(subject, NO_INFO);
    // Nothing is saved any more: the status is of a save in the past, and refuses no write.
    if (config('save') === '' && text('aof_enabled') === '0' && useOf(view) === 'cache') return fine(subject);
    const refuses = config('stop-writes-on-bgsave-error') !== 'no';
    const failed = STATUSES.filter((field) => text(field) === 'err');
    return wrongIf(failed.length > 0, subject, () => ({
      evidence: `INFO tells an error in ${failed.join(', ')}${refuses ? '; with stop-writes-on-bgsave-error (the default) a server with save points refuses every write (MISCONF)' : ''}.`,
      figures: { failed: failed.join(', ') },
      advice: [
        'Read why in the server’s log: no space, no right to write, or no memory for the fork (vm.overcommit_memory).',
        ...(useOf(view) === 'cache'
          ? [cli(view, 'CONFIG SET stop-writes-on-bgsave-error no'), cli(view, 'CONFIG SET save ""')]
          : [cli(view, 'BGSAVE')]),
      ],
    }));
  });
}

const STATUSES = ['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'];

const SETTING = { minimum: 'none', clears: 'otherwise' };

export const DURABILITY_CHECKS: readonly Check[] = [
  {
    ...{ id: 'store-persistence', area: 'store', severity: 'warning', title: 'a cache is kept on disk' },
    needs: ['info', 'config'],
    ...SETTING,
    raises:
      'save points or appendonly yes on a server of a domain’s store that keeps neither control documents nor counts',
    why: 'Its pages can be computed again. A snapshot forks, and copies what is written meanwhile; an append-only file makes writes wait for a disk.',
    source: 'Redis documentation, “Redis persistence” and “Diagnosing latency issues” (fork, AOF); deploy/redis',
    look: persistence,
  },
  {
    ...{ id: 'store-fork', area: 'store', severity: 'warning', title: 'a fork stops the server' },
    needs: ['info', 'config'],
    minimum: `a save in the last ${durationText(1000 * FORK.recentSeconds)} with more to come, or a fork in the window`,
    raises: `latest_fork_usec ≥ ${durationText(FORK.ms)}`,
    clears: SETTING.clears,
    why: 'The main thread answers nobody while the page table is copied; every read of the node waits.',
    source: 'Redis documentation, “Diagnosing latency issues” (latency generated by fork)',
    look: forks,
  },
  {
    ...{ id: 'store-delayed-fsync', area: 'store', severity: 'warning', title: 'writes wait for the disk' },
    needs: ['info'],
    minimum: 'appendonly yes, and two readings of one run of the server',
    raises: 'aof_delayed_fsync grows',
    clears: 'it does not grow',
    why: 'An fsync that takes more than two seconds blocks the main thread, and with it reads.',
    source: 'Redis documentation, “INFO” (aof_delayed_fsync) and “Diagnosing latency issues” (AOF and disk I/O)',
    look: delayedFsync,
  },
  {
    ...{
      id: 'store-shared-disk',
      area: 'store',
      severity: 'warning',
      title: 'several servers of one machine save to disk',
    },
    needs: ['info', 'config'],
    ...SETTING,
    raises: '≥ 2 servers with save points or appendonly yes at one address',
    why: 'Their saves coincide: the same save points are reached at the same time, the disk slows all of them, and each copy needs memory of the same machine.',
    source: 'Redis documentation, “Redis persistence” and “Diagnosing latency issues” (AOF and disk I/O)',
    look: sharedDisks,
  },
  {
    ...{ id: 'store-bgsave-failed', area: 'store', severity: 'warning', title: 'saving to disk fails' },
    needs: ['info'],
    minimum: 'one save',
    raises: `${STATUSES.join(', ')}: one of them is err`,
    clears: SETTING.clears,
    why: 'Writes are refused until a save succeeds, or the data is lost at the next restart.',
    source: 'redis.conf, “stop-writes-on-bgsave-error”; Redis documentation, “INFO” (persistence)',
    look: failedSaves,
  },
  ...REPLICATION_CHECKS,
];
