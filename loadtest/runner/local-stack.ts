import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { coresText, processCores } from '../judge/meters.ts';
import { type BaseRate, CannotRun } from '../judge/record.ts';
import { holdWindow, samplesIn } from '../judge/series.ts';
import { inPath } from '../stack/go-program.ts';
import { partsOf, readPlan, type StackPlan } from '../stack/plan.ts';
import { findOwned, pin } from '../stack/process.ts';
import { processorsHere, processorsOf } from '../stack/processors.ts';
import { down, up } from '../stack/stack.ts';
import { readSummary } from './k6-output.ts';
import { runSampledK6 } from './k6-process.ts';
import { type K6Program, k6Environment } from './k6-program.ts';

export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

/**
 * @param wished variables of the stack's file, for each process of serpcache.
 * @throws CannotRun when a part of a stack runs already: the run would change its cache, and its load the figures.
 */
export function planLocalStack(replicas: number, wished: Readonly<Record<string, string>>): StackPlan {
  const read = readPlan(process.env, replicas);
  const running = partsOf(read).filter((part) => findOwned(part).length > 0);
  if (running.length > 0) {
    const names = running.map(({ name }) => name).join(', ');
    throw new CannotRun(
      `a stack runs here already (${names}): end it with \`npm run stack -- down\`, or send the load to it with --base-url`,
    );
  }
  // A variable that the user has set wins.
  const env = Object.fromEntries(Object.entries(wished).filter(([name]) => !process.env[name]));
  return { ...read, replicas: read.replicas.map((replica) => ({ ...replica, env: { ...replica.env, ...env } })) };
}

/** @throws when a part cannot be started; the others are ended. */
export async function startLocalStack(plan: StackPlan, pins: Pins | undefined, say: (text: string) => void) {
  const stop = (): Promise<void> => down(plan);
  try {
    await up(plan, say);
    const pids = plan.replicas.flatMap(findOwned).map(({ pid }) => pid);
    if (pins !== undefined) await pin(pids, pins.serviceCpus);
  } catch (error) {
    await stop();
    throw error;
  }
  const { replicas, adminToken } = plan;
  return {
    plan,
    ...targetOf(replicas),
    adminToken,
    stores: plan.clusters.flatMap(({ nodes }) => nodes.map(({ name, port }) => ({ name, host: '127.0.0.1', port }))),
    /** Processes that run at this moment, named as their parts. */
    processes: () => partsOf(plan).flatMap((part) => findOwned(part).map(({ pid }) => ({ name: part.name, pid }))),
    stop,
  };
}

function targetOf(replicas: StackPlan['replicas']) {
  return {
    baseUrls: replicas.map(({ port }) => `http://127.0.0.1:${port}`),
    adminUrls: replicas.map(({ adminPort }) => `http://127.0.0.1:${adminPort}`),
  };
}

/** x1 is this fraction of the saturation rate: x5 is then a high load that leaves some capacity. */
const FRACTION = 8;
const SCRIPT = join(import.meta.dirname, '..', 'k6', 'saturation.ts');
const STEP = 'full';
const LIMIT_MS = 120_000;

interface CalibrateOptions {
  readonly plan: StackPlan;
  readonly program: K6Program;
  readonly queries: string;
  readonly folder: string;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Finds x1 on the running stack: an eighth of the warm searches that one process answers to k6 on one core, sent as fast
 * as they are answered. Where that core is full first, which is reported, x1 is an eighth of what the pair does: less than
 * the process could. On two cores k6 alone would leave nothing for the other work of a run: with an eighth of that rate,
 * misses of one search in ten filled the machine at x4.
 */
export async function calibrate(options: CalibrateOptions): Promise<BaseRate> {
  const { plan, program, queries, folder, say, signal } = options;
  const [replica] = plan.replicas;
  if (replica === undefined) throw new CannotRun('a stack without serpcache');
  say('finding x1: an eighth of what goes');
  const own = join(folder, 'saturation');
  await mkdir(own);
  const target = targetOf([replica]);
  const pins = await pinsHere(say);
  const env = k6Environment({ id: 'saturation', ...target, baseRps: 1, queries, numbers: {} });
  const { end, samples } = await runSampledK6(
    { program, file: SCRIPT, env, folder: own, cpus: pins?.generatorCpus, limitMs: LIMIT_MS, signal },
    {
      adminUrls: [],
      stores: [],
      processes: () => findOwned(replica).map(({ pid }) => ({ name: replica.name, pid })),
      host: false,
      everyMs: 500,
    },
  );
  const summary = end.cut === undefined ? await readSummary(own) : undefined;
  const step = summary?.steps.find((one) => one.step.name === STEP);
  if (summary === undefined || step === undefined || step.searches === 0) {
    throw new CannotRun(`x1 could not be measured: look into ${own}, or say it with --base-rps`);
  }
  const saturationRps = step.searches / step.seconds;
  const held = samplesIn(samples, holdWindow(summary, step));
  const used = ['k6', replica.name].flatMap((name) => {
    const cores = processCores(held, name);
    return cores === undefined ? [] : [`${name} used ${coresText(cores)} cores`];
  });
  return {
    rps: Math.max(1, Math.round(saturationRps / FRACTION)),
    from: 'measured',
    saturationRps,
    saturated: used.length === 0 ? undefined : `${used.join(', ')} then`,
  };
}

/**
 * Two cores kept apart, one for k6 and one for serpcache; every other process may use any core. As taskset takes them: `1`.
 * Runs do so only on request: a process with one core also collects its garbage there, and both stalled for 50–200 ms (at
 * 2,500 searches/s, one in 14 could not be begun in time; without pins, none).
 */
export interface Pins {
  readonly generatorCpus: string;
  readonly serviceCpus: string;
}

/** @param allowed processors this process may use, `0-1,4`: a container seldom has all. Undefined below two. */
export function pinsOf(allowed: string): Pins | undefined {
  const cpus = processorsOf(allowed);
  const [first, last] = [Math.min(...cpus), Math.max(...cpus)];
  return first < last ? { generatorCpus: String(last), serviceCpus: String(first) } : undefined;
}

/** Undefined where it cannot be done; then `say` gets the reason. */
export async function pinsHere(say: (text: string) => void): Promise<Pins | undefined> {
  const pins = pinsOf(processorsHere());
  if (pins === undefined) say('one core for everything: k6 and serpcache are not kept apart');
  else if (inPath('taskset').length === 0) say('no taskset here: k6 and serpcache are not kept apart');
  else return pins;
  return undefined;
}
