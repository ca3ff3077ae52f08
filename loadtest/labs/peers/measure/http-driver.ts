import { Agent, request as httpRequest } from 'node:http';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { type Ask, atRate } from './at-rate.ts';
import type { HttpDriven, HttpPlan, Times } from './http-plan.ts';

/** Runs a plan to its end. Node's own client takes about a tenth of a millisecond of each answer, whoever gives it. */
export async function driveHttp(plan: HttpPlan): Promise<HttpDriven> {
  const nowMs = (): number => performance.now();
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const [servedTimes, failedTimes] = [createHistogram(), createHistogram()];
  const pathsServed = new Set<string>();
  const outcomes: Record<string, number> = {};
  let [sent, hung, bodyBytes] = [0, 0, 0];

  const answerOf = (path: string, at: number): Promise<HttpAnswer> =>
    askOnce(new URL(path, plan.replicas[at % plan.replicas.length]), { agent, patienceMs: plan.patienceMs });
  const ask: Ask = async (path, dueMs) => {
    sent += 1;
    const answer = await answerOf(path, sent - 1);
    if (answer.kind === 'hung') {
      hung += 1;
      return;
    }
    const name = answer.kind === 'answered' ? String(answer.status) : 'broken';
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    const isServed = answer.kind === 'answered' && answer.status === 200;
    (isServed ? servedTimes : failedTimes).record(Math.max(1, Math.round((nowMs() - dueMs) * 1000)));
    if (!isServed) return;
    bodyBytes += answer.bytes;
    pathsServed.add(path);
  };

  const startedMs = nowMs();
  switch (plan.pace.kind) {
    case 'once':
      await once(plan.paths, plan.pace.connections, ask);
      break;
    case 'rate':
      if (plan.pace.leadSeconds !== undefined) {
        let led = 0;
        await atRate(plan.paths, { ...plan.pace, seconds: plan.pace.leadSeconds, nowMs }, async (path) => {
          led += 1;
          await answerOf(path, led);
        });
      }
      await atRate(plan.paths, { ...plan.pace, nowMs }, ask);
      break;
    case 'burst':
      await inBursts(plan.paths, plan.pace, ask);
  }
  agent.destroy();
  return {
    requests: sent,
    seconds: (nowMs() - startedMs) / 1000,
    outcomes,
    hung,
    pathsServed: pathsServed.size,
    ...(servedTimes.count > 0 && { servedMs: timesOf(servedTimes) }),
    ...(failedTimes.count > 0 && { failedMs: timesOf(failedTimes) }),
    bodyBytes,
  };
}

/** @param us a histogram of microseconds that is not empty. @returns milliseconds. */
export function timesOf(us: RecordableHistogram): Times {
  return { p50: us.percentile(50) / 1000, p99: us.percentile(99) / 1000, max: us.max / 1000 };
}

async function once(paths: readonly string[], connections: number, ask: Ask): Promise<void> {
  const left = paths.values();
  const one = async (): Promise<void> => {
    for (const path of left) await ask(path, performance.now());
  };
  await Promise.all(Array.from({ length: connections }, one));
}

async function inBursts(
  paths: readonly string[],
  { times, pathsAtOnce }: { readonly times: number; readonly pathsAtOnce: number },
  ask: Ask,
): Promise<void> {
  for (let from = 0; from < paths.length; from += pathsAtOnce) {
    const some = paths.slice(from, from + pathsAtOnce);
    // Neighbours go to different replicas, so every path is asked of all of them.
    const dueMs = performance.now();
    await Promise.all(some.flatMap((path) => Array.from({ length: times }, () => ask(path, dueMs))));
  }
}

export type HttpAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly bytes: number }
  | { readonly kind: 'broken' }
  | { readonly kind: 'hung' };

/** One request to its end; never rejects. A kept connection that the server closed at this moment is no answer: broken. */
export function askOnce(
  url: URL,
  { agent, patienceMs }: { readonly agent?: Agent; readonly patienceMs: number },
): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const options = { ...(agent !== undefined && { agent }), headers: { 'accept-encoding': 'identity' } };
    const asked = httpRequest(url, options, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.once('end', () => end({ kind: 'answered', status: response.statusCode ?? 0, bytes }));
      response.once('close', () => end({ kind: 'broken' }));
    });
    const patience = setTimeout(() => end({ kind: 'hung' }), patienceMs);
    const end = (answer: HttpAnswer): void => {
      clearTimeout(patience);
      resolve(answer);
      if (answer.kind === 'hung') asked.destroy();
    };
    asked.once('error', () => end({ kind: 'broken' }));
    asked.end();
  });
}
