import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { wrkReport } from '../http-driver/wrk.ts';
import { parseMetrics } from '../k6/kit/metrics-text.ts';
import { processorMs } from '../stack/processors.ts';
import type { Bench, Started } from './benches.ts';
import { adminUrl, type BenchCores, type Server } from './servers.ts';

const run = promisify(execFile);

const WARM_UP_SECONDS = 2;
/** Short rounds in turns, so that changes on a shared machine affect both servers. */
const [ROUND_SECONDS, ROUNDS] = [1, 6];
const CONNECTIONS = 64;
/** Load on each server at each start, without the warm-up. */
export const MEASURED_SECONDS = ROUND_SECONDS * ROUNDS;

export type StartMeasured = Awaited<ReturnType<typeof measureStart>>;

/** @returns the rates of both, and the share of the requests to serpcache that had the outcome of the bench. @throws when a request failed, or when that share is too low. */
export async function measureStart(
  bench: Bench,
  { serpcache, bare, targets }: Started,
  { folder, cores }: { readonly folder: string; readonly cores: BenchCores },
) {
  const script = join(folder, 'targets.lua');
  writeFileSync(script, scriptOf(targets));
  /** One bounded run of wrk, pinned. A benchmark with any errors is void. @throws also when wrk is missing. */
  const wrk = async ({ url }: Server, seconds: number): Promise<number> => {
    const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, url];
    const timeout = (seconds + 20) * 1000;
    const { stdout } = await run('taskset', ['-c', `${cores.client}`, 'wrk', ...options], { timeout });
    const { requests, errors } = wrkReport(stdout);
    if (errors > 0) throw new Error(`${errors} errors of ${requests} requests to ${url}`);
    return requests;
  };
  for (const server of [serpcache, bare]) await wrk(server, WARM_UP_SECONDS);
  const before = await outcomes(serpcache.url, bench.outcome);
  const totals = [serpcache, bare].map((server) => ({ server, requests: 0, cpuMs: 0 }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const total of totals) {
      const cpuBefore = processorMs(total.server.pid);
      total.requests += await wrk(total.server, ROUND_SECONDS);
      total.cpuMs += processorMs(total.server.pid) - cpuBefore;
    }
  }
  const after = await outcomes(serpcache.url, bench.outcome);
  const share = (after.wanted - before.wanted) / (after.all - before.all);
  if (!(share >= bench.leastShare))
    throw new Error(`only ${(share * 100).toFixed(1)} % of the requests were ${bench.outcome}`);
  const [ours, theirs] = totals.map(({ requests, cpuMs }) => ({
    /** Requests per second of processor time. */
    perCpu: requests / (cpuMs / 1000),
    /** Requests per second; the client is the limit of this one where both servers are nearly equal. */
    perSecond: requests / MEASURED_SECONDS,
  }));
  if (ours === undefined || theirs === undefined) throw new Error('two servers were to be measured');
  return { serpcache: ours, bare: theirs, share };
}

/** Counts of the service's own metrics. */
async function outcomes(url: string, outcome: string): Promise<{ readonly wanted: number; readonly all: number }> {
  const text = await (await fetch(`${adminUrl(url)}/metrics`)).text();
  const counts = parseMetrics(text).filter(({ name }) => name === 'serpcache_requests_total');
  const sum = (rows: typeof counts): number => rows.reduce((total, { value }) => total + value, 0);
  return { wanted: sum(counts.filter(({ labels }) => labels['outcome'] === outcome)), all: sum(counts) };
}

/** A script of wrk that asks for the targets in turn from a random start. */
function scriptOf(targets: readonly string[]): string {
  const list = targets.map((target) => JSON.stringify(target)).join(',\n');
  return (
    `local targets = {\n${list}\n}\nlocal next = math.random(#targets)\n` +
    'function request()\n  next = next % #targets + 1\n  return wrk.format("GET", targets[next])\nend\n'
  );
}
