import { countText, durationText, percentText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { type EngineFacts, known } from '../facts.ts';
import { type EngineView, enginesOf, fine, reasonOf, skipped, stateAbove } from '../window.ts';
import { isSameRun, mysql, NO_PAIR, searchdsAt, serversOf } from './engine-figures.ts';

/** Indexes of engines: their documents, their age, and the agents of distributed ones. */

// --- agents -----------------------------------------------------------------------------------------------------------

const AGENTS = { raises: 0.01, clears: 0.001 };

function agents(window: Window): readonly Observation[] {
  return serversOf(window).map((view): Observation => {
    const { subject, now, before } = view;
    const [listed, earlier] = [known(now.agents), known(before?.agents ?? { skipped: '' })];
    if (listed === undefined) return skipped(subject, reasonOf(now.agents));
    if (listed.length === 0) return fine(subject);
    if (earlier === undefined || !isSameRun(view)) return skipped(subject, NO_PAIR);
    const counts = listed.map((agent) => {
      const then = earlier.find((one) => one.agent === agent.agent);
      const by = (of: (one: typeof agent) => number): number =>
        Math.max(0, of(agent) - (then === undefined ? 0 : of(then)));
      const [failures, timeouts] = [by((one) => one.failures), by((one) => one.timeouts)];
      const asked = failures + timeouts + by((one) => one.queries);
      return { agent: agent.agent, failures, timeouts, asked, share: asked === 0 ? 0 : (failures + timeouts) / asked };
    });
    const failing = counts.filter(({ share }) => share >= AGENTS.clears).toSorted((a, b) => b.share - a.share);
    const [worst] = failing;
    if (worst === undefined) return fine(subject);
    const texts = failing
      .slice(0, MAX_NAMED)
      .map(
        (one) => `${one.agent} failed ${one.failures} and timed out ${one.timeouts} of ${countText(one.asked)} times`,
      );
    const more = failing.length > MAX_NAMED ? `, and ${failing.length - MAX_NAMED} other agents` : '';
    return {
      ...{ subject, state: stateAbove(worst.share, AGENTS) === 'raise' ? 'raise' : 'hold' },
      evidence: `In the window ${texts.join('; ')}${more}.`,
      figures: {
        ...{ agents: listed.length, failing: failing.length, worst: worst.agent },
        ...{ failures: worst.failures, timeouts: worst.timeouts, asked: worst.asked },
      },
      advice: [
        `Its last errors: ${mysql(now, 'SHOW AGENT STATUS')}`,
        `Start the searchd at ${worst.agent} again, or take it out of index ${now.index} (agent = …) and reload: indexer --rotate`,
        'A second server for the same part lets the next query pass it by: agent = host1:9312:part|host2:9312:part with ha_strategy = nodeads',
      ],
    };
  });
}

const MAX_NAMED = 3;

// --- documents --------------------------------------------------------------------------------------------------------

function empty(window: Window): readonly Observation[] {
  return enginesOf(window).map(({ subject, now }): Observation => {
    const documents = known(now.indexStatus)?.['indexed_documents'];
    if (documents === undefined) return skipped(subject, reasonOf(now.indexStatus) || NO_DOCUMENTS);
    if (Number(documents) !== 0) return fine(subject);
    return {
      ...{ subject, state: 'raise' },
      evidence: `Index ${now.index} has no documents.`,
      figures: { documents: 0 },
      advice: [build(now), ...now.domains.map((domain) => `Then the stored empty pages: ${flush(domain)}`)],
    };
  });
}

const NO_DOCUMENTS = 'the server does not tell the number of documents';

function build({ kind, index, domains }: EngineFacts): string {
  return kind === 'sqlite'
    ? `Build it: npm run serpcache -- index ${domains[0]} FILE.ndjson`
    : `Build it: indexer --config /etc/sphinxsearch/sphinx.conf --rotate ${index}`;
}

function flush(domain: string): string {
  return `npm run serpcache -- flush ${domain} --mode refresh`;
}

// --- age --------------------------------------------------------------------------------------------------------------

const OLD = { hours: 24 };
const MS_PER_HOUR = 3_600_000;

function age(window: Window): readonly Observation[] {
  return enginesOf(window).map((view): Observation => {
    const { subject, now } = view;
    const seconds = fileAgeOf(window, now);
    if (seconds === undefined)
      return skipped(subject, 'the age of its file is not known: doctor --host on its machine');
    const ageMs = 1000 * seconds;
    if (ageMs < OLD.hours * MS_PER_HOUR) return fine(subject);
    return {
      ...{ subject, state: 'raise' },
      evidence: `Index ${now.index} was built ${durationText(ageMs)} ago.`,
      figures: { ageMs, maxAgeMs: OLD.hours * MS_PER_HOUR },
      advice: [
        now.kind === 'sqlite'
          ? `${build(now)}; an index that is meant to be this old can be acknowledged`
          : `Look at the last run of the indexer and at “rotating” in searchd.log. ${build(now)}`,
      ],
    };
  });
}

/** Age of an embedded file, or of the header file of a searchd on a seen host. */
function fileAgeOf(window: Window, engine: EngineFacts): number | undefined {
  const own = known(engine.indexAge);
  if (own?.from === 'file') return own.seconds;
  const ages = searchdsAt(window, engine).flatMap(({ indexAgeSeconds }) => indexAgeSeconds?.[engine.index] ?? []);
  return ages.length === 0 ? undefined : Math.min(...ages);
}

const ROTATION = { seconds: 300, clears: 600 };
/** A real-time index changes with each document. */
const PLAIN: ReadonlySet<string> = new Set(['disk', 'local']);

function rotation(window: Window): readonly Observation[] {
  return serversOf(window).map((view): Observation => {
    const { subject, now } = view;
    const [status, changed] = [known(now.indexStatus), known(now.indexAge)];
    if (status === undefined || changed === undefined) {
      return skipped(subject, reasonOf(now.indexStatus) || reasonOf(now.indexAge));
    }
    const type = status['index_type'] ?? status['table_type'] ?? 'unknown';
    if (!PLAIN.has(type)) return skipped(subject, `an index of type ${type} is not rotated`);
    if (changed.from !== 'change' || changed.seconds >= ROTATION.clears) return fine(subject);
    const longestTtlMs = ttlOf(window, view);
    const documents = Number(status['indexed_documents']);
    const lives = longestTtlMs === undefined ? 'their ttl' : `up to ${durationText(longestTtlMs)} (freshness.ttl)`;
    return {
      ...{ subject, state: changed.seconds < ROTATION.seconds ? 'raise' : 'hold' },
      evidence: `Index ${now.index} was replaced at most ${durationText(1000 * changed.seconds)} ago and has ${countText(documents)} documents now; pages that were stored before are served for ${lives}.`,
      figures: {
        ...{ ageMs: 1000 * changed.seconds, documents },
        ...(longestTtlMs !== undefined && { ttlMs: longestTtlMs }),
      },
      advice: now.domains.flatMap((domain) => [flush(domain), `npm run serpcache -- warm ${domain}`]),
    };
  });
}

function ttlOf({ after }: Window, { now }: EngineView): number | undefined {
  const own = (after.service?.domains ?? []).filter(({ domain }) => now.domains.includes(domain));
  return own.length === 0 ? undefined : Math.max(...own.map(({ settings }) => settings.ttlMs));
}

export const INDEX_CHECKS: readonly Check[] = [
  {
    ...{ id: 'engine-agents', area: 'engine', severity: 'warning', title: 'agents of a distributed index fail' },
    ...{ needs: ['engine-status'], minimum: 'one query to the agent, and two readings of one run' },
    raises: `failures and timeouts of an agent ≥ ${percentText(AGENTS.raises)} of the queries to it`,
    clears: `< ${percentText(AGENTS.clears)}`,
    why: 'searchd answers without the part of a failed agent. Such pages are partial and are not stored, so each is asked again.',
    source: 'measured: success with a warning in SHOW META; Sphinx 2.2 manual, “SHOW STATUS”: ag_ counters',
    look: agents,
  },
  {
    ...{ id: 'engine-empty', area: 'engine', severity: 'critical', title: 'an index has no documents' },
    ...{ needs: ['engine-status'], minimum: 'none', raises: 'indexed_documents is 0', clears: 'otherwise' },
    why: 'Every search finds nothing without an error, and the empty pages are stored.',
    source: 'Sphinx 2.2 manual, “SHOW INDEX STATUS”',
    look: empty,
  },
  {
    ...{ id: 'engine-index-age', area: 'engine', severity: 'info', title: 'an index is old' },
    ...{ needs: ['engine-index', 'servers'], minimum: 'a file that can be seen' },
    ...{ raises: `it was built ≥ ${OLD.hours} h ago`, clears: 'otherwise' },
    why: 'A build or a rotation that fails goes unnoticed: searches are answered from the old index.',
    source: 'Sphinx 2.2 manual, “Live index updates”; a day is the usual interval of a whole build',
    look: age,
  },
  {
    ...{ id: 'engine-rotation', area: 'engine', severity: 'info', title: 'stored pages are of the replaced index' },
    ...{ needs: ['engine-status'], minimum: 'two readings with other figures of an index that is not real-time' },
    raises: `its documents or bytes changed less than ${durationText(1000 * ROTATION.seconds)} ago`,
    clears: `${durationText(1000 * ROTATION.clears)} ago`,
    why: 'A rotation gives clients no sign, and the cache does not know of it.',
    source: 'measured: a rotation under load fails no query and shows in SHOW INDEX STATUS only',
    look: rotation,
  },
];
