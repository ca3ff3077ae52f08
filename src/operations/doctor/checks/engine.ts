import { countText, durationText, percentText } from '../../../report/format.ts';
import { type CheckRule, knownFigures, type Window } from '../check.ts';
import { known } from '../facts.ts';
import {
  type EngineView,
  each,
  finding,
  type Judgement,
  NO_PAIR,
  portPartOf,
  skip,
  stateAbove,
  tooFew,
  whyMissing,
} from '../window.ts';
import { mysql, refusesConnections, searchdsAt, searchServersOf, statusGrown } from './engine-figures.ts';
import { INDEX_CHECKS } from './engine-index.ts';

/** Search servers: whether they answer, how long queries take in them, and their connections. */

function maxedOut(view: EngineView, window: Window): Judgement {
  const { now, seconds } = view;
  const limit = limitOf(window, view);
  const isRefused = refusesConnections(now);
  const count = isRefused ? 1 : statusGrown(view, 'maxed_out');
  if (count === undefined) return skip(whyMissing(now.status) || NO_PAIR);
  return finding(count > 0, () => ({
    evidence: isRefused
      ? `The doctor's own connection was refused: ${whyMissing(now.status)}.`
      : `${countText(count)} connections were refused in ${durationText(1000 * seconds)}${limit === undefined ? '' : `; the server takes ${countText(limit)}`}.`,
    figures: knownFigures({ refused: count, limit }),
    advice: [
      'In its configuration: max_children = 100 (Manticore: max_connections = 100), then restart it',
      `Or fewer permits: domains.${now.domains[0]}.engine.maxConcurrent; permits of all domains and connections of other clients together must stay below the maximum.`,
      `Its clients, on its machine: ss -tn state established '( sport = :${Number(portPartOf(now.endpoint))} )'`,
    ],
  }));
}

const POOLS = { raises: 0.8, clears: 0.7 };

/** One search server with the indexes of it that domains use. */
type SharedEngine = ReturnType<typeof sharedEnginesOf>[number];

function sharedEnginesOf(window: Window) {
  const servers = Map.groupBy(searchServersOf(window), ({ now }) => now.endpoint);
  const endpointsOf = (domain: string): number =>
    [...servers.values()].filter((views) => views.some(({ now }) => now.domains.includes(domain))).length;
  return [...servers].map(([endpoint, views]) => {
    const shares = views.flatMap(({ now: { domains, settings } }) =>
      domains.map((domain) => [domain, Math.ceil(settings.maxConcurrent / endpointsOf(domain))] as const),
    );
    // Permits by domain: each endpoint of a domain gets an equal share of the domain's.
    return { subject: `engine ${endpoint}`, views, permits: new Map(shares) };
  });
}

/** The pools of all domains on one server share its connections, and each process has one of the doctor's for each index. */
function connections({ views, permits }: SharedEngine, window: Window): Judgement {
  const [limit] = views.flatMap((view) => limitOf(window, view) ?? []);
  if (limit === undefined) return skip(whyMissing(views[0]?.now.maxConnections) || 'no maximum is known');
  // 0: the server takes any number.
  if (limit === 0) return 'fine';
  const processes = Math.max(1, known(window.after.service?.fleet)?.length ?? 1);
  const needed = [...permits.values()].reduce((sum, share) => sum + share, processes * views.length);
  const named = [...permits].map(([domain, share]) => `${domain} ${share}`).join(', ');
  return finding(stateAbove(needed / limit, POOLS), () => ({
    evidence: `The permits (${named}) and the doctor's own connections (${processes} ${processes === 1 ? 'process' : 'processes'}) are ${countText(needed)} of the ${countText(limit)} connections that the server takes.`,
    figures: { needed, limit, share: needed / limit, processes },
    advice: [
      `In its configuration: max_children = ${2 * needed} (Manticore: max_connections = ${2 * needed}), then restart it`,
      `Or fewer permits: domains.${[...permits.keys()][0]}.engine.maxConcurrent`,
    ],
  }));
}

/** The maximum that the server tells, or that the configuration of a searchd on a seen host has. */
function limitOf(window: Window, { now }: EngineView): number | undefined {
  const told = known(now.maxConnections);
  if (told !== undefined) return told;
  return searchdsAt(window, now).flatMap(({ maxChildren = 0 }) => (maxChildren > 0 ? [maxChildren] : []))[0];
}

