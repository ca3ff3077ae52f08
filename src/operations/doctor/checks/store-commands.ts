import { amountText, bytesText, countText, durationText, percentText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { known, type NodeFacts, type SlowEntry } from '../facts.ts';
import { cpuOf, dataNodesOf, fine, type NodeView, reasonOf, skipped, stateAbove } from '../window.ts';
import { callsGrown, cli, NO_PAIR, serverSeconds, wrongIf } from './store-figures.ts';
import { REFUSALS, type Refusal, refusalAdvice, usesOf } from './store-uses.ts';

/** Commands of store nodes: slow ones, refused ones, the CPU that they take, their hits and the size of their replies. */

const MIN_SECONDS = 0.5;

// --- slow commands ----------------------------------------------------------------------------------------------------

const SLOW = { ms: 10, count: 2, aloneMs: 100 };
/** Prefix of the names of the doctor's own connections. */
const OWN_CLIENT = 'serpcache-doctor';
/** SLOWLOG has whole seconds. */
const CLOCK_SLACK_SECONDS = 1;

/** Entries of the window; undefined without two readings of one run. */
function slowEntries(view: NodeView, window: Window): readonly SlowEntry[] | 'turned-over' | undefined {
  const { node, before, grown, seconds } = view;
  const [now, then] = [known(node.slowlog), before === undefined ? undefined : known(before.slowlog)];
  if (now === undefined || then === undefined || grown('total_commands_processed') === undefined) return undefined;
  const lastId = Math.max(-1, ...then.map(({ id }) => id));
  const oldestId = Math.min(...now.map(({ id }) => id));
  // Younger fast commands have pushed out what came between: nothing is known of it.
  if (then.length > 0 && now.length > 0 && oldestId > lastId + 1) return 'turned-over';
  const sinceSeconds = serverSeconds(view, window) - seconds - CLOCK_SLACK_SECONDS;
  return now.filter(
    ({ id, atSeconds, micros, client }) =>
      // A threshold of the server that is lower shows entries that no search would notice.
      id > lastId && atSeconds >= sinceSeconds && micros >= 1000 * SLOW.ms && !client.startsWith(OWN_CLIENT),
  );
}

const TURNED_OVER = 'the slow log turned over between two readings: slowlog-log-slower-than is too low';

function slowCommands(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node, config, seconds } = view;
    if (!('known' in node.slowlog)) return skipped(subject, reasonOf(node.slowlog));
    const entries = slowEntries(view, window);
    if (entries === undefined) return skipped(subject, NO_PAIR);
    if (entries === 'turned-over') return skipped(subject, TURNED_OVER);
    const [longest] = entries.toSorted((a, b) => b.micros - a.micros);
    if (longest === undefined) return fine(subject);
    const commands = [...new Set(entries.map(({ command }) => command.toUpperCase()))].slice(0, 5);
    const longestMs = longest.micros / 1000;
    const threshold = config('slowlog-log-slower-than');
    return {
      ...{ subject, state: entries.length >= SLOW.count || longestMs >= SLOW.aloneMs ? 'raise' : 'hold' },
      evidence: `${countText(entries.length)} commands of ≥ ${SLOW.ms} ms in ${seconds.toFixed(1)} s: ${commands.join(', ')}; the longest, ${longest.command.toUpperCase()} of ${longest.client}, took ${durationText(longestMs)}${
        threshold === undefined ? '' : ` (slowlog-log-slower-than ${threshold} µs)`
      }.`,
      figures: { count: entries.length, longestMs, command: longest.command, client: longest.client },
      advice: [
        `Show them with their arguments: ${cli(view, 'SLOWLOG GET 16')}`,
        'Replace KEYS by SCAN, DEL of large keys by UNLINK, and long scripts, HGETALL, SMEMBERS and SORT by steps of some hundred members.',
      ],
    };
  });
}

