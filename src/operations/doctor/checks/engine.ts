import type { Check, Observation, Window } from '../check.ts';
import { known, type Part } from '../facts.ts';
import { type EngineView, enginesOf, fine, grownBy, reasonOf, skipped, stateAbove } from '../window.ts';

/** Engines that are servers; the embedded one has no connections and no statistics. */
function serversOf(window: Window): readonly EngineView[] {
  return enginesOf(window).filter(({ now }) => now.kind !== 'sqlite');
}

/** A field of SHOW STATUS as a number; undefined when it is missing, or `OFF`. */
function level({ status }: EngineView['now'], field: string): number | undefined {
  const text = known(status)?.[field];
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Growth in the window; undefined without two readings of one run of the server. */
function grown(view: EngineView, field: string): number | undefined {
  const { now, before } = view;
  if (before === undefined || (level(before, 'uptime') ?? 0) > (level(now, 'uptime') ?? 0)) return undefined;
  if (level(now, field) === undefined || level(before, field) === undefined) return undefined;
  return grownBy({ now, before }, (facts) => level(facts, field) ?? 0);
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;

const unreachable: Check = {
  id: 'engine-unreachable',
  area: 'engine',
  severity: 'critical',
  title: 'a search server does not answer',
  needs: ['engine-status'],
  minimum: 'none',
  raises: 'SHOW STATUS is not answered within 1.8 s, or there is no connection',
  clears: 'it answers',
  why: 'Every miss needs it. Behind it only stored pages and the lifeboat are left.',
  source: 'design of serpcache: pages come from the store, then from the engine',
  look: (window) =>
    serversOf(window).map(({ now, subject }): Observation => {
      const reason = reasonOf(now.status);
      if (reason === '' || reason.startsWith('SHOW ')) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `SHOW STATUS got no answer: ${reason}.`,
        figures: { reason },
        advice: [
          `Look for the process and its log: systemctl status sphinxsearch; tail /var/log/sphinxsearch/searchd.log`,
          'After SIGKILL the watchdog of searchd does not start it again: Restart=always in its unit.',
        ],
      };
    }),
};

const maxedOut: Check = {
  id: 'engine-maxed-out',
  area: 'engine',
  severity: 'critical',
  title: 'a search server refuses connections',
  needs: ['engine-status'],
  minimum: 'two readings of one run of the server',
  raises: 'maxed_out grows',
  clears: 'it stands still',
  why: 'Each refused connection is a search without an engine. Idle connections of pools count toward the maximum.',
  source: 'Sphinx 2.2 reference manual, “max_children”; measured: the 65th of 64 gets error 1040',
  look: (window) =>
    serversOf(window).map((view): Observation => {
      const { subject, now } = view;
      const refused = grown(view, 'maxed_out');
      if (refused === undefined) return skipped(subject, reasonOf(now.status) || 'no two readings of one run');
      if (refused === 0) return fine(subject);
      const limit = known(now.maxConnections);
      return {
        subject,
        state: 'raise',
        evidence: `${refused} connections were refused in ${view.seconds.toFixed(1)} s${limit === undefined ? '' : `; ${limit} are allowed`}.`,
        figures: { refused, ...(limit === undefined ? {} : { limit }) },
        advice: [
          'Raise it in searchd.conf: max_children (Sphinx), max_connections (Manticore).',
          `Or lower engine.maxConcurrent of ${now.domains.join(', ')}: the sum over all domains and other clients must stay below it.`,
          `Who is connected: ss -tn dst ${now.endpoint}`,
        ],
      };
    }),
};

const WALL = { queries: 20, share: 0.5, clearShare: 0.35 };

const wall: Check = {
  id: 'engine-wall',
  area: 'engine',
  severity: 'warning',
  title: 'queries take long in the search server itself',
  needs: ['engine-status'],
  minimum: `${WALL.queries} queries in the window`,
  raises: `the average wall time is ≥ ${100 * WALL.share} % of the engine's deadline`,
  clears: `below ${100 * WALL.clearShare} %`,
  why: 'The deadline cuts the slower half of such queries: pages are lost although the server works.',
  source: 'Sphinx 2.2 reference manual, “SHOW STATUS”: query_wall, queries',
  look: (window) =>
    serversOf(window).map((view): Observation => {
      const { subject, now } = view;
      const [queries, seconds] = [grown(view, 'queries'), grown(view, 'query_wall')];
      if (queries === undefined || seconds === undefined) {
        return skipped(subject, reasonOf(now.status) || 'SHOW STATUS has no wall time');
      }
      if (queries < WALL.queries) return skipped(subject, `fewer than ${WALL.queries} queries`);
      const averageMs = (1000 * seconds) / queries;
      const { deadlineMs } = now.settings;
      const state = stateAbove(averageMs / deadlineMs, { raises: WALL.share, clears: WALL.clearShare });
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `${queries} queries took ${ms(averageMs)} each on average, with a deadline of ${ms(deadlineMs)}.`,
        figures: { averageMs, deadlineMs, queries },
        advice: [
          'Lower engine.maxConcurrent: beyond two to four times the cores of searchd only the waiting grows.',
          `Find the slow ones: query_log_format = sphinxql, then the query log; SHOW PROFILE for one of them.`,
        ],
      };
    }),
};

