import exec from 'k6/execution';
import type { Options, Scenario } from 'k6/options';
import { endedAt, scriptFaults, sent } from './metrics.ts';
import { optionsOf, vusFor } from './options.ts';
import { type Ask, createAsker, type Mix, readMix } from './queries.ts';
import { domainsOf, readQueries, sharedWords } from './query-list.ts';
import { checkReady } from './ready.ts';
import { firstNumbers, lastSecond } from './schedule.ts';
import { sendSearch } from './send.ts';
import { numberOf } from './setting.ts';
import type { Step } from './step.ts';
import { momentOf, stintsOf } from './stint.ts';
import type { K6Summary } from './summarize.ts';
import { type Begun, summaryOf } from './summary-of.ts';
import { readTarget, type Target } from './target.ts';
import { runWords } from './verdict-text.ts';
import { warmUp } from './warm-up.ts';
import { watchEngine } from './watch.ts';

export interface ScriptPlan {
  readonly name: string;
  /** What it is for, in one sentence. */
  readonly purpose: string;
  readonly steps: (rates: Rates) => readonly Step[];
  /** x1 when nobody says; absent: it has to be said. */
  readonly baseRps?: number;
  readonly mix: Mix;
  /** Share of the answers whose bodies are looked at, when nobody says. */
  readonly sample?: number;
  /** Each search of the file is asked once before it begins. */
  readonly isWarmed: boolean;
  /** Virtual users are for answers that take so long. */
  readonly slowSeconds?: number;
  readonly isEndless?: boolean;
  /** A closed loop of so many virtual users: for finding out how much goes, never for a verdict. */
  readonly closedVus?: number;
  /** Acts as an operator before any load. Whatever acts so needs ADMIN_URL and ADMIN_TOKEN. */
  readonly prepare?: (scene: Scene) => void;
  /** Acts beside the load, in a virtual user of its own. */
  readonly operator?: (scene: Scene) => void;
  /** Once the load has ended, also when it was cut short. */
  readonly teardown?: (scene: Scene) => void;
  /** Instead of one search per iteration. */
  readonly send?: (sending: IterationScene) => void;
}

export interface Rates {
  readonly baseRps: number;
  /** How long a step holds, when somebody wants it otherwise than the script. */
  readonly stepSeconds: (otherwise: number) => number;
}

export interface Scene {
  readonly target: Target;
  readonly steps: readonly Step[];
  /** Wall clock, ms. */
  readonly startedAtMs: number;
  /** Domains that are asked, in the order of the file. */
  readonly domains: readonly string[];
}

export interface IterationScene extends Scene {
  readonly baseUrl: string;
  readonly step: Step;
  /** Of this iteration in its step, from 0. */
  readonly iteration: number;
  /** The search with that number: `number` of this iteration's first. */
  readonly number: number;
  readonly ask: (n: number) => Ask;
  readonly isSampled: boolean;
}

/** What a script exports to k6. */
export interface Script {
  readonly options: Options;
  readonly setup: () => Begun;
  readonly search: (begun: Begun) => void;
  readonly watch: (begun: Begun) => void;
  readonly operate: (begun: Begun) => void;
  readonly teardown: (begun: Begun | undefined) => void;
  readonly handleSummary: (k6: K6Summary & { readonly setup_data?: Begun }) => Record<string, string>;
}

const DEFAULT_SAMPLE = 0.02;
/** Something on a busy machine stands still for a fifth of a second now and then. */
const DEFAULT_SLOW_SECONDS = 0.3;
const MOST_RPS = 1_000_000;

