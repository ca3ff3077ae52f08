import { countText, durationText, percentText } from '../../../report/format.ts';
import { HOUR } from '../../../schema/units.ts';
import { type CheckRule, knownFigures, type Window } from '../check.ts';
import { type EngineFacts, known } from '../facts.ts';
import {
  type EngineView,
  each,
  enginesOf,
  finding,
  type Judgement,
  NO_PAIR,
  raiseOrHold,
  skip,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { isSameRun, mysql, searchdsAt, searchServersOf } from './engine-figures.ts';

/** Indexes of engines: their documents, their age, and the agents of distributed ones. */

const AGENTS = { raises: 0.01, clears: 0.001 };
const MAX_NAMED = 3;

function agents(view: EngineView): Judgement {
  const { now, before } = view;
  const [listed, earlier] = [known(now.agents), known(before?.agents)];
  if (listed === undefined) return skip(whyMissing(now.agents));
  if (listed.length === 0) return 'fine';
  if (earlier === undefined || !isSameRun(view)) return skip(NO_PAIR);
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
  if (worst === undefined) return 'fine';
  const texts = failing
    .slice(0, MAX_NAMED)
    .map((one) => `${one.agent} failed ${one.failures} and timed out ${one.timeouts} of ${countText(one.asked)} times`);
  const more = failing.length > MAX_NAMED ? `, and ${failing.length - MAX_NAMED} other agents` : '';
  const { agent, failures, timeouts, asked } = worst;
  return finding(stateAbove(worst.share, AGENTS), () => ({
    evidence: `In the window ${texts.join('; ')}${more}.`,
    figures: { agents: listed.length, failing: failing.length, worst: agent, failures, timeouts, asked },
    advice: [
      `Its last errors: ${mysql(now, 'SHOW AGENT STATUS')}`,
      `Start the searchd at ${agent} again, or take it out of index ${now.index} (agent = …) and reload: indexer --rotate`,
      'A second server for the same part lets the next query pass it by: agent = host1:9312:part|host2:9312:part with ha_strategy = nodeads',
    ],
  }));
}

function build({ kind, index, domains }: EngineFacts): string {
  return kind === 'sqlite'
    ? `Build it: npm run serpcache -- index ${domains[0]} FILE.ndjson`
    : `Build it: indexer --config /etc/sphinxsearch/sphinx.conf --rotate ${index}`;
}

function flush(domain: string): string {
  return `npm run serpcache -- flush ${domain} --mode refresh`;
}

const OLD = { hours: 24 };

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

function rotation({ now }: EngineView, { after }: Window): Judgement {
  const [status, changed] = [known(now.indexStatus), known(now.indexAge)];
  if (status === undefined || changed === undefined) {
    return skip(whyMissing(now.indexStatus) || whyMissing(now.indexAge));
  }
  const type = status['index_type'] ?? status['table_type'] ?? 'unknown';
  if (!PLAIN.has(type)) return skip(`an index of type ${type} is not rotated`);
  if (changed.from !== 'change' || changed.seconds >= ROTATION.clears) return 'fine';
  const own = (after.service?.domains ?? []).filter(({ domain }) => now.domains.includes(domain));
  // A feed of changes makes the pages from before the rotation count as changed.
  if (own.length > 0 && own.every(({ feed }) => feed !== undefined)) return 'fine';
  const ttlMs = own.length === 0 ? undefined : Math.max(...own.map(({ settings }) => settings.ttlMs));
  const documents = Number(status['indexed_documents']);
  const ageMs = 1000 * changed.seconds;
  const lives = ttlMs === undefined ? 'their ttl' : `up to ${durationText(ttlMs)} (freshness.ttl)`;
  return finding(raiseOrHold(changed.seconds < ROTATION.seconds), () => ({
    evidence: `Index ${now.index} was replaced at most ${durationText(ageMs)} ago and has ${countText(documents)} documents now; pages that were stored before are served for ${lives}.`,
    figures: knownFigures({ ageMs, documents, ttlMs }),
    advice: now.domains.flatMap((domain) => [flush(domain), `npm run serpcache -- warm ${domain}`]),
  }));
}

export const INDEX_CHECKS: readonly CheckRule[] = [
  {
    id: 'engine-agents',
    severity: 'warning',
    title: 'agents of a distributed index fail',
    needs: ['engine-status'],
    minimum: 'one query to the agent, and two readings of one run',
    raises: `failures and timeouts of an agent ≥ ${percentText(AGENTS.raises)} of the queries to it`,
    clears: `< ${percentText(AGENTS.clears)}`,
    why: 'searchd answers without the part of a failed agent. Such pages are partial and are not stored, so each is asked again.',
    source: 'measured: success with a warning in SHOW META; Sphinx 2.2 manual, “SHOW STATUS”: ag_ counters',
    look: each(searchServersOf, agents),
  },
  {
    id: 'engine-empty',
    severity: 'critical',
    title: 'an index has no documents',
    needs: ['engine-status'],
    raises: 'indexed_documents is 0',
    why: 'Every search finds nothing without an error, and the empty pages are stored.',
    source: 'Sphinx 2.2 manual, “SHOW INDEX STATUS”',
    look: each(enginesOf, ({ now }) => {
      const documents = known(now.indexStatus)?.['indexed_documents'];
      if (documents === undefined) {
        return skip(whyMissing(now.indexStatus) || 'the server does not tell the number of documents');
      }
      return finding(Number(documents) === 0, () => ({
        evidence: `Index ${now.index} has no documents.`,
        figures: { documents: 0 },
        advice: [build(now), ...now.domains.map((domain) => `Then the stored empty pages: ${flush(domain)}`)],
      }));
    }),
  },
  {
    id: 'engine-index-age',
    severity: 'info',
    title: 'an index is old',
    needs: ['engine-index', 'servers'],
    minimum: 'a file that can be seen',
    raises: `it was built ≥ ${OLD.hours} h ago`,
    why: 'A build or a rotation that fails goes unnoticed: searches are answered from the old index.',
    source: 'Sphinx 2.2 manual, “Live index updates”; a day is the usual interval of a whole build',
    look: each(enginesOf, ({ now }, window) => {
      const seconds = fileAgeOf(window, now);
      if (seconds === undefined) return skip('the age of its file is not known: doctor --host on its machine');
      const [ageMs, maxAgeMs] = [1000 * seconds, OLD.hours * HOUR];
      return finding(ageMs >= maxAgeMs, () => ({
        evidence: `Index ${now.index} was built ${durationText(ageMs)} ago.`,
        figures: { ageMs, maxAgeMs },
        advice: [
          now.kind === 'sqlite'
            ? `${build(now)}; an index that is meant to be this old can be acknowledged`
            : `Look at the last run of the indexer and at “rotating” in searchd.log. ${build(now)}`,
        ],
      }));
    }),
  },
  {
    id: 'engine-rotation',
    severity: 'info',
    title: 'stored pages are of the replaced index',
    needs: ['engine-status'],
    minimum:
      'two readings with other figures of an index that is not real-time, and a domain without a feed of changes',
    raises: `its documents or bytes changed less than ${durationText(1000 * ROTATION.seconds)} ago`,
    clears: `${durationText(1000 * ROTATION.clears)} ago`,
    why: 'A rotation gives clients no sign, and without a feed of changes the cache does not know of it.',
    source: 'measured: a rotation under load fails no query and shows in SHOW INDEX STATUS only',
    look: each(searchServersOf, rotation),
  },
];