const LATENCY = { ms: 250, clearMs: 100 };

const latency: Check = {
  id: 'engine-latency',
  area: 'engine',
  severity: 'warning',
  title: 'a search server is slow to answer a statement without work',
  needs: ['engine-status'],
  minimum: 'none',
  raises: `SHOW STATUS takes ≥ ${LATENCY.ms} ms`,
  clears: `below ${LATENCY.clearMs} ms`,
  why: 'The statement needs no index. A long answer means that its threads wait for processors or for each other.',
  source: 'measured: 0.4 ms on an idle searchd, tens of milliseconds with 60 busy connections on two cores',
  look: (window) =>
    serversOf(window).map(({ now, subject }): Observation => {
      const rttMs = known(now.rttMs);
      if (rttMs === undefined) return skipped(subject, reasonOf(now.rttMs));
      const state = stateAbove(rttMs, { raises: LATENCY.ms, clears: LATENCY.clearMs });
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `SHOW STATUS took ${ms(rttMs)}.`,
        figures: { rttMs },
        advice: ['Lower engine.maxConcurrent, or add a mirror (engine.mirrors).', 'top -H -p $(pidof searchd)'],
      };
    }),
};

const agents: Check = {
  id: 'engine-agents',
  area: 'engine',
  severity: 'warning',
  title: 'agents of a distributed index fail',
  needs: ['engine-status', 'engine-index'],
  minimum: 'two readings of one run of the server',
  raises: 'agent_retry, or the failures and time-outs of an agent, grow',
  clears: 'they stand still',
  why: 'searchd answers without the part of a dead agent: a page that looks whole and is not. serpcache does not store it.',
  source: 'measured on 2.2.11: success with a warning in SHOW META; reference manual, “SHOW AGENT STATUS”',
  look: (window) =>
    serversOf(window).map((view): Observation => {
      const { subject, now, before } = view;
      const retries = grown(view, 'agent_retry');
      const [own, then] = [known(now.agents), before === undefined ? undefined : known(before.agents)];
      if (own === undefined || then === undefined || retries === undefined) {
        return skipped(subject, reasonOf(now.agents) || reasonOf(now.status) || 'no two readings of one run');
      }
      const failing = own.flatMap((agent) => {
        const earlier = then.find((one) => one.agent === agent.agent);
        const count = agent.failures + agent.timeouts - (earlier?.failures ?? 0) - (earlier?.timeouts ?? 0);
        return count > 0 ? [`${agent.agent} (${count})`] : [];
      });
      if (failing.length === 0 && retries === 0) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${retries} retries in the window; failures and time-outs: ${failing.join(', ') || 'of no agent that is listed'}.`,
        figures: { retries, agents: failing.length },
        advice: [
          'mysql -h HOST -P 9306 -e "SHOW AGENT STATUS"',
          'Start the agent again, or remove it from the index and rotate.',
        ],
      };
    }),
};

const CONNECTIONS = { share: 0.8 };

/** The maximum of the server, or of a searchd on a seen host that listens on that port. */
function limitOf(window: Window, { now }: EngineView): number | undefined {
  const told = known(now.maxConnections);
  if (told !== undefined) return told;
  const at = now.endpoint.lastIndexOf(':');
  const [host, port] = [now.endpoint.slice(0, at), Number(now.endpoint.slice(at + 1))];
  const isOn = (addresses: readonly string[]): boolean => host === 'localhost' || addresses.includes(host);
  const machines = window.after.hosts.filter(({ addresses }) => isOn(addresses));
  const servers = machines.flatMap(({ servers: listed }) => known(listed) ?? []);
  return servers.find((server) => server.program === 'searchd' && server.port === port)?.maxChildren;
}

const connections: Check = {
  id: 'engine-connections',
  area: 'engine',
  severity: 'warning',
  title: 'pools may take nearly every connection of a search server',
  needs: ['engine-index', 'servers'],
  minimum: 'the maximum is known',
  raises: `the permits of the fleet, with a probe for each process, are ≥ ${100 * CONNECTIONS.share} % of the maximum`,
  clears: 'otherwise',
  why: 'Connections of the indexer, of operators and of health checks need room too; at the maximum searches are refused.',
  source: 'measured: idle pooled connections count toward max_children',
  look: (window) =>
    serversOf(window).map((view): Observation => {
      const { subject, now } = view;
      const limit = limitOf(window, view);
      if (limit === undefined) return skipped(subject, 'the maximum of its connections is not known');
      const processes = processesOf(window);
      const wanted = now.settings.maxConcurrent + 2 * processes;
      if (wanted < CONNECTIONS.share * limit) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${now.settings.maxConcurrent} permits of ${now.domains.join(', ')} and 2 connections for each of ${processes} processes are ${wanted} of ${limit} connections.`,
        figures: { permits: now.settings.maxConcurrent, processes, limit },
        advice: ['Raise max_children (Sphinx) or max_connections (Manticore).', 'Or lower engine.maxConcurrent.'],
      };
    }),
};