const WALL = { raises: 0.5, clears: 0.35, queries: 20 };

function wall(view: EngineView): Judgement {
  const { now } = view;
  const [queries, wallSeconds] = [statusGrown(view, 'queries'), statusGrown(view, 'query_wall')];
  if (known(now.status)?.['query_wall'] === 'OFF') return skip('the server does not count query_wall');
  if (queries === undefined || wallSeconds === undefined) return skip(whyMissing(now.status) || NO_PAIR);
  if (queries < WALL.queries) return tooFew(queries, WALL.queries, 'queries');
  const meanMs = (1000 * wallSeconds) / queries;
  const { deadlineMs, maxConcurrent } = now.settings;
  return finding(stateAbove(meanMs / deadlineMs, WALL), () => ({
    evidence: `${countText(queries)} queries took ${durationText(meanMs)} each on average in the server itself, and clients are answered without it after ${durationText(deadlineMs)} (engine.deadline).`,
    figures: { queries, meanMs, deadlineMs },
    advice: [
      `If its cores are busy: domains.${now.domains[0]}.engine.maxConcurrent: ${Math.max(1, Math.floor(maxConcurrent / 2))} (2–4 for each core), or another server: engine.mirrors`,
      'Find the slow ones: query_log = /var/log/sphinxsearch/query.log and query_log_format = sphinxql in its configuration',
    ],
  }));
}

const LATENCY = { raises: 250, clears: 100 };

function latency({ now }: EngineView, { after }: Window): Judgement {
  const rttMs = known(now.rttMs);
  if (rttMs === undefined) return skip(whyMissing(now.rttMs));
  const state = stateAbove(rttMs, LATENCY);
  // The time is taken by this process: a late event loop would be counted as the server's.
  const ownDelayMs = after.service?.loop.delayMs ?? 0;
  if (state !== 'fine' && ownDelayMs > rttMs / 4) {
    return skip(`the event loop of this process is ${durationText(ownDelayMs)} late`);
  }
  return finding(state, () => ({
    evidence: `SHOW STATUS, which reads no index, took ${durationText(rttMs)}.`,
    figures: { rttMs },
    advice: [
      'Its processors, on its machine: top -H -p $(pidof searchd)',
      'The way to it: npm run serpcache -- doctor --only network',
      `Fewer queries at a time: domains.${now.domains[0]}.engine.maxConcurrent; or another server: engine.mirrors`,
    ],
  }));
}

/** `29.0.2 d8f3e1a@…`, or without a number in a build of its own. */
const MANTICORE = /^[\d.]+ [0-9a-f]+@\d+/;
const SPHINX = /^2\.2\.11\b/;

