import { mkdirSync, writeFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { dirname } from 'node:path';
import { inTurns } from '../labs/kit/rounds.ts';
import { openInspector } from '../stack/inspector.ts';
import { processorMs } from '../stack/processors.ts';
import { drive, type Generator, type Load } from './load.ts';
import { metricsOf, type Server, type Service } from './processes.ts';

/** A server of a start and the load on it. Two may be one server with two loads. */
export interface Subject {
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
  /** Targets that are asked for once before the warm-up. */
  readonly fill?: readonly string[];
}

/** The service that is measured comes first. */
export interface Started {
  readonly service: Service;
  readonly subjects: readonly Subject[];
  /** A figure beside the ratios, printed with each start. */
  readonly note?: string;
}

export interface Expected {
  /** The outcome that nearly all measured searches must have. */
  readonly outcome: string;
  /** The smallest share of them; with less, something else was measured. */
  readonly leastShare: number;
  /** The smallest share of the searches that the lane must have read. */
  readonly leastLaneShare?: number;
  /** Seconds of load before each round. They are not measured: the first requests after a pause do the work that was put off. */
  readonly leadSeconds?: number;
}

const WARM_UP_SECONDS = 2;
/** Short rounds in turns, so that changes on a shared machine affect all servers. */
const [ROUND_SECONDS, ROUNDS] = [1, 5];
/** 60 s suffice for 100,000 pages at 2,000 per second. */
const [FILL_SECONDS, MAX_FILL_RUNS] = [3, 20];
/** A service that has just started sheds the searches of more connections, because its event loop is late. */
const FILL_CONNECTIONS = 8;
/** Load on each server at each start, without the warm-up. */
export const MEASURED_SECONDS = ROUND_SECONDS * ROUNDS;

export type StartMeasured = Awaited<ReturnType<typeof measureStart>>;

/** @throws when a request failed, or when the share of the expected outcome is too low. */
export async function measureStart(expected: Expected, { service, subjects, note }: Started, generator: Generator) {
  await warmUp(subjects, generator);
  const before = await outcomes(service, expected.outcome);
  const measured = await inTurns(subjects, ROUNDS, async ({ server, load }) => {
    if (expected.leadSeconds !== undefined) await drive(server.url, load, expected.leadSeconds, generator);
    const cpuBefore = processorTime(server);
    const requests = await drive(server.url, load, ROUND_SECONDS, generator);
    return { requests, cpuMs: processorTime(server) - cpuBefore };
  });
  const after = await outcomes(service, expected.outcome);
  const grown = (of: keyof typeof after): number => after[of] - before[of];
  const [share, laneShare] = [grown('wanted') / grown('all'), grown('byLane') / grown('all')];
  if (!(share >= expected.leastShare)) {
    throw new Error(`only ${(share * 100).toFixed(1)} % of the searches were ${expected.outcome}`);
  }
  if (!(laneShare >= (expected.leastLaneShare ?? 0))) {
    throw new Error(`only ${(laneShare * 100).toFixed(1)} % of the searches were read by the lane`);
  }
  const rates = measured.map(({ variant: { name }, runs }) => {
    const total = (of: 'requests' | 'cpuMs'): number => runs.reduce((sum, run) => sum + run[of], 0);
    return [name, Math.round(total('requests') / (total('cpuMs') / 1000))];
  });
  return {
    /** Requests per second of processor time, by the name of the subject. */
    perCpu: Object.fromEntries(rates) as Readonly<Record<string, number>>,
    /** The share of the searches of the service that had the outcome of the bench. */
    share,
    note,
  };
}

async function warmUp(subjects: readonly Subject[], generator: Generator): Promise<void> {
  for (const { server, load, fill } of subjects) {
    for (let [run, from] = [0, 0]; fill !== undefined && from < fill.length && run < MAX_FILL_RUNS; run += 1) {
      from += await drive(server.url, { targets: fill, from, connections: FILL_CONNECTIONS }, FILL_SECONDS, generator);
    }
    await drive(server.url, load, WARM_UP_SECONDS, generator);
  }
}

/** Processor time of all processes and threads of a server, in milliseconds. */
export function processorTime({ pids }: Server): number {
  return pids().reduce((sum, pid) => sum + processorMs(pid), 0);
}

async function outcomes(service: Service, outcome: string) {
  const samples = await metricsOf(service);
  const sum = (rows: typeof samples): number => rows.reduce((total, { value }) => total + value, 0);
  const named = (metric: string) => samples.filter(({ name }) => name === metric);
  const counts = named('serpcache_requests_total');
  return {
    wanted: sum(counts.filter(({ labels }) => labels['outcome'] === outcome)),
    byLane: sum(named('serpcache_lane_searches_total')),
    all: sum(counts),
  };
}

const PROFILED_SECONDS = 5;
const SAMPLE_US = 200;

/** Profiles the service under the load of its bench and writes the profile, which developer tools of browsers open. */
export async function profileStart({ service, subjects }: Started, generator: Generator, file: string) {
  const own = subjects.filter(({ server }) => server === service).slice(0, 1);
  const [subject] = own;
  if (subject === undefined || service.debugPort === undefined) throw new Error('the service has no debugger');
  await warmUp(own, generator);
  const inspector = await openInspector(service.debugPort);
  try {
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLE_US });
    await inspector.send('Profiler.start');
    await drive(service.url, subject.load, PROFILED_SECONDS, generator);
    const { profile } = (await inspector.send('Profiler.stop')) as Profiler.StopReturnType;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(profile));
    return selfTimes(profile);
  } finally {
    inspector.close();
  }
}

/** The share of each function in the time that was not idle, the largest first. */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }: Omit<Profiler.Profile, 'startTime' | 'endTime'>) {
  const nameOf = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url.split('/').slice(-3).join('/');
      return [id, `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`];
    }),
  );
  const times = new Map<string, number>();
  for (const [at, id] of samples.entries()) {
    const name = nameOf.get(id) ?? '';
    if (name !== '(idle)') times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  }
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return Array.from(times, ([name, time]) => ({ name, share: time / all })).sort((a, b) => b.share - a.share);
}