function processesOf({ after }: Window): number {
  const fleet = after.service === undefined ? undefined : known(after.service.fleet);
  return Math.max(1, fleet?.length ?? 1);
}

const OLD_SECONDS = 86_400;

const indexAge: Check = {
  id: 'engine-index-age',
  area: 'engine',
  severity: 'info',
  title: 'an index is old',
  needs: ['engine-index'],
  minimum: 'its file is known, or it was watched that long',
  raises: 'it was built, or last changed, more than 24 hours ago',
  clears: 'otherwise',
  why: 'A rotation that fails goes unnoticed: searches answer from the old index.',
  source: 'Sphinx 2.2 reference manual, “Live index updates”',
  look: (window) =>
    serversOf(window).map((view): Observation => {
      const { subject, now } = view;
      const fromFile = fileAgeOf(window, view);
      const own: Part<number> = 'known' in now.indexAge ? { known: now.indexAge.known.seconds } : now.indexAge;
      const seconds = fromFile ?? known(own);
      if (seconds === undefined) return skipped(subject, reasonOf(now.indexAge));
      if (seconds < OLD_SECONDS) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${now.index} ${fromFile === undefined ? 'has not changed for' : 'was built'} ${(seconds / 3600).toFixed(0)} hours${fromFile === undefined ? '' : ' ago'}.`,
        figures: { seconds },
        advice: [
          'Look at the last run of the indexer: indexer --rotate --all',
          'Then purge or warm: serpcache flush, serpcache warm.',
        ],
      };
    }),
};

function fileAgeOf(window: Window, { now }: EngineView): number | undefined {
  const ages = window.after.hosts
    .flatMap(({ servers }) => known(servers) ?? [])
    .flatMap(({ indexAgeSeconds }) => indexAgeSeconds?.[now.index] ?? []);
  return ages.length === 0 ? undefined : Math.min(...ages);
}

const ROTATED_SECONDS = 300;

const rotated: Check = {
  id: 'engine-rotation',
  area: 'engine',
  severity: 'info',
  title: 'an index was replaced, and stored pages are of the old one',
  needs: ['engine-index'],
  minimum: 'two readings of its figures',
  raises: `its documents or bytes changed in the last ${ROTATED_SECONDS / 60} minutes`,
  clears: 'otherwise',
  why: 'Pages stay in the cache for their ttl: until then some answers are of the old index.',
  source: 'measured: a rotation gives clients no sign',
  look: (window) =>
    serversOf(window).map(({ subject, now }): Observation => {
      const age = known(now.indexAge);
      if (age === undefined) return skipped(subject, reasonOf(now.indexAge));
      if (age.from !== 'change' || age.seconds > ROTATED_SECONDS) return fine(subject);
      const documents = known(now.indexStatus)?.['indexed_documents'] ?? 'an unknown number of';
      return {
        subject,
        state: 'raise',
        evidence: `${now.index} changed ${age.seconds.toFixed(0)} seconds ago and has ${documents} documents now.`,
        figures: { seconds: age.seconds },
        advice: now.domains.map((domain) => `serpcache flush ${domain}, then serpcache warm ${domain}`),
      };
    }),
};

const empty: Check = {
  id: 'engine-empty',
  area: 'engine',
  severity: 'critical',
  title: 'an index has no documents',
  needs: ['engine-index'],
  minimum: 'none',
  raises: 'indexed_documents is 0',
  clears: 'otherwise',
  why: 'Every search finds nothing, and the empty pages are stored.',
  source: 'Sphinx 2.2 reference manual, “SHOW INDEX STATUS”',
  look: (window) =>
    serversOf(window).map(({ subject, now }): Observation => {
      const documents = known(now.indexStatus)?.['indexed_documents'];
      if (documents === undefined)
        return skipped(subject, reasonOf(now.indexStatus) || 'it tells no number of documents');
      if (Number(documents) > 0) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${now.index} has ${documents} documents.`,
        figures: { documents: 0 },
        advice: [
          'Build it: indexer --rotate --all',
          `Then remove the empty pages: serpcache purge, or serpcache flush ${now.domains[0] ?? 'DOMAIN'}`,
        ],
      };
    }),
};