/** @throws Error, before anything is sent, with everything that is wrong with the environment. */
export function script(plan: ScriptPlan): Script {
  const target = readTarget(__ENV, plan.operator !== undefined || plan.prepare !== undefined);
  const baseRps = numberOf(__ENV, 'BASE_RPS', [0.1, MOST_RPS], plan.baseRps);
  const sample = numberOf(__ENV, 'SAMPLE', [0, 1], plan.sample ?? DEFAULT_SAMPLE);
  const maxVus = __ENV['MAX_VUS'] ? numberOf(__ENV, 'MAX_VUS', [1, 20_000]) : undefined;
  const mix = readMix(__ENV, plan.mix);
  const steps = plan.steps({
    baseRps,
    stepSeconds: (otherwise) => numberOf(__ENV, 'STEP_SECONDS', [1, 86_400], otherwise),
  });
  const queries = readQueries();
  const words = sharedWords(queries);
  const { slowSeconds = DEFAULT_SLOW_SECONDS, isEndless = false, closedVus } = plan;
  const endSecond = lastSecond(steps);
  const stints = stintsOf(steps);
  const first = firstNumbers(stints);
  const byName = new Map(stints.map((stint) => [stint.name, stint]));
  // Of this virtual user: what k6 is asked costs microseconds each time.
  let asker: ((n: number) => Ask) | undefined;
  let baseUrl: string | undefined;
  /** Its members tell of the scenario of the moment, also after this virtual user has gone on to another. */
  let scenario: typeof exec.scenario | undefined;
  let tagged = '';
  const tag = (step: string): void => {
    if (tagged !== step) exec.vu.metrics.tags['step'] = step;
    tagged = step;
  };

  const sceneOf = ({ startedAtMs, domains }: Begun): Scene => ({ target, steps, startedAtMs, domains });

  const iterate = (begun: Begun): void => {
    const ask = asker ?? createAsker({ queries, words, mix: { ...mix, seed: begun.seed } });
    asker = ask;
    scenario ??= exec.scenario;
    const { name, iterationInTest, startTime } = scenario;
    const stint = byName.get(name);
    if (stint === undefined) throw new Error(`no stint is called ${name}`);
    const { step, holds } = momentOf(stint, Date.now() - startTime);
    tag(holds ? step.name : 'ramp');
    sent.add(step.searchesPerRequest);
    const number = (first.get(name) ?? 0) + iterationInTest * step.searchesPerRequest;
    baseUrl ??= target.baseUrls[exec.vu.idInTest % target.baseUrls.length] ?? '';
    // The first of each step's is among them: of a sample by chance, a short step may have none.
    const isSampled = sample > 0 && iterationInTest % Math.max(1, Math.round(1 / sample)) === 0;
    if (plan.send !== undefined) {
      plan.send({ ...sceneOf(begun), baseUrl, step, iteration: iterationInTest, number, ask, isSampled });
    } else {
      sendSearch(baseUrl, ask(number), { shedsAllowed: step.limits?.shedsAllowed === true, isSampled });
    }
  };

  const search = (begun: Begun): void => {
    try {
      iterate(begun);
    } catch (fault) {
      // k6 writes it down and goes on, and the run would look as if nothing had happened.
      scriptFaults.add(1);
      throw fault;
    }
  };

  const besides = {
    ...(target.adminUrls.length > 0 ? { watch: alone('watch', endSecond) } : {}),
    ...(plan.operator === undefined ? {} : { operator: alone('operate', endSecond) }),
  };

  return {
    options: optionsOf({
      steps,
      ...(maxVus === undefined ? {} : { maxVus }),
      ...(closedVus === undefined ? {} : { closedVus }),
      slowSeconds,
      isEndless,
      beside: besides,
    }),
    setup: () => {
      const setUpAtMs = Date.now();
      // A file that does not give the searches that are wanted is said once, before anything is sent.
      createAsker({ queries, words, mix: { ...mix, seed: 0 } });
      for (const url of target.baseUrls) checkReady(url);
      // Nobody's seed is another one each time, or a second run would find the searches of the first in the cache.
      const seed = mix.seed ?? Math.floor(Date.now() / 1000);
      const domains = domainsOf(queries);
      plan.prepare?.({ target, steps, startedAtMs: setUpAtMs, domains });
      if (plan.isWarmed) warmUp(target.baseUrls, queries, mix.pages);
      const startedAtMs = Date.now();
      return { startedAtMs, setUpMs: startedAtMs - setUpAtMs, seed, domains };
    },
    search,
    watch: ({ startedAtMs }) => watchEngine(target.adminUrls, steps, startedAtMs, endSecond),
    operate: (begun) => {
      exec.vu.metrics.tags['step'] = 'operator';
      plan.operator?.(sceneOf(begun));
    },
    teardown: (begun) => {
      endedAt.add(Date.now());
      // Without a set-up nothing was begun.
      if (begun) plan.teardown?.(sceneOf(begun));
    },
    handleSummary: (k6) => {
      const begun = k6.setup_data;
      // Without a set-up nothing was sent: k6 has said why.
      if (begun === undefined) return {};
      const { name, purpose } = plan;
      const beside = Object.keys(besides).length;
      const summary = summaryOf({
        ...{ k6, begun, name, purpose, target, mix, baseRps, steps, beside, isEndless, sample },
        queryFile: __ENV['QUERIES'] ?? '',
        queryCount: queries.length,
        vusOf: (stint) => closedVus ?? maxVus ?? vusFor(stint, slowSeconds),
      });
      const file = __ENV['SUMMARY'];
      return file ? { [file]: JSON.stringify(summary) } : { stdout: runWords(summary) };
    },
  };
}

/** One virtual user that does one thing until the load ends. */
function alone(execName: string, endSecond: number): Scenario {
  return {
    executor: 'per-vu-iterations',
    exec: execName,
    vus: 1,
    iterations: 1,
    maxDuration: `${Math.ceil(endSecond) + 30}s`,
    gracefulStop: '5s',
  };
}
