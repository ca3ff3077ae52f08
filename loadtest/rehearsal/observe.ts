/**
 * `npm run observe`: the local stack with a real Prometheus, the load x1 for a minute, and three faults. Shows that each
 * fault fires its alert and that the alert clears, and that every query of the dashboards and every recording rule
 * returns data. Exit status 1 when one does not. Loopback only; ends by itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import { readArguments } from '../runner/arguments.ts';
import { readSummary } from '../runner/k6-output.ts';
import { k6Program } from '../runner/k6-program.ts';
import { writeQueries } from '../runner/queries.ts';
import { type Ran, run } from '../runner/run.ts';
import { documentsOf, type StackPlan } from '../stack/plan.ts';
import { stopOnSignals } from '../stack/process.ts';
import { createPrometheusClient, type PrometheusClient } from '../stack/prometheus.ts';
import { down, up } from '../stack/stack.ts';
import { firstIndex, readFreePlan, replicaOf } from './harness.ts';
import { namesOf, type Provoked, provocationsOf, provoke, withShortenedRules } from './observe-alerts.ts';
import { ask, mayBeUnseen, metricsIn, panelQueries, summaryOf } from './observe-panels.ts';
import { say } from './rehearse.ts';

const REPLICAS = 2;
const X1 = 100;
const UNDISTURBED_MS = 60_000;
/** Searches that no cache holds, so that the engine has work. */
const ONCE_SHARE = 0.1;
/** The load ends with the rehearsal, and by itself after this time. */
const MAX_LOAD_SECONDS = 600;
/** An alert that waits 15 minutes fires after 15 s. */
const FACTOR = 60;

const PROGRAM: Program = {
  command: 'npm run observe --',
  usage: '[options]',
  about: [
    'Starts the local stack with a Prometheus, sends x1, provokes three alerts, and sends every query of the dashboards to',
    'Prometheus; about 3 minutes.',
  ],
  options: [{ name: 'keep', about: 'leave the stack and Prometheus running, without load' }],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, observe);

async function observe(words: ParsedArguments): Promise<number> {
  using stopping = stopOnSignals(say);
  const plan = withShortenedRules(readFreePlan(REPLICAS, { isWatched: true }), FACTOR);
  const { prometheus } = plan;
  if (prometheus === undefined) throw new Error('a stack without Prometheus');
  const client = createPrometheusClient(`http://127.0.0.1:${prometheus.port}`);
  let isKept = false;
  try {
    title('The stack');
    // A k6 that is built first takes longer than the whole undisturbed minute.
    await k6Program(undefined, say);
    await up(plan, say);
    say(`prometheus scrapes ${plan.replicas.length} processes at ${client.url}`);
    const isMet = await rehearse(plan, client, stopping.signal);
    isKept = words.has('keep');
    if (isKept) say(`${client.url} stays, with the shortened rules: \`npm run stack -- down\` ends everything`);
    return isMet ? EXIT.passed : EXIT.failed;
  } finally {
    if (!isKept) await down(plan);
  }
}

