/** The process that reads damaged replies of searchd: each task makes an engine with its guard, and searches until it is served. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineSettings } from '../../src/config/settings.ts';
import { createAdapters } from '../../src/engines/create-engines.ts';
import { systemClock } from '../../src/runtime.ts';
import type { SearchDomain, SearchRequest } from '../../src/search/domain.ts';
import { guardHarness } from '../resilience/harness.ts';

export interface SubjectTask {
  readonly id: number;
  readonly engine: EngineSettings;
  readonly domain: SearchDomain;
  readonly request: SearchRequest;
}

export interface SubjectReport {
  readonly id: number;
  /** Every page that a search got, as JSON. The last two came from a healthy engine. */
  readonly pages: readonly string[];
}

/** Longer than a damaged reply can hold a permit. */
const PATIENCE_MS = 60_000;

process.on('message', (task: SubjectTask) => {
  void run(task).then((pages) => process.send?.({ id: task.id, pages } satisfies SubjectReport));
});
process.on('disconnect', () => process.exit());

async function run({ engine, domain, request }: SubjectTask): Promise<readonly string[]> {
  const engines = await createAdapters(engine, domain, { clock: systemClock, random: Math.random, observe: () => {} });
  // The breaker never opens: it would hide all damaged replies behind the first ones.
  const { guard, limiter } = guardHarness(undefined, {
    deadlineMs: engine.deadlineMs,
    maxWaitMs: PATIENCE_MS,
    maxConcurrent: engine.maxConcurrent,
    abortEndsWork: engines.every(({ abortEndsWork }) => abortEndsWork),
    opensAfter: Number.MAX_SAFE_INTEGER,
  });
  const pages: string[] = [];
  const search = async (): Promise<boolean> => {
    try {
      const deadlineAtMs = systemClock.monotonicMs() + PATIENCE_MS;
      const admission = await guard.admit({ deadlineAtMs, priority: 'interactive' });
      const page = await admission.run(async (at, signal) => {
        const one = engines[at];
        if (one === undefined) throw new Error('no engine');
        return one.search(request, signal);
      });
      return pages.push(JSON.stringify(page)) > 0;
    } catch {
      return false;
    }
  };
  // No bound here: the process that waits for the report finds an engine that never serves again, and a lost permit.
  for (let served = 0; served < 2; served = (await search()) ? served + 1 : 0) if (served === 0) await sleep(5);
  while (limiter.inFlight() > 0) await sleep(5);
  guard.close();
  await Promise.all(engines.map((one) => one.close()));
  return pages;
}
