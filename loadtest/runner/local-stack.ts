import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { holdWindow, samplesIn } from '../judge/series.ts';
import { coresText, generatorCores, processCores } from '../judge/work-meters.ts';
import { CannotRun } from '../labs/kit/programs.ts';
import type { NamedProcess } from '../sample/host.ts';
import { createSampler } from '../sample/sampler.ts';
import type { StoreNode } from '../sample/store.ts';
import { partsOf, readPlan, type StackPlan } from '../stack/plan.ts';
import { type Pins, pin, pinsHere } from '../stack/processors.ts';
import { down, processesOf, up } from '../stack/stack.ts';
import { K6_FILES, readSummary, runK6 } from './k6-process.ts';
import { k6Environment } from './k6-program.ts';
import type { Calibrate } from './run.ts';

/** The local stack, of this run alone. */
export interface LocalStack {
  readonly plan: StackPlan;
  readonly baseUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly adminToken?: string;
  readonly stores: readonly StoreNode[];
  /** Processes that run now, with the names of their parts. */
  readonly processes: () => readonly NamedProcess[];
  /** Ends everything and removes it. */
  readonly stop: () => Promise<void>;
}

export interface LocalStackWish {
  readonly replicas: number;
  /** Variables of the stack's file, for each process of serpcache. */
  readonly env: Readonly<Record<string, string>>;
}

export interface StartOptions {
  readonly pins?: Pins;
  readonly say: (text: string) => void;
}

/** @throws CannotRun when a part of a stack runs already: its cache is somebody's, and its figures would be everybody's. */
export function planLocalStack({ replicas, env: wished }: LocalStackWish): StackPlan {
  const read = readPlan(process.env, replicas);
  const running = partsOf(read).filter((part) => processesOf(part).length > 0);
  if (running.length > 0) {
    const names = running.map(({ name }) => name).join(', ');
    throw new CannotRun(
      `a stack runs here already (${names}): end it with \`npm run stack -- down\`, or send the load to it with --base-url`,
    );
  }
  // Whoever set the variable wants it so.
  const env = Object.fromEntries(Object.entries(wished).filter(([name]) => !process.env[name]));
  return { ...read, replicas: read.replicas.map((replica) => ({ ...replica, env: { ...replica.env, ...env } })) };
}

/** @throws when it cannot be started; what was is ended. */
export async function startLocalStack(plan: StackPlan, { pins, say }: StartOptions): Promise<LocalStack> {
  const stop = (): Promise<void> => down(plan);
  try {
    await up(plan, say);
    const pids = plan.replicas.flatMap(processesOf).map(({ pid }) => pid);
    if (pins !== undefined) await pin(pids, pins.serviceCpus);
  } catch (error) {
    await stop();
    throw error;
  }
  const { replicas, adminToken } = plan;
  return {
    plan,
    baseUrls: replicas.map(({ port }) => `http://127.0.0.1:${port}`),
    adminUrls: replicas.map(({ adminPort }) => `http://127.0.0.1:${adminPort}`),
    ...(adminToken === undefined ? {} : { adminToken }),
    stores: plan.clusters.flatMap(({ nodes }) => nodes.map(({ name, port }) => ({ name, host: '127.0.0.1', port }))),
    processes: () => partsOf(plan).flatMap((part) => processesOf(part).map(({ pid }) => ({ name: part.name, pid }))),
    stop,
  };
}

/** x1 to x5 leave something to spare, and x5 is a load all the same. */
const PARTS = 8;
const SCRIPT = join(import.meta.dirname, '..', 'k6', 'saturation.ts');
const STEP = 'full';
const LIMIT_MS = 120_000;

/**
 * x1: an eighth of the warm searches that one core of k6 gets answered by one process beside it, as fast as they are
 * answered. Where that core is full first, which it says, x1 is an eighth of what the pair does: less than the process
 * could. On two cores all of k6 would leave nothing for what a run has beside hits: with an eighth of that, misses of
 * one search in ten filled the machine at x4.
 */
export const calibrate: Calibrate = async ({ plan, k6, queries, folder, say, signal }) => {
  const [replica] = plan.replicas;
  if (replica === undefined) throw new CannotRun('a stack without serpcache');
  say('finding x1: an eighth of what goes');
  const own = join(folder, 'saturation');
  await mkdir(own);
  const target = {
    baseUrls: [`http://127.0.0.1:${replica.port}`],
    adminUrls: [`http://127.0.0.1:${replica.adminPort}`],
  };
  const pins = await pinsHere(say);
  let pid: number | undefined;
  const sampler = createSampler({
    adminUrls: [],
    stores: [],
    processes: () => [
      ...processesOf(replica).map((one) => ({ name: replica.name, pid: one.pid })),
      ...(pid === undefined ? [] : [{ name: 'k6', pid }]),
    ],
    host: false,
    everyMs: 500,
  });
  sampler.start();
  const end = await runK6({
    program: k6,
    file: SCRIPT,
    env: k6Environment({ id: 'saturation', ...target, baseRps: 1, queries, numbers: {} }),
    folder: own,
    ...(pins === undefined ? {} : { cpus: pins.generatorCpus }),
    limitMs: LIMIT_MS,
    signal,
    started: (id) => {
      pid = id;
    },
  }).finally(() => sampler.stop());
  const summary = end.cut === undefined ? await readSummary(join(own, K6_FILES.summary)) : undefined;
  const step = summary?.steps.find((one) => one.step.name === STEP);
  if (summary === undefined || step === undefined || step.searches === 0) {
    throw new CannotRun(`x1 could not be measured: look into ${own}, or say it with --base-rps`);
  }
  const saturationRps = step.searches / step.seconds;
  const samples = samplesIn(await sampler.stop(), holdWindow(summary, step));
  const used = [
    ...partText('k6', generatorCores(samples)),
    ...partText(replica.name, processCores(samples, replica.name)),
  ];
  return {
    rps: Math.max(1, Math.round(saturationRps / PARTS)),
    from: 'measured',
    saturationRps,
    ...(used.length === 0 ? {} : { saturated: `${used.join(', ')} then` }),
  };
};

function partText(name: string, cores: number | undefined): readonly string[] {
  return cores === undefined ? [] : [`${name} used ${coresText(cores)} cores`];
}
