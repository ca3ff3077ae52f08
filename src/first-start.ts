import { existsSync } from 'node:fs';
import { DEMO_SIZES, demoDocuments } from './catalogue/demo.ts';
import { createProgress, type ProgressOutput } from './catalogue/progress.ts';
import type { Settings } from './config/settings.ts';
import { searchDomainOf } from './engines/create-engines.ts';
import { buildIndex } from './engines/sqlite/build.ts';
import { indexFileOf } from './engines/sqlite/schema.ts';
import type { Clock } from './runtime.ts';

export interface FirstStartOptions {
  readonly clock: Clock;
  readonly output: ProgressOutput;
  /** Aborted, it leaves what is not finished and returns. */
  readonly signal?: AbortSignal;
}

/**
 * Makes the index of each demo domain that has none. An existing file is never touched, whatever it holds: it may be
 * somebody's own catalogue. Several processes starting at once each make their own and the last one stays: they are equal.
 */
export async function makeDemoIndexes(settings: Settings, { clock, output, signal }: FirstStartOptions): Promise<void> {
  for (const domain of settings.domains) {
    const { engine, name } = domain;
    if (engine.kind !== 'sqlite' || !engine.demo) continue;
    const file = indexFileOf(engine.directory, name);
    if (existsSync(file) || signal?.aborted) continue;
    const total = Object.entries(DEMO_SIZES).find(([each]) => each === name)?.[1] ?? 0;
    const progress = createProgress({ label: `demo catalogue: ${name}`, unit: 'ads', total, output, clock });
    const building = buildIndex({
      file,
      domain: searchDomainOf(domain),
      documents: demoDocuments(name),
      builtAtMs: clock.wallMs(),
      onProgress: progress.update,
      ...(signal === undefined ? {} : { signal }),
    });
    await building.catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
    progress.finish();
  }
}