function slowlogOff(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node, config } = view;
    const [threshold, length] = [config('slowlog-log-slower-than'), config('slowlog-max-len')];
    if (threshold === undefined || length === undefined) return skipped(subject, configReason(node));
    return wrongIf(Number(threshold) < 0 || Number(length) === 0, subject, () => ({
      evidence: `slowlog-log-slower-than is ${threshold}, slowlog-max-len is ${length}: no slow command is logged.`,
      figures: { slowerThanMicros: Number(threshold), maxLen: Number(length) },
      advice: [
        cli(view, 'CONFIG SET slowlog-log-slower-than 10000'),
        cli(view, 'CONFIG SET slowlog-max-len 512'),
        'Or on every node: npm run serpcache -- doctor --enable slowlog',
      ],
    }));
  });
}

const configReason = ({ config }: NodeFacts): string => reasonOf(config) || 'CONFIG does not tell it';

// --- latency events ---------------------------------------------------------------------------------------------------

const LATENCY = { raises: 100, clears: 50, recentSeconds: 60 };
/** While SLOWLOG is written, the commands behind these events are a finding of `store-slow-commands`. */
const TOLD_BY_SLOWLOG: ReadonlySet<string> = new Set(['command', 'fast-command']);

function latencyEvents(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node, config, seconds } = view;
    const events = known(node.latency);
    if (events === undefined) return skipped(subject, reasonOf(node.latency));
    const hasSlowlog = 'known' in node.slowlog && Number(config('slowlog-log-slower-than') ?? 0) >= 0;
    const now = serverSeconds(view, window);
    const recent = events.filter(
      ({ event, atSeconds }) =>
        now - atSeconds <= Math.max(LATENCY.recentSeconds, seconds) && !(hasSlowlog && TOLD_BY_SLOWLOG.has(event)),
    );
    const [worst] = recent.toSorted((a, b) => b.latestMs - a.latestMs);
    const state = stateAbove(worst?.latestMs ?? 0, LATENCY);
    if (worst === undefined || state === 'fine') return fine(subject);
    const { event, latestMs, maxMs, atSeconds } = worst;
    return {
      ...{ subject, state },
      evidence: `The event ${event} took ${durationText(latestMs)}, ${Math.max(0, now - atSeconds).toFixed(0)} s ago; the longest since the last reset took ${durationText(maxMs)}.`,
      figures: { event, latestMs, maxMs },
      advice: [
        `Its history: ${cli(view, `LATENCY HISTORY ${event}`)}`,
        `What it means: ${cli(view, 'LATENCY DOCTOR')}`,
      ],
    };
  });
}

function latencyOff(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node, config } = view;
    const threshold = config('latency-monitor-threshold');
    if (threshold === undefined) return skipped(subject, configReason(node));
    return wrongIf(Number(threshold) === 0, subject, () => ({
      evidence: 'latency-monitor-threshold is 0: the server keeps no latency events.',
      figures: { thresholdMs: 0 },
      advice: [
        cli(view, 'CONFIG SET latency-monitor-threshold 50'),
        'Or on every node: npm run serpcache -- doctor --enable latency-monitor',
      ],
    }));
  });
}

// --- CPU --------------------------------------------------------------------------------------------------------------

const CPU = { raises: 0.85, clears: 0.7 };

function cpu(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, rate, seconds } = view;
    const [cores, commands] = [cpuOf(view), rate('total_commands_processed')];
    if (cores === undefined || commands === undefined || seconds < MIN_SECONDS) return skipped(subject, NO_PAIR);
    const state = stateAbove(cores, CPU);
    if (state === 'fine') return fine(subject);
    return {
      ...{ subject, state },
      evidence: `Its main thread uses ${percentText(cores)} of a core for ${amountText(commands)} commands a second.`,
      figures: { cores, commandsPerSecond: commands },
      advice: [
        `Find the commands that take the time (usec): ${cli(view, 'INFO commandstats')}`,
        'More shards, or more searches answered from L1 (memory.maxBytes).',
      ],
    };
  });
}

const THREADS = { cpu: 0.6, clearCpu: 0.5, perSecond: 5000, clearPerSecond: 4000 };

