import { existsSync } from 'node:fs';
import { copyFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from '../../src/commands/admin-client.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import { earlierRun } from '../judge/compare.ts';
import { type BaseRate, CannotRun, type RunEvent, type RunRecord } from '../judge/record.ts';
import { makeRunFolder, type RunFolder } from '../labs/kit/keep.ts';
import { documentsOf } from '../stack/plan.ts';
import { operatorAt } from '../stack/service.ts';
import { type RunOptions, SCRIPTS, type ScriptEntry } from './arguments.ts';
import { eventsIn, K6_FILES, logTail } from './k6-output.ts';
import { type K6Run, runSampledK6, type SampledK6 } from './k6-process.ts';
import { type K6Program, k6Environment, k6Program, plannedMs } from './k6-program.ts';
import { calibrate, type LocalStack, type Pins, pinsHere, planLocalStack, startLocalStack } from './local-stack.ts';
import { writeQueries } from './queries.ts';

interface RunContext {
  readonly say: (text: string) => void;
  /** Aborted: k6 is interrupted, and everything that was started is taken down. */
  readonly signal: AbortSignal;
}

interface Wanted {
  readonly options: RunOptions;
  readonly entry: ScriptEntry;
  readonly file: string;
  readonly program: K6Program;
  /** Absent: the load goes to the addresses of the options. */
  readonly stack?: LocalStack;
  readonly pins?: Pins;
}

/** A finished run, without the files that k6 has written into its folder. */
export interface Ran extends Wanted, SampledK6 {
  readonly folder: RunFolder;
  readonly base: BaseRate;
  readonly events: readonly RunEvent[];
  readonly against?: RunRecord;
}

/**
 * One run, from finding k6 until the stack is taken down again, also after a failure.
 * @throws CannotRun when no load was sent, or when k6 itself failed; any other Error of a program that was started.
 */
export async function run(options: RunOptions, context: RunContext): Promise<Ran> {
  const { script, queries } = options;
  const { say } = context;
  const entry = SCRIPTS[script];
  const file = join(import.meta.dirname, '..', 'k6', `${script}.ts`);
  if (entry === undefined || !existsSync(file)) throw new CannotRun(`there is no script loadtest/k6/${script}.ts`);
  if (queries !== undefined && !existsSync(queries)) throw new CannotRun(`--queries: there is no file ${queries}`);
  const against = options.against === undefined ? undefined : await earlierRun(options.against, options.out, script);
  if (options.against !== undefined && against === undefined) say(`no earlier run of ${script} to compare with`);
  const program = await k6Program(options.k6, say);
  const wanted = { options, entry, file, program };
  throwIfStopped(context);
  if (options.stack === 'none') return { ...(await sendLoad(wanted, context)), against };

  const plan = planLocalStack(options.replicas, entry.stackEnv);
  const pins = options.pin ? await pinsHere(say) : undefined;
  const stack = await startLocalStack(plan, pins, say);
  try {
    return { ...(await sendLoad({ ...wanted, stack, pins }, context)), against };
  } finally {
    if (options.keepStack) say('the stack stays: `npm run stack -- down` ends it');
    // The run is over: its results must not be lost because a part cannot be ended.
    else await stack.stop().catch((error: unknown) => say(`the stack could not be taken down: ${error}`));
  }
}

function throwIfStopped({ signal }: RunContext): void {
  if (signal.aborted) throw new CannotRun('stopped before any load was sent');
}

/** A run that takes longer than planned by more than this is ended. */
const SLACK_MS = 30_000;
/** k6's exit codes: done, a threshold crossed, interrupted, aborted by the script, marked as failed. */
const ENDED_WELL: readonly (number | undefined)[] = [0, 99, 105, 108, 110];

/** Sends the load and samples meanwhile. @throws CannotRun when none was sent, or when k6 itself failed. */
async function sendLoad(wanted: Wanted, context: RunContext): Promise<Ran> {
  const { options, file, program, stack, pins } = wanted;
  throwIfStopped(context);
  const folder = await makeRunFolder(options.out, options.script, Date.now());
  const queries = await queryFile(wanted, folder);
  const base = await baseRate(wanted, folder, queries, context);
  throwIfStopped(context);
  const { baseUrls, adminUrls, adminToken } = stack ?? options;
  const target = { baseUrls, adminUrls, adminToken };
  const env = k6Environment({ id: folder.id, ...target, baseRps: base.rps, queries, numbers: options.numbers });
  const limitMs = (await plannedMs({ program, file, env })) + SLACK_MS;
  const k6: K6Run = {
    program,
    file,
    env,
    folder: folder.path,
    cpus: pins?.generatorCpus,
    prometheus: options.prometheus,
    limitMs,
    signal: context.signal,
  };
  const parts = { adminUrls, stores: stack?.stores ?? [], processes: stack?.processes ?? (() => []), host: !!stack };
  const { end, samples } = await runSampledK6(k6, parts);
  if (end.cut === undefined && !ENDED_WELL.includes(end.code)) {
    throw new CannotRun(`k6 ended with ${end.code ?? 'a signal'}:\n${await logTail(folder.path)}`);
  }
  const events = await eventsIn(join(folder.path, K6_FILES.log));
  if (adminUrls.length > 0) await keepJournals({ ...target, events, folder: folder.path, say: context.say });
  return { ...wanted, folder, base, end, samples, events };
}

/** A larger file is not copied into the folder of each run. */
const MAX_QUERY_BYTES = 64 * 2 ** 20;

/** The given query file, or one that is written for the local stack. */
async function queryFile({ options, stack }: Wanted, folder: RunFolder): Promise<string> {
  const kept = join(folder.path, 'queries.tsv');
  if (options.queries !== undefined) {
    const given = resolve(options.queries);
    if ((await stat(given)).size <= MAX_QUERY_BYTES) await copyFile(given, kept);
    return given;
  }
  if (stack !== undefined) {
    const { corpora, indexes } = stack.plan;
    await writeQueries({ file: kept, corpora, domains: indexes.map(({ domain }) => domain), documents: documentsOf });
  }
  return kept;
}

async function baseRate(
  { options, entry, program, stack }: Wanted,
  folder: RunFolder,
  queries: string,
  { say, signal }: RunContext,
): Promise<BaseRate> {
  const given = options.numbers['base-rps'] ?? (entry.base === 'measured' ? undefined : entry.base);
  if (given !== undefined) return { rps: given, from: 'told' };
  if (stack === undefined) throw new CannotRun('--base-rps is missing: x1 is only measured on the local stack');
  return calibrate({ plan: stack.plan, program, queries, folder: folder.path, say, signal });
}

interface JournalsWanted extends Pick<RunContext, 'say'>, Pick<RunOptions, 'adminUrls' | 'adminToken'> {
  readonly events: readonly RunEvent[];
  readonly folder: string;
  /** A drill takes its last samples after the load has ended. */
  readonly waitMs?: number;
}

const WAIT_MS = 30_000;
const POLL_MS = 500;
const ANSWER_MS = 10_000;
const MAX_DRILLS = 20;
/** Samples from the millionth on, which is none: a poll for the state need not carry megabytes. */
const WITHOUT_SAMPLES = [['samples', '1000000']] as const;
/** The form of the service's ids: an id becomes a file name here. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Writes `drill-<id>.json` and the drill's own report beside it. A missing one is reported and left out. */
export async function keepJournals(wanted: JournalsWanted): Promise<void> {
  const { events, adminUrls, adminToken, folder, say, waitMs = WAIT_MS } = wanted;
  const ids = [...new Set(events.flatMap(({ drill }) => (drill !== undefined && ID.test(drill) ? [drill] : [])))];
  const clients = adminUrls.map((url) => operatorAt(url, adminToken, 'loadtest'));
  const untilMs = performance.now() + waitMs;
  for (const id of ids.slice(0, MAX_DRILLS)) {
    const found = await ownerOf(clients, id, untilMs);
    if (found === undefined) {
      say(`no process gives the journal of drill ${id}`);
      continue;
    }
    await writeFile(join(folder, `drill-${id}.json`), JSON.stringify(found.journal));
    try {
      await writeFile(join(folder, `drill-${id}.html`), await found.client.page(`/admin/drills/${id}/report`));
    } catch (error) {
      say(`no report of drill ${id}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** Only the process that ran the drill has its journal, so each is asked: returned when the drill is over, or when the waiting time is. */
async function ownerOf(clients: readonly AdminClient[], id: string, untilMs: number) {
  for (const client of clients) {
    const look = (query: readonly (readonly [string, string])[]): Promise<Journal | undefined> =>
      client.get<Journal>(`/admin/drills/${id}`, { query, deadlineMs: ANSWER_MS }).catch(() => undefined);
    for (;;) {
      const journal = await look(WITHOUT_SAMPLES);
      if (journal === undefined) break;
      if (journal.state.kind !== 'over' && performance.now() < untilMs) {
        await sleep(POLL_MS);
        continue;
      }
      return { client, journal: (await look([])) ?? journal };
    }
  }
  return undefined;
}
