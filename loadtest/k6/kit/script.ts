import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Scenario } from 'k6/options';
import { numberOf, readTarget, type Target } from './environment.ts';
import { endedAt, scriptFaults, sent, watchEngine } from './metrics.ts';
import { optionsOf, vusFor } from './options.ts';
import { type Ask, createAsker, itemOf, type Mix, type OnceWords, onceWordsOf, readMix, SITE_MIX } from './queries.ts';
import { parseQueries, type Query } from './query-file.ts';
import { paramsOf, sendSearch } from './send.ts';
import {
  firstNumbers,
  inTurn,
  lastSecond,
  momentOf,
  type Segment,
  type Step,
  type StepWish,
  segmentsOf,
} from './step.ts';
import { type K6Summary, type SetupResult, summaryOf, summaryText } from './summarize.ts';

export interface ScriptPlan {
  readonly name: string;
  /** One sentence. */
  readonly purpose: string;
  readonly steps: (rates: Rates) => readonly StepWish[];
  /** The default of x1; absent: BASE_RPS is required. */
  readonly baseRps?: number;
  /** Absent: `SITE_MIX`. */
  readonly mix?: Mix;
  /** The default share of the answers whose bodies are checked. */
  readonly sample?: number;
  /** The load begins at once; otherwise each search of the file is asked once before. */
  readonly isCold?: true;
  /** The duration of answers for which there are enough virtual users. */
  readonly slowSeconds?: number;
  readonly isEndless?: boolean;
  /** Number of virtual users of a closed loop, which measures a maximum and gives no verdict. */
  readonly closedVus?: number;
  /** Acts as an operator before the load. `prepare` and `operator` require ADMIN_URL and ADMIN_TOKEN. */
  readonly prepare?: (run: RunContext) => void;
  /** Acts as an operator during the load, in its own virtual user. */
  readonly operator?: (run: RunContext) => void;
  /** Runs after the load, also after an interrupted run. */
  readonly teardown?: (run: RunContext) => void;
  /** Replaces the single search of an iteration. */
  readonly send?: (iteration: IterationContext) => void;
}

interface Rates {
  readonly baseRps: number;
  /** The duration of a step: STEP_SECONDS, or the value of the script. */
  readonly stepSeconds: (otherwise: number) => number;
}

export interface RunContext {
  readonly target: Target;
  readonly steps: readonly Step[];
  /** Wall clock, ms. */
  readonly startedAtMs: number;
  /** The domains of the query file, in its order. */
  readonly domains: readonly string[];
}

export interface IterationContext {
  readonly baseUrl: string;
  readonly step: Step;
  /** The number of the iteration in its segment, from 0. */
  readonly iteration: number;
  /** The number of the first search of this iteration. */
  readonly number: number;
  readonly ask: (n: number) => Ask;
  readonly shedsAllowed: boolean;
  readonly isSampled: boolean;
}

const DEFAULT_SAMPLE = 0.02;
/** On a busy machine a process is sometimes stopped for a fifth of a second. */
const DEFAULT_SLOW_SECONDS = 0.3;
const MAX_RPS = 1_000_000;