const longThreads: Check = {
  id: 'engine-long-queries',
  area: 'engine',
  severity: 'warning',
  title: 'a query runs on after everybody has given it up',
  needs: ['engine-index'],
  minimum: 'none',
  raises: 'a thread works longer than the hard deadline of serpcache',
  clears: 'otherwise',
  why: 'searchd does not stop a query whose client has left. It holds a processor that live searches need.',
  source: 'measured: queries stay in SHOW THREADS after their connection is destroyed',
  look: (window) =>
    serversOf(window).map(({ subject, now }): Observation => {
      const threads = known(now.threads);
      if (threads === undefined) return skipped(subject, reasonOf(now.threads));
      if (threads.longestMs < now.settings.hardDeadlineMs) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `A thread works for ${ms(threads.longestMs)}; the hard deadline is ${ms(now.settings.hardDeadlineMs)}.`,
        figures: { longestMs: threads.longestMs, threads: threads.count },
        advice: [
          'mysql -h HOST -P 9306 -e "SHOW THREADS"',
          'Bound it in searchd.conf: max_query_time as an OPTION, expansion_limit, query_log to find it.',
        ],
      };
    }),
};

export const ENGINE_CHECKS: readonly Check[] = [
  ...[unreachable, maxedOut, wall, latency, agents, connections],
  ...[indexAge, rotated, empty, longThreads],
];
