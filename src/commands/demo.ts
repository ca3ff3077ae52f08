import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEMO_SIZES, demoDocuments } from '../catalogue/demo.ts';
import type { Environment } from '../config/document.ts';
import { configFileOf } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { indexFileOf } from '../engines/sqlite/schema.ts';
import type { Clock } from '../runtime.ts';
import { createProgress, type ProgressOutput } from './terminal.ts';

/** The demo: the service without a configuration, its indexes and its admin token. */

/** The admin token of the demo, from the working directory. Only its owner can read the file. */
export const DEMO_TOKEN = join('data', 'admin-token');

/**
 * The environment with the token of the demo, so that its owner can try drills, flushes and the console at once. Unchanged
 * where a configuration or ADMIN_TOKEN says more, or where there is no such file.
 * @param make makes the file where it is missing and can be written
 */
export function withDemoToken(env: Environment, cwd: string, { make = false } = {}): Environment {
  if (env['ADMIN_TOKEN'] || configFileOf({ env, cwd }) !== '') return env;
  const file = join(cwd, DEMO_TOKEN);
  try {
    if (make && !existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
    }
    return { ...env, ADMIN_TOKEN: readFileSync(file, 'utf8').trim() };
  } catch {
    return env;
  }
}

/**
 * Builds the index of each demo domain that has none. An existing file is never changed: it may hold the user's own
 * catalogue. Processes that start at the same time each build an index and the last one stays; all are equal. When `signal`
 * aborts, the unfinished index is removed and the function returns.
 */
export async function makeDemoIndexes(
  settings: Settings,
  { clock, output, signal }: { clock: Clock; output: ProgressOutput; signal?: AbortSignal },
): Promise<void> {
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
      signal,
    });
    await building.catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
    progress.finish();
  }
}