/** The exports of a script to k6. @throws Error, before anything is sent, with the faults of the environment. */
export function script(plan: ScriptPlan) {
  const { name, purpose, slowSeconds = DEFAULT_SLOW_SECONDS, isEndless = false, closedVus } = plan;
  const target = readTarget(__ENV, plan.operator !== undefined || plan.prepare !== undefined);
  const baseRps = numberOf(__ENV, 'BASE_RPS', [0.1, MAX_RPS], plan.baseRps);
  const sample = numberOf(__ENV, 'SAMPLE', [0, 1], plan.sample ?? DEFAULT_SAMPLE);
  const maxVus = __ENV['MAX_VUS'] ? numberOf(__ENV, 'MAX_VUS', [1, 20_000]) : undefined;
  const vusOf = (segment: Segment): number => closedVus ?? maxVus ?? vusFor(segment, slowSeconds);
  const mix = readMix(__ENV, plan.mix ?? SITE_MIX);
  const stepSeconds = (otherwise: number): number => numberOf(__ENV, 'STEP_SECONDS', [1, 86_400], otherwise);
  const steps = inTurn(plan.steps({ baseRps, stepSeconds }));
  const queries = readQueries();
  const words = sharedWords(queries);
  const endSecond = lastSecond(steps);
  const beside = {
    ...(target.adminUrls.length > 0 ? { watch: single('watch', endSecond) } : {}),
    ...(plan.operator === undefined ? {} : { operator: single('operate', endSecond) }),
  };
  type RunStart = Pick<RunContext, 'startedAtMs' | 'domains'>;
  const contextOf = ({ startedAtMs, domains }: RunStart): RunContext => ({ target, steps, startedAtMs, domains });
  const iterate = createIteration(plan, target, steps, sample, (seed) =>
    createAsker({ queries, words, mix: { ...mix, seed } }),
  );

  return {
    options: optionsOf({ steps, vusOf, isClosedLoop: closedVus !== undefined, beside, isEndless }),
    setup: (): SetupResult => {
      const setUpAtMs = Date.now();
      // A file without enough words is reported once, before anything is sent.
      createAsker({ queries, words, mix: { ...mix, seed: 0 } });
      for (const url of target.baseUrls) checkReady(url);
      // Without SEED each run has another seed, or a second run would find the searches of the first in the cache.
      const seed = mix.seed ?? Math.floor(Date.now() / 1000);
      const domains = [...new Set(queries.flatMap(({ domain }) => domain || []))];
      plan.prepare?.(contextOf({ startedAtMs: setUpAtMs, domains }));
      if (plan.isCold !== true) warmUp(target.baseUrls, queries, mix.pages);
      const startedAtMs = Date.now();
      return { startedAtMs, setUpMs: startedAtMs - setUpAtMs, seed, domains };
    },
    search: ({ seed }: SetupResult) => {
      try {
        iterate(seed);
      } catch (fault) {
        // k6 logs an exception and goes on: without this metric the run would look faultless.
        scriptFaults.add(1);
        throw fault;
      }
    },
    watch: ({ startedAtMs }: SetupResult) => watchEngine(target.adminUrls, steps, startedAtMs, endSecond),
    operate: (begun: SetupResult) => {
      exec.vu.metrics.tags['step'] = 'operator';
      plan.operator?.(contextOf(begun));
    },
    teardown: (begun: SetupResult | undefined) => {
      endedAt.add(Date.now());
      // Undefined if `setup` failed.
      if (begun) plan.teardown?.(contextOf(begun));
    },
    handleSummary: (k6: K6Summary & { readonly setup_data?: SetupResult }): Record<string, string> => {
      const begun = k6.setup_data;
      // `setup` failed: nothing was sent, and k6 has printed the reason.
      if (begun === undefined) return {};
      const summary = summaryOf({
        k6,
        begun,
        script: name,
        purpose,
        target,
        mix,
        baseRps,
        steps,
        isEndless,
        sample,
        vusOf,
        beside: Object.keys(beside).length,
        queryFile: __ENV['QUERIES'] ?? '',
        queryCount: queries.length,
      });
      const file = __ENV['SUMMARY'];
      return file ? { [file]: JSON.stringify(summary) } : { stdout: summaryText(summary) };
    },
  };
}

/** One iteration of a virtual user. Values of k6 are kept between iterations: each access takes microseconds. */
function createIteration(
  plan: ScriptPlan,
  target: Target,
  steps: readonly Step[],
  sample: number,
  createAsk: (seed: number) => (n: number) => Ask,
): (seed: number) => void {
  const segments = segmentsOf(steps);
  const first = firstNumbers(segments);
  const byName = new Map(segments.map((segment) => [segment.name, segment]));
  let ask: ((n: number) => Ask) | undefined;
  let baseUrl: string | undefined;
  /** Its members describe the current scenario, also after this virtual user was moved to another. */
  let scenario: typeof exec.scenario | undefined;
  let tagged = '';

  return (seed) => {
    ask ??= createAsk(seed);
    scenario ??= exec.scenario;
    const { name, iterationInTest, startTime } = scenario;
    const segment = byName.get(name);
    if (segment === undefined) throw new Error(`no segment has the name ${name}`);
    const { step, holds } = momentOf(segment, Date.now() - startTime);
    const tag = holds ? step.name : 'ramp';
    if (tagged !== tag) exec.vu.metrics.tags['step'] = tag;
    tagged = tag;
    sent.add(step.searchesPerRequest);
    const number = (first.get(name) ?? 0) + iterationInTest * step.searchesPerRequest;
    baseUrl ??= target.baseUrls[exec.vu.idInTest % target.baseUrls.length] ?? '';
    const shedsAllowed = step.limits?.shedsAllowed === true;
    // At fixed intervals from the first iteration: a random sample of a short step could be empty.
    const isSampled = sample > 0 && iterationInTest % Math.max(1, Math.round(1 / sample)) === 0;
    if (plan.send === undefined) sendSearch(baseUrl, ask(number), { shedsAllowed, isSampled });
    else plan.send({ baseUrl, step, iteration: iterationInTest, number, ask, shedsAllowed, isSampled });
  };
}

