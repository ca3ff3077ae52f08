import { copyFile, open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BaseRate, RunEvent } from '../judge/record.ts';
import { makeRunFolder, type RunFolder } from '../labs/kit/keep.ts';
import { CannotRun } from '../labs/kit/programs.ts';
import { createSampler } from '../sample/create-sampler.ts';
import type { Sample } from '../sample/sample.ts';
import { documentsOf } from '../stack/plan.ts';
import type { Pins } from '../stack/processors.ts';
import type { RunOptions } from './arguments.ts';
import { keepJournals } from './drill-journals.ts';
import { eventsIn } from './events.ts';
import { k6Environment } from './k6-environment.ts';
import { lastLines, plannedMs } from './k6-plan.ts';
import { K6_FILES, type K6End, type K6Run, runK6 } from './k6-process.ts';
import type { K6Program } from './k6-program.ts';
import type { LocalStack } from './local-stack.ts';
import { goOn, type RunContext } from './run-context.ts';
import type { ScriptEntry } from './scripts.ts';
import { writeQueries } from './write-queries.ts';

export interface LoadWanted {
  readonly options: RunOptions;
  readonly entry: ScriptEntry;
  /** Of the script. */
  readonly file: string;
  readonly program: K6Program;
  /** Absent: the load goes to the addresses of the options. */
  readonly stack?: LocalStack;
  readonly pins?: Pins;
}

/** Everything of a run but what k6 has written into its folder. */
export interface Loaded extends LoadWanted {
  readonly folder: RunFolder;
  readonly base: BaseRate;
  readonly end: K6End;
  readonly samples: readonly Sample[];
  readonly events: readonly RunEvent[];
}

/** Longer than planned by so much is not slow any more. */
const SLACK_MS = 30_000;
/** Of k6: done, a threshold crossed, interrupted, aborted by the script, marked as failed. */
const ENDED_WELL: readonly (number | undefined)[] = [0, 99, 105, 108, 110];
/** A larger file is not kept with each run; its name is. */
const MOST_QUERY_BYTES = 64 * 2 ** 20;
const TAIL_BYTES = 16 * 1024;

/** Sends the load and watches meanwhile. @throws CannotRun when none was sent, or when k6 itself failed. */
export async function sendLoad(wanted: LoadWanted, context: RunContext): Promise<Loaded> {
  const { options, file, program, stack, pins } = wanted;
  goOn(context);
  const folder = await makeRunFolder(options.out, options.script, Date.now());
  const queries = await queriesOf(wanted, folder);
  const base = await baseOf(wanted, folder, queries, context);
  goOn(context);
  const { baseUrls, adminUrls, adminToken } = stack ?? options;
  const target = { baseUrls, adminUrls, ...(adminToken === undefined ? {} : { adminToken }) };
  const env = k6Environment({ id: folder.id, ...target, baseRps: base.rps, queries, numbers: options.numbers });
  const limitMs = (await plannedMs({ program, file, env })) + SLACK_MS;
  const cpus = pins === undefined ? {} : { cpus: pins.generatorCpus };
  const k6 = { program, file, env, folder: folder.path, ...cpus, limitMs, signal: context.signal };
  const { end, samples } = await watched(k6, adminUrls, stack);
  const log = join(folder.path, K6_FILES.log);
  if (end.cut === undefined && !ENDED_WELL.includes(end.code)) {
    throw new CannotRun(`k6 ended with ${end.code ?? 'a signal'}:\n${await tailOf(log)}`);
  }
  const events = await eventsIn(log);
  if (adminUrls.length > 0) await keepJournals({ ...target, events, folder: folder.path, say: context.say });
  return { ...wanted, folder, base, end, samples, events };
}

/** The last lines of what k6 said. */
export async function tailOf(log: string): Promise<string> {
  const file = await open(log).catch(() => undefined);
  if (file === undefined) return 'it said nothing';
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return lastLines(buffer.toString('utf8', 0, bytesRead)) || 'it said nothing';
  } finally {
    await file.close();
  }
}

async function queriesOf({ options, stack }: LoadWanted, folder: RunFolder): Promise<string> {
  const kept = join(folder.path, 'queries.tsv');
  if (options.queries !== undefined) {
    const given = resolve(options.queries);
    if ((await stat(given)).size <= MOST_QUERY_BYTES) await copyFile(given, kept);
    return given;
  }
  if (stack !== undefined) await writeLocalQueries(kept, stack);
  return kept;
}

function writeLocalQueries(file: string, { plan: { corpora, indexes } }: LocalStack): Promise<void> {
  return writeQueries({ file, corpora, domains: indexes.map(({ domain }) => domain), documents: documentsOf });
}

/** Told, the script's own, or measured. */
async function baseOf(
  { options, entry, program, stack }: LoadWanted,
  folder: RunFolder,
  queries: string,
  { say, signal, calibrate }: RunContext,
): Promise<BaseRate> {
  const told = options.numbers['base-rps'] ?? (entry.base === 'measured' ? undefined : entry.base);
  if (told !== undefined) return { rps: told, from: 'told' };
  if (stack === undefined) throw new CannotRun('--base-rps is missing: x1 is only measured on the local stack');
  return calibrate({ plan: stack.plan, k6: program, queries, folder: folder.path, say, signal });
}

/** k6, and meanwhile a look at everything about once a second. */
async function watched(
  k6: K6Run,
  adminUrls: readonly string[],
  stack: LocalStack | undefined,
): Promise<{ readonly end: K6End; readonly samples: readonly Sample[] }> {
  let pid: number | undefined;
  const sampler = createSampler({
    adminUrls,
    stores: stack?.stores ?? [],
    processes: () => [...(stack?.processes() ?? []), ...(pid === undefined ? [] : [{ name: 'k6', pid }])],
    host: stack !== undefined,
  });
  sampler.start();
  const started = (id: number): void => {
    pid = id;
  };
  try {
    const end = await runK6({ ...k6, started });
    return { end, samples: await sampler.stop() };
  } finally {
    await sampler.stop();
  }
}