function ioThreads(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node, rate, config, seconds } = view;
    const threads = config('io-threads');
    if (threads === undefined) return skipped(subject, configReason(node));
    const [cores, commands] = [cpuOf(view), rate('total_commands_processed')];
    if (cores === undefined || commands === undefined || seconds < MIN_SECONDS) return skipped(subject, NO_PAIR);
    const isBusy = cores >= THREADS.clearCpu && commands >= THREADS.clearPerSecond;
    if (Number(threads) !== 1 || !isBusy) return fine(subject);
    return {
      ...{ subject, state: cores >= THREADS.cpu && commands >= THREADS.perSecond ? 'raise' : 'hold' },
      evidence: `io-threads is 1, and the only thread uses ${percentText(cores)} of a core for ${amountText(commands)} commands a second.`,
      figures: { ioThreads: 1, cores, commandsPerSecond: commands },
      advice: ['io-threads 4 in its configuration file, on a machine with at least 6 cores for it, and a restart'],
    };
  });
}

// --- hits and replies -------------------------------------------------------------------------------------------------

/** Commands by which the doctor samples keys: up to some thousand a second, each with a small reply. */
const SAMPLING = /^(?:memory|type|pttl|strlen|[hl]len|[sz]card)\b/;
/** Those of them that count as a hit; others seldom send these. */
const OWN_HITS = /^(?:type|pttl)\b/;
const HITS = { raises: 0.5, clears: 0.6, lookups: 1000 };

function hitRatio(window: Window): readonly Observation[] {
  return dataNodesOf(window).flatMap((view): Observation[] => {
    const { store, subject, grown } = view;
    // A control store is asked for names that are mostly absent.
    if (!store.isCache) return [];
    const [found, misses] = [grown('keyspace_hits'), grown('keyspace_misses')];
    if (found === undefined || misses === undefined) return [skipped(subject, NO_PAIR)];
    const hits = Math.max(0, found - (callsGrown(view, (command) => OWN_HITS.test(command)) ?? 0));
    const lookups = hits + misses;
    if (lookups < HITS.lookups) return [skipped(subject, `fewer than ${countText(HITS.lookups)} look-ups`)];
    const ratio = hits / lookups;
    if (ratio >= HITS.clears) return [fine(subject)];
    return [
      {
        ...{ subject, state: ratio < HITS.raises ? 'raise' : 'hold' },
        evidence: `${percentText(ratio)} of ${countText(lookups)} look-ups found their key.`,
        figures: { hitRatio: ratio, lookups },
        advice: [
          'Longer lifetimes (freshness.ttl, freshness.staleWhileRevalidate), if evictions are few: then more memory does not help.',
          'After a flush or a cold start: wait, or warm it: npm run serpcache -- warm DOMAIN',
        ],
      },
    ];
  });
}

const REPLIES = { raises: 64 * 1024, clears: 32 * 1024, commands: 100 };

function largeReplies(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, grown, seconds } = view;
    const [sent, all] = [grown('total_net_output_bytes'), grown('total_commands_processed')];
    if (sent === undefined || all === undefined) return skipped(subject, NO_PAIR);
    const commands = all - (callsGrown(view, (command) => SAMPLING.test(command)) ?? 0);
    if (commands < REPLIES.commands) return skipped(subject, `fewer than ${REPLIES.commands} commands`);
    // INFO counts the stream to replicas, and their full copies, as output too.
    const bytes = Math.max(0, sent - (grown('total_net_repl_output_bytes') ?? 0));
    const mean = bytes / commands;
    const state = stateAbove(mean, REPLIES);
    if (state === 'fine') return fine(subject);
    return {
      ...{ subject, state },
      evidence: `A reply has ${bytesText(mean)} on average: ${amountText(commands / seconds)} commands and ${bytesText(bytes / seconds)} a second.`,
      figures: { replyBytes: mean, bytesPerSecond: bytes / seconds, commandsPerSecond: commands / seconds },
      advice: [`Find large keys: ${cli(view, '--bigkeys')}`, 'Smaller pages: fewer results, compression.coding: zstd.'],
    };
  });
}

