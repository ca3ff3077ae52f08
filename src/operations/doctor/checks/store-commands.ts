import { countText, durationText, percentText } from '../../../report/format.ts';
import type { CheckRule, Window } from '../check.ts';
import { known, type SlowEntry } from '../facts.ts';
import {
  dataNodesOf,
  each,
  finding,
  type Judgement,
  NO_PAIR,
  type NodeView,
  raiseOrHold,
  skip,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { callsGrown, cli, noConfig, serverSeconds } from './store-figures.ts';

/** Commands of store nodes: slow ones, events that stopped the server, and hits. */

const SLOW = { ms: 10, count: 2, aloneMs: 100 };
/** Prefix of the names of the doctor's own connections. */
const OWN_CLIENT = 'serpcache-doctor';
/** SLOWLOG has whole seconds. */
const CLOCK_SLACK_SECONDS = 1;

/** Entries of the window; undefined without two readings of one run. */
function slowEntries(view: NodeView, window: Window): readonly SlowEntry[] | 'turned-over' | undefined {
  const { node, before, grown, seconds } = view;
  const [now, then] = [known(node.slowlog), known(before?.slowlog)];
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

function slowCommands(view: NodeView, window: Window): Judgement {
  const { node, config, seconds } = view;
  if (!('known' in node.slowlog)) return skip(whyMissing(node.slowlog));
  const entries = slowEntries(view, window);
  if (entries === undefined) return skip(NO_PAIR);
  if (entries === 'turned-over') return skip(TURNED_OVER);
  const [longest] = entries.toSorted((a, b) => b.micros - a.micros);
  if (longest === undefined) return 'fine';
  const commands = [...new Set(entries.map(({ command }) => command.toUpperCase()))].slice(0, 5);
  const longestMs = longest.micros / 1000;
  const threshold = config('slowlog-log-slower-than');
  const rule = threshold === undefined ? '' : ` (slowlog-log-slower-than ${threshold} µs)`;
  return finding(raiseOrHold(entries.length >= SLOW.count || longestMs >= SLOW.aloneMs), () => ({
    evidence: `${countText(entries.length)} commands of ≥ ${SLOW.ms} ms in ${seconds.toFixed(1)} s: ${commands.join(', ')}; the longest, ${longest.command.toUpperCase()} of ${longest.client}, took ${durationText(longestMs)}${rule}.`,
    figures: { count: entries.length, longestMs, command: longest.command, client: longest.client },
    advice: [
      `Show them with their arguments: ${cli(view, 'SLOWLOG GET 16')}`,
      'Replace KEYS by SCAN, DEL of large keys by UNLINK, and long scripts, HGETALL, SMEMBERS and SORT by steps of some hundred members.',
    ],
  }));
}

const LATENCY = { raises: 100, clears: 50, recentSeconds: 60 };
/** While SLOWLOG is written, the commands behind these events are a finding of `store-slow-commands`. */
const TOLD_BY_SLOWLOG: ReadonlySet<string> = new Set(['command', 'fast-command']);

function latencyEvents(view: NodeView, window: Window): Judgement {
  const { node, config, seconds } = view;
  const events = known(node.latency);
  if (events === undefined) return skip(whyMissing(node.latency));
  const hasSlowlog = 'known' in node.slowlog && Number(config('slowlog-log-slower-than') ?? 0) >= 0;
  const now = serverSeconds(view, window);
  const recent = events.filter(
    ({ event, atSeconds }) =>
      now - atSeconds <= Math.max(LATENCY.recentSeconds, seconds) && !(hasSlowlog && TOLD_BY_SLOWLOG.has(event)),
  );
  const [worst] = recent.toSorted((a, b) => b.latestMs - a.latestMs);
  if (worst === undefined) return 'fine';
  const { event, latestMs, maxMs, atSeconds } = worst;
  return finding(stateAbove(latestMs, LATENCY), () => ({
    evidence: `The event ${event} took ${durationText(latestMs)}, ${Math.max(0, now - atSeconds).toFixed(0)} s ago; the longest since the last reset took ${durationText(maxMs)}.`,
    figures: { event, latestMs, maxMs },
    advice: [`Its history: ${cli(view, `LATENCY HISTORY ${event}`)}`, `What it means: ${cli(view, 'LATENCY DOCTOR')}`],
  }));
}

/** Commands by which the doctor samples keys, and that count as a hit; others seldom send these. */
const OWN_HITS = /^(?:type|pttl)\b/;
const HITS = { raises: 0.5, clears: 0.6, lookups: 1000 };
const PAIR = 'two readings of one run';

export const COMMAND_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-slow-commands',
    severity: 'warning',
    title: 'commands hold up the others',
    needs: ['info', 'slowlog'],
    minimum: PAIR,
    raises: `≥ ${SLOW.count} commands of ≥ ${SLOW.ms} ms in the window, or one of ≥ ${SLOW.aloneMs} ms (SLOWLOG; those of the doctor are left out)`,
    clears: `no command of ≥ ${SLOW.ms} ms in the window`,
    why: 'Commands run one after another: every search of this node waits for the slow one.',
    source: 'Redis documentation, “SLOWLOG GET” and “Diagnosing latency issues”; the default threshold is 10 ms',
    look: each(dataNodesOf, slowCommands),
  },
  {
    id: 'store-slowlog-off',
    severity: 'info',
    title: 'slow commands are not logged',
    needs: ['config'],
    raises: 'slowlog-log-slower-than < 0, or slowlog-max-len 0',
    why: 'A command that stops the node for a second leaves no trace.',
    source: 'Redis documentation, “SLOWLOG GET”',
    look: each(dataNodesOf, (view) => {
      const [threshold, length] = [view.config('slowlog-log-slower-than'), view.config('slowlog-max-len')];
      if (threshold === undefined || length === undefined) return skip(noConfig(view));
      return finding(Number(threshold) < 0 || Number(length) === 0, () => ({
        evidence: `slowlog-log-slower-than is ${threshold}, slowlog-max-len is ${length}: no slow command is logged.`,
        figures: { slowerThanMicros: Number(threshold), maxLen: Number(length) },
        advice: [
          cli(view, 'CONFIG SET slowlog-log-slower-than 10000'),
          cli(view, 'CONFIG SET slowlog-max-len 512'),
          'Or on every node: npm run serpcache -- doctor --enable slowlog',
        ],
      }));
    }),
  },
  {
    id: 'store-latency-event',
    severity: 'warning',
    title: 'the server stopped for a while',
    needs: ['info', 'latency'],
    minimum: 'latency-monitor-threshold > 0',
    raises: `an event of ≥ ${LATENCY.raises} ms in the window or the last ${LATENCY.recentSeconds} s; slow commands only while SLOWLOG is off`,
    clears: `no event of ≥ ${LATENCY.clears} ms in that time`,
    why: 'A fork, a slow disk or a long expiry stops every command; searches time out and go to the engine.',
    source: 'Redis documentation, “Latency monitoring”; a read of serpcache has 50 ms',
    look: each(dataNodesOf, latencyEvents),
  },
  {
    id: 'store-latency-off',
    severity: 'info',
    title: 'latency events are not kept',
    needs: ['config'],
    raises: 'latency-monitor-threshold 0',
    why: 'Forks, expiry and evictions that stop the node leave no trace.',
    source: 'Redis documentation, “Latency monitoring”; deploy/redis sets 50 ms',
    look: each(dataNodesOf, (view) => {
      const threshold = view.config('latency-monitor-threshold');
      if (threshold === undefined) return skip(noConfig(view));
      return finding(Number(threshold) === 0, () => ({
        evidence: 'latency-monitor-threshold is 0: the server keeps no latency events.',
        figures: { thresholdMs: 0 },
        advice: [
          cli(view, 'CONFIG SET latency-monitor-threshold 50'),
          'Or on every node: npm run serpcache -- doctor --enable latency-monitor',
        ],
      }));
    }),
  },
  {
    id: 'store-hit-ratio',
    severity: 'info',
    title: 'most look-ups find nothing',
    needs: ['info'],
    minimum: `${countText(HITS.lookups)} look-ups in the window`,
    raises: `< ${percentText(HITS.raises)} of the look-ups find their key`,
    clears: `≥ ${percentText(HITS.clears)}`,
    why: 'Each of these searches costs a round trip and then the engine.',
    source: 'Redis documentation, INFO: keyspace_hits, keyspace_misses',
    look: each(dataNodesOf, (view) => {
      // A control store is asked for names that are mostly absent.
      if (!view.store.isCache) return undefined;
      const [found, misses] = [view.grown('keyspace_hits'), view.grown('keyspace_misses')];
      if (found === undefined || misses === undefined) return skip(NO_PAIR);
      const hits = Math.max(0, found - (callsGrown(view, (command) => OWN_HITS.test(command)) ?? 0));
      const lookups = hits + misses;
      if (lookups < HITS.lookups) return skip(`fewer than ${countText(HITS.lookups)} look-ups`);
      const ratio = hits / lookups;
      if (ratio >= HITS.clears) return 'fine';
      return finding(raiseOrHold(ratio < HITS.raises), () => ({
        evidence: `${percentText(ratio)} of ${countText(lookups)} look-ups found their key.`,
        figures: { hitRatio: ratio, lookups },
        advice: [
          'Longer lifetimes (freshness.ttl, freshness.staleWhileRevalidate), if evictions are few: then more memory does not help.',
          'After a flush or a cold start: wait, or warm it: npm run serpcache -- warm DOMAIN',
        ],
      }));
    }),
  },
];