export const ENGINE_CHECKS: readonly CheckRule[] = [
  {
    id: 'engine-unreachable',
    severity: 'critical',
    title: 'a search server does not answer',
    needs: ['engine-status'],
    raises: 'no connection, or no reply to SHOW STATUS within 1.8 s',
    clears: 'it answers',
    why: 'Pages that are not stored cannot be computed: only stale pages and the lifeboat are left.',
    source: 'measured: a stopped searchd accepts connections and sends nothing; a killed one refuses them',
    look: each(searchServersOf, ({ now }) => {
      // A server that refuses SHOW STATUS has told its version.
      if (known(now.status) !== undefined || known(now.version) !== undefined) return 'fine';
      const reason = whyMissing(now.status);
      if (refusesConnections(now)) return skip(`it refuses connections: ${reason}`);
      return finding(true, () => ({
        evidence: `SHOW STATUS got no answer: ${reason}.`,
        figures: { reason },
        advice: [
          `By hand: ${mysql(now, 'SHOW STATUS')}`,
          'Its process and its log: systemctl status sphinxsearch manticore; tail /var/log/sphinxsearch/searchd.log',
          'searchd is not started again after SIGKILL: Restart=always in its unit',
        ],
      }));
    }),
  },
  {
    id: 'engine-maxed-out',
    severity: 'critical',
    title: 'a search server refuses connections',
    needs: ['engine-status'],
    minimum: 'two readings of one run',
    raises: 'maxed_out grows, or the connection of the doctor is refused',
    clears: 'it does not grow in the window',
    why: 'Each refused connection is a search without its engine, and a failure for the breaker.',
    source:
      'Sphinx 2.2 manual, “max_children”; measured: with 64 the 65th gets “Too many connections”, idle ones count',
    look: each(searchServersOf, maxedOut),
  },
  {
    id: 'engine-connections',
    severity: 'warning',
    title: 'pools nearly fill a search server',
    needs: ['engine-index', 'servers', 'fleet'],
    minimum: 'a known maximum',
    raises: `permits of all domains and the doctor's own connections are ≥ ${percentText(POOLS.raises)} of max_children or max_connections`,
    clears: `< ${percentText(POOLS.clears)}`,
    why: 'Queries that were given up hold their connections until they are done, and other clients need some: the next is refused.',
    source: 'measured: a query goes on after its client has left, and counts toward the limit',
    look: each(sharedEnginesOf, connections),
  },
  {
    id: 'engine-wall',
    severity: 'warning',
    title: 'queries take long in the search server itself',
    needs: ['engine-status'],
    minimum: `${WALL.queries} queries in the window`,
    raises: `mean query_wall ≥ ${percentText(WALL.raises)} of engine.deadline`,
    clears: `< ${percentText(WALL.clears)}`,
    why: 'With such a mean the slower queries pass the deadline: their clients get a stale page or an error.',
    source: 'Sphinx 2.2 manual, “SHOW STATUS”: query_wall, queries; measured: p99 is 3 to 17 times p50',
    look: each(searchServersOf, wall),
  },
  {
    id: 'engine-latency',
    severity: 'warning',
    title: 'a search server is slow without any work',
    needs: ['engine-status'],
    minimum: 'an event loop of this process that is not late itself',
    raises: `the round trip of SHOW STATUS ≥ ${durationText(LATENCY.raises)}`,
    clears: `< ${durationText(LATENCY.clears)}`,
    why: 'Its threads wait for processors, or the network to it is slow: every query waits as long before it begins.',
    source: 'measured: below 1 ms on an idle searchd; in searches of 60 connections on two cores p95 is 243 ms',
    look: each(searchServersOf, latency),
  },
  {
    id: 'engine-long-threads',
    severity: 'warning',
    title: 'a query runs on without an end',
    needs: ['engine-index'],
    minimum: 'none; Sphinx only',
    raises: 'a thread works on one query for ≥ engine.hardDeadline',
    why: 'searchd does not stop a query whose client has left: it takes a core and a connection from live searches.',
    source: 'Sphinx 2.2 manual, “SHOW THREADS”; measured: queries of destroyed connections stay there until done',
    look: each(searchServersOf, ({ now }) => {
      const threads = known(now.threads);
      if (threads === undefined) return skip(whyMissing(now.threads));
      const { longestMs, count } = threads;
      const { hardDeadlineMs } = now.settings;
      return finding(longestMs >= hardDeadlineMs, () => ({
        evidence: `A query has been running for ${durationText(longestMs)}, beside ${countText(count - 1)} others; serpcache gives its own up after ${durationText(hardDeadlineMs)} (engine.hardDeadline).`,
        figures: { longestMs, threads: count, hardDeadlineMs },
        advice: [
          `Its text: ${mysql(now, 'SHOW THREADS')}`,
          'Bound what one query may cost: expansion_limit = 32 in its configuration; OPTION max_query_time=2000 in queries of other clients',
        ],
      }));
    }),
  },
  ...INDEX_CHECKS,
  {
    id: 'engine-kind',
    severity: 'warning',
    title: 'the configured kind is not the server',
    needs: ['engine-status'],
    raises: 'the version is of the other kind of server',
    why: 'The kinds highlight words differently: the wrong one gives pages with empty titles or without marks.',
    source: 'measured: Manticore parses the words of SNIPPET as a query, and Sphinx does not',
    look: each(searchServersOf, ({ now }) => {
      const version = known(now.version);
      if (version === undefined) return skip(whyMissing(now.version));
      const actual = MANTICORE.test(version) ? 'manticore' : SPHINX.test(version) ? 'sphinx' : now.kind;
      return finding(actual !== now.kind, () => ({
        evidence: `engine.kind is ${now.kind}, and the server says that its version is “${version}”.`,
        figures: { configured: now.kind, version },
        advice: now.domains.map((domain) => `domains.${domain}.engine.kind: ${actual}`),
      }));
    }),
  },
];