// --- refused commands -------------------------------------------------------------------------------------------------

const REFUSED = { raises: 5, clears: 1 };
/** Commands of the doctor, which an ACL may forbid. None is a look-up or a write of a search. */
const OWN_COMMANDS =
  /^(?:config|slowlog|latency|memory|client|cluster|acl|command|sentinel|role|time|info|ping|dbsize|scan|type|pttl|strlen|[hl]len|[sz]card)\b/i;

const OWN_ERRORS: readonly Refusal[] = ['NOPERM', 'LOADING'];

/** Growth of the counts behind `prefix` in INFO, by the rest of the field's name. A count that is not there is 0. */
function grownCounts({ node, before }: NodeView, prefix: string, member: RegExp): ReadonlyMap<string, number> {
  const then = before === undefined ? undefined : known(before.info);
  const count = (line: string | undefined): number => Number(member.exec(line ?? '')?.[1] ?? 0);
  return new Map(
    Object.entries(known(node.info) ?? {})
      .filter(([field]) => field.startsWith(prefix))
      .map(([field, line]) => [field.slice(prefix.length), Math.max(0, count(line) - count(then?.[field]))]),
  );
}

function refusedCommands(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return dataNodesOf(window).map((view): Observation => {
    const { subject, grown, text, seconds } = view;
    if (text('total_error_replies') === undefined) return skipped(subject, 'INFO has no errorstats before Redis 6.2');
    if (grown('total_commands_processed') === undefined) return skipped(subject, NO_PAIR);
    const errors = grownCounts(view, 'errorstat_', /count=(\d+)/);
    // The server counts a refused command by its name too: those that the doctor may have sent are left out.
    let own = [...grownCounts(view, 'cmdstat_', /rejected_calls=(\d+)/)]
      .filter(([command]) => OWN_COMMANDS.test(command))
      .reduce((sum, [, count]) => sum + count, 0);
    const found = REFUSALS.flatMap((name) => {
      const all = errors.get(name) ?? 0;
      const ours = OWN_ERRORS.includes(name) ? Math.min(own, all) : 0;
      own -= ours;
      return all > ours ? [{ name, count: all - ours, advice: refusalAdvice(name, view, useOf(view)) }] : [];
    });
    const total = found.reduce((sum, { count }) => sum + count, 0);
    const state = stateAbove(total, REFUSED);
    if (state === 'fine') return fine(subject);
    return {
      ...{ subject, state },
      evidence: `${countText(total)} commands were refused in ${seconds.toFixed(1)} s: ${found.map(({ name, count }) => `${name} ${countText(count)}`).join(', ')}.`,
      figures: { refused: total, ...Object.fromEntries(found.map(({ name, count }) => [name, count])) },
      advice: found.map(({ advice }) => advice),
    };
  });
}

const PAIR = 'two readings of one run';
const SETTING = { minimum: 'none', clears: 'otherwise' };