/** One virtual user that runs one function until the load ends. */
function single(execName: string, endSecond: number): Scenario {
  return {
    executor: 'per-vu-iterations',
    exec: execName,
    vus: 1,
    iterations: 1,
    maxDuration: `${Math.ceil(endSecond) + 30}s`,
    gracefulStop: '5s',
  };
}

/** The searches of the query file, with one copy as JSON for all virtual users. */
function readQueries(): readonly Query[] {
  const path = __ENV['QUERIES'];
  if (!path) throw new Error('QUERIES is missing; allowed: a file with one search a line, the most frequent first');
  const absolute = path.startsWith('/') ? path : `${__ENV['PWD'] ?? '.'}/${path}`;
  return new SharedArray('queries', () => [...parseQueries(open(absolute))]);
}

/**
 * The words of once-only searches, with one copy for all virtual users and one shared array per domain: with a plain list
 * each user would have its own, and with 600 users k6 scanned 0.4 MB more per user in each garbage collection.
 */
function sharedWords(queries: readonly Query[]): readonly OnceWords[] {
  const domains = new SharedArray<string>('domains', () => onceWordsOf(queries).map(({ domain }) => domain ?? ''));
  return Array.from(domains, (domain, i) => ({
    domain: domain || undefined,
    words: new SharedArray<string>(`words of ${domain}`, () => [...(onceWordsOf(queries)[i]?.words ?? [])]),
  }));
}

/** Ends the run if the address is not a ready serpcache: a mistyped address must not get load. */
function checkReady(url: string): void {
  const reply = http.get(`${url}/readyz`, { responseType: 'text', timeout: '5s', redirects: 0 });
  const isOurs = typeof reply.body === 'string' && /^\{"status":"[a-z-]+","process":/.test(reply.body);
  if (reply.status === 0) exec.test.abort(`no answer at ${url}: ${reply.error}`);
  if (!isOurs) exec.test.abort(`${url} is not serpcache: GET /readyz answered ${reply.status}`);
  if (reply.status !== 200) exec.test.abort(`${url} is not ready: GET /readyz answered ${reply.status}`);
}

const PER_BATCH = 50;
/** The maximum of searches by page number. Frequent searches matter most; the others warm up under load. */
const MAX_BY_PAGE = [
  [1, 10_000],
  [2, 1500],
  [3, 1500],
] as const;
const MAX_WARM_UP_MS = 60_000;

/**
 * Asks for every search once, the most frequent first, in batches one after the other, so that the engine sets the pace.
 * The base URLs take turns: each process gets a part into its memory, and the store gets all.
 * @param isDeep also second and third pages.
 */
function warmUp(baseUrls: readonly string[], queries: readonly Query[], isDeep: boolean): void {
  const untilMs = Date.now() + MAX_WARM_UP_MS;
  const params = { ...paramsOf('none', { 'content-type': 'application/json' }), tags: { name: 'warm-up' } };
  let batch = 0;
  for (const [page, max] of isDeep ? MAX_BY_PAGE : MAX_BY_PAGE.slice(0, 1)) {
    const count = Math.min(queries.length, max);
    for (let at = 0; at < count && Date.now() < untilMs; at += PER_BATCH) {
      const searches = [];
      for (let i = at; i < Math.min(count, at + PER_BATCH); i += 1) {
        const query = queries[i];
        if (query !== undefined) searches.push(itemOf({ ...query, q: query.text, page }));
      }
      const url = baseUrls[batch % baseUrls.length] ?? '';
      batch += 1;
      http.post(`${url}/msearch`, JSON.stringify({ searches }), params);
    }
  }
}