async function rehearse(plan: StackPlan, prometheus: PrometheusClient, signal: AbortSignal): Promise<boolean> {
  const fromMs = Date.now();
  const { domain } = firstIndex(plan);
  const load = await startLoad(plan, prometheus.url, signal);
  try {
    title(`Load: ${X1} searches a second from k6 (x1), which writes its own figures to Prometheus`);
    await load.during(sleep(UNDISTURBED_MS, undefined, { signal }));
    const early = (await prometheus.alerts()).filter(({ state }) => state === 'firing');
    say(`after ${UNDISTURBED_MS / 1000} s without a fault these alerts fire: ${namesOf(early).join(', ') || 'none'}`);

    title(`Alerts: each wait (\`for:\`) of deploy/prometheus divided by ${FACTOR}, nothing else changed`);
    const [first] = plan.replicas;
    if (first === undefined) throw new Error('a stack without serpcache');
    const provoked: Provoked[] = [];
    const cleared = () => Promise.all(provoked.map((one) => one.clearedSeconds));
    for (const each of provocationsOf({ plan, domain: domain.name, replica: replicaOf(plan, first) })) {
      signal.throwIfAborted();
      if (each.silences === true) await load.during(cleared());
      const one = await load.during(provoke(prometheus, each));
      provoked.push(one);
      say(firedText(one));
    }
    const clearedSeconds = await load.during(cleared());
    for (const [at, { alert }] of provoked.entries()) say(`${alert}: ${clearedText(clearedSeconds[at])}`);
    const ran = await load.stop();
    say(await loadText(ran));

    const time = { prometheus, fromMs, untilMs: Date.now() };
    title('Queries of the dashboards, over the time of the rehearsal');
    const queries = panelQueries();
    const panels = summaryOf(await ask(queries, time), 'queries of the dashboards');
    for (const line of panels.lines) say(line);
    const known = new Set(await prometheus.names());
    const named = metricsIn(queries.map(({ expression }) => expression));
    const unseen = named.filter((name) => !known.has(name));
    const missing = unseen.filter((name) => !mayBeUnseen(name));
    title('Recording rules');
    const rules = await prometheus.rules();
    const recorded = rules
      .filter(({ type }) => type === 'recording')
      .map(({ name }) => ({ group: '', name, expression: name }));
    const records = summaryOf(await ask(recorded, time), 'recording rules');
    for (const line of records.lines) say(line);
    const faults = rules.flatMap(({ name, lastError = '' }) => (lastError === '' ? [] : [`${name}: ${lastError}`]));
    for (const fault of faults) say(`  FAULT    ${fault}`);

    title('Result');
    const met = provoked.filter(
      ({ firedSeconds }, at) => firedSeconds !== undefined && clearedSeconds[at] !== undefined,
    ).length;
    say(`${met} of ${provoked.length} alerts fired and cleared`);
    say(panels.text);
    say(
      `${named.length - unseen.length} of the ${named.length} metrics in them were seen${unseenText(unseen, missing)}`,
    );
    say(`${records.text}; ${rules.length - recorded.length} alerts were evaluated, ${faults.length} with a fault`);
    return met === provoked.length && panels.isMet && missing.length === 0 && records.isMet && faults.length === 0;
  } finally {
    await load.stop().catch(() => undefined);
    rmSync(load.folder, { recursive: true, force: true });
  }
}

/** k6 in the background. Its verdict does not matter: the faults spoil it. */
async function startLoad(plan: StackPlan, prometheusUrl: string, signal: AbortSignal) {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-observe-'));
  const queries = join(folder, 'queries.tsv');
  const domains = plan.indexes.map(({ domain }) => domain);
  await writeQueries({ file: queries, corpora: plan.corpora, domains, documents: documentsOf });
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const options = {
    'base-url': plan.replicas.map(({ port }) => at(port)).join(','),
    'admin-url': plan.replicas.map(({ adminPort }) => at(adminPort)).join(','),
    queries,
    out: folder,
    prometheus: prometheusUrl,
    'base-rps': X1,
    'step-seconds': MAX_LOAD_SECONDS,
    'once-share': ONCE_SHARE,
  };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const read = readArguments(['smoke', ...words], {});
  if (read.kind !== 'run') throw new Error(`k6 cannot be called: ${JSON.stringify(read)}`);
  const over = new AbortController();
  const running = run(read.options, { say, signal: AbortSignal.any([signal, over.signal]) });
  const early = running.then((ran) => Promise.reject(new Error(`the load ended early: ${JSON.stringify(ran.end)}`)));
  // A load that was stopped rejects too, and nothing waits for it.
  early.catch(() => undefined);
  return {
    folder,
    /** @throws when the load ends before the work. */
    during: <T>(work: Promise<T>): Promise<T> => Promise.race([work, early]),
    stop: (): Promise<Ran> => {
      over.abort();
      return running;
    },
  };
}

async function loadText({ folder }: Ran): Promise<string> {
  const summary = await readSummary(folder.path);
  const [step] = summary?.steps ?? [];
  if (step === undefined) throw new Error('k6 left no summary');
  return `the load: ${step.searches} searches in ${step.seconds.toFixed(0)} s`;
}

function firedText({ alert, after, firedSeconds, summary, beside }: Provoked): string {
  const fired = firedSeconds === undefined ? 'DID NOT FIRE' : `fires ${firedSeconds.toFixed(0)} s`;
  return [
    `${alert}: ${fired} after ${after}`,
    ...(summary === '' ? [] : [`  “${summary}”`]),
    ...(beside.length === 0 ? [] : [`  beside it: ${beside.join(', ')}`]),
  ].join('\n  ');
}

function clearedText(seconds: number | undefined): string {
  return seconds === undefined ? 'DID NOT CLEAR' : `clear ${seconds.toFixed(0)} s after the end of the fault`;
}

/** A query that falls back to 0 returns data without its metric, so the metrics are judged as well. */
function unseenText(names: readonly string[], missing: readonly string[]): string {
  const excused = names.filter((name) => !missing.includes(name));
  return [
    ...(excused.length === 0 ? [] : [`; not in this run, as it may be: ${excused.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`; HAD TO be there: ${missing.join(', ')}`]),
  ].join('');
}

function title(text: string): void {
  console.log(`\n${text}`);
}