export const COMMAND_CHECKS: readonly Check[] = [
  {
    ...{ id: 'store-slow-commands', area: 'store', severity: 'warning', title: 'commands hold up the others' },
    ...{ needs: ['info', 'slowlog'], minimum: PAIR },
    raises: `≥ ${SLOW.count} commands of ≥ ${SLOW.ms} ms in the window, or one of ≥ ${SLOW.aloneMs} ms (SLOWLOG; those of the doctor are left out)`,
    clears: `no command of ≥ ${SLOW.ms} ms in the window`,
    why: 'Commands run one after another: every search of this node waits for the slow one.',
    source: 'Redis documentation, “SLOWLOG GET” and “Diagnosing latency issues”; the default threshold is 10 ms',
    look: slowCommands,
  },
  {
    ...{ id: 'store-slowlog-off', area: 'store', severity: 'info', title: 'slow commands are not logged' },
    ...{ ...SETTING, needs: ['config'] },
    raises: 'slowlog-log-slower-than < 0, or slowlog-max-len 0',
    why: 'A command that stops the node for a second leaves no trace.',
    source: 'Redis documentation, “SLOWLOG GET”',
    look: slowlogOff,
  },
  {
    ...{ id: 'store-latency-event', area: 'store', severity: 'warning', title: 'the server stopped for a while' },
    ...{ needs: ['info', 'latency'], minimum: 'latency-monitor-threshold > 0' },
    raises: `an event of ≥ ${LATENCY.raises} ms in the window or the last ${LATENCY.recentSeconds} s; slow commands only while SLOWLOG is off`,
    clears: `no event of ≥ ${LATENCY.clears} ms in that time`,
    why: 'A fork, a slow disk or a long expiry stops every command; searches time out and go to the engine.',
    source: 'Redis documentation, “Latency monitoring”; a read of serpcache has 50 ms',
    look: latencyEvents,
  },
  {
    ...{ id: 'store-latency-off', area: 'store', severity: 'info', title: 'latency events are not kept' },
    ...{ ...SETTING, needs: ['config'] },
    raises: 'latency-monitor-threshold 0',
    why: 'Forks, expiry and evictions that stop the node leave no trace.',
    source: 'Redis documentation, “Latency monitoring”; deploy/redis sets 50 ms',
    look: latencyOff,
  },
  {
    ...{ id: 'store-cpu', area: 'store', severity: 'warning', title: 'the main thread is nearly busy all the time' },
    ...{ needs: ['info'], minimum: `${PAIR}, ≥ ${MIN_SECONDS} s apart` },
    raises: `≥ ${CPU.raises} of a core`,
    clears: `< ${CPU.clears}`,
    why: 'One thread runs all commands. Near one core they queue, and every search waits for the queue.',
    source:
      'Redis documentation, INFO: used_cpu_*_main_thread; queueing theory (M/M/1): at 85 % five commands wait on average',
    look: cpu,
  },
  {
    ...{ id: 'store-io-threads', area: 'store', severity: 'info', title: 'one thread does all input and output' },
    ...{ needs: ['info', 'config'], minimum: `${PAIR}, ≥ ${MIN_SECONDS} s apart` },
    raises: `io-threads 1, ≥ ${THREADS.cpu} of a core and ≥ ${countText(THREADS.perSecond)} commands a second`,
    clears: `< ${THREADS.clearCpu} of a core, or < ${countText(THREADS.clearPerSecond)} commands a second`,
    why: 'With small commands most of the time is reading and writing sockets, which other threads can do.',
    source: 'redis.conf, “Threaded I/O”: about twice the throughput',
    look: ioThreads,
  },
  {
    ...{ id: 'store-hit-ratio', area: 'store', severity: 'info', title: 'most look-ups find nothing' },
    ...{ needs: ['info'], minimum: `${countText(HITS.lookups)} look-ups in the window` },
    raises: `< ${percentText(HITS.raises)} of the look-ups find their key`,
    clears: `≥ ${percentText(HITS.clears)}`,
    why: 'Each of these searches costs a round trip and then the engine.',
    source: 'Redis documentation, INFO: keyspace_hits, keyspace_misses',
    look: hitRatio,
  },
  {
    ...{ id: 'store-refused-commands', area: 'store', severity: 'warning', title: 'the server refuses commands' },
    ...{ needs: ['info'], minimum: PAIR },
    raises: `≥ ${REFUSED.raises} errors in the window: ${REFUSALS.join(', ')}`,
    clears: 'none in the window',
    why: 'A refused write is a page that is computed again, and a refused read is a miss.',
    source: 'Redis documentation, INFO errorstats (since 6.2)',
    look: refusedCommands,
  },
  {
    ...{ id: 'store-large-replies', area: 'store', severity: 'info', title: 'replies are large' },
    ...{ needs: ['info'], minimum: `${REPLIES.commands} commands in the window` },
    raises: `≥ ${bytesText(REPLIES.raises)} a command on average`,
    clears: `< ${bytesText(REPLIES.clears)}`,
    why: 'A large reply takes the network and holds up the small ones behind it on the same connection.',
    source: 'field report: big replies are slow because the network carries them',
    look: largeReplies,
  },
];
