import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { engineCalls, watched } from './metrics.ts';
import { engineCallsOf } from './metrics-text.ts';
import { stepAt } from './schedule.ts';
import type { Step } from './step.ts';

const EVERY_SECONDS = 1;
const BOUND = '2s';

/**
 * Asks every process once a second what its engine was asked, until the run is over. A process that did not answer adds
 * what it missed when it does; one that started anew counts from nothing.
 */
export function watchEngine(
  adminUrls: readonly string[],
  steps: readonly Step[],
  startedAtMs: number,
  untilSeconds: number,
): void {
  const last = new Map<string, number>();
  while (true) {
    const elapsedSeconds = (Date.now() - startedAtMs) / 1000;
    if (elapsedSeconds > untilSeconds) return;
    const step = stepAt(steps, elapsedSeconds);
    exec.vu.metrics.tags['step'] = step?.name ?? 'between';
    for (const url of adminUrls) {
      const params = { responseType: 'text', timeout: BOUND, redirects: 0, tags: { name: 'metrics' } } as const;
      const reply = http.get(`${url}/metrics`, params);
      if (reply.status !== 200 || typeof reply.body !== 'string') continue;
      const total = engineCallsOf(reply.body);
      if (total === undefined) continue;
      watched.add(1);
      const before = last.get(url);
      last.set(url, total);
      if (before !== undefined) engineCalls.add(total >= before ? total - before : total);
    }
    sleep(EVERY_SECONDS);
  }
}
