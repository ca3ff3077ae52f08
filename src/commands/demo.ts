import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEMO_SIZES, demoDocuments } from '../catalogue/demo.ts';
import { CONFIG_VARIABLE, type Environment } from '../config/document.ts';
import { configFileOf } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { indexFileOf } from '../engines/sqlite/schema.ts';
import type { Clock } from '../runtime.ts';
import { createProgress, type ProgressOutput } from './terminal.ts';

/** The demo: the service without a configuration, its indexes and its admin token. */

/** The admin token of the demo, from the working directory. Only its owner can read the file. */
const DEMO_TOKEN = join('data', 'admin-token');

/**
 * The environment of a program that reads the configuration. Without one the demo has the token of its file, so that its
 * owner can try drills, flushes and the console at once. ADMIN_TOKEN wins, and an admin listener on another address needs it.
 * @param named the file of `--config`
 * @param makesToken makes the file of the token where it is missing and can be written
 */
export function environmentOf(given: Environment, { named = given[CONFIG_VARIABLE], makesToken = false }: Named = {}) {
  const cwd = process.cwd();
  const env: Environment = { ...given, [CONFIG_VARIABLE]: named };
  const config = configFileOf({ env, cwd });
  if (config !== '' || env['ADMIN_TOKEN'] || env['ADMIN_HOST']) return { env, cwd, config };
  try {
    if (makesToken && !existsSync(DEMO_TOKEN)) {
      mkdirSync(dirname(DEMO_TOKEN), { recursive: true });
      writeFileSync(DEMO_TOKEN, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
    }
    const token = readFileSync(DEMO_TOKEN, 'utf8').trim();
    return { env: { ...env, ADMIN_TOKEN: token }, cwd, config, tokenFile: DEMO_TOKEN };
  } catch {
    return { env, cwd, config };
  }
}

interface Named {
  readonly named?: string;
  readonly makesToken?: boolean;
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
