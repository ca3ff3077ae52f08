import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { coresText, generatorCores, processCores } from '../judge/core-meters.ts';
import { holdWindow, samplesIn } from '../judge/hold-window.ts';
import { CannotRun } from '../labs/kit/programs.ts';
import { createSampler } from '../sample/create-sampler.ts';
import { pinsHere } from '../stack/processors.ts';
import { processesOf } from '../stack/stack.ts';
import { k6Environment } from './k6-environment.ts';
import { K6_FILES, runK6 } from './k6-process.ts';
import type { Calibrate } from './run-context.ts';
import { readSummary } from './script-summary.ts';

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
