import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEMO_SIZES, demoDocuments } from '../catalogue/demo.ts';
import { CONFIG_VARIABLE, DEFAULT_FILE, type Environment } from '../config/document.ts';
import { loadSettings } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { indexFileOf } from '../engines/sqlite/schema.ts';
import type { Clock } from '../runtime.ts';
import { isLoopback } from '../schema/units.ts';
import { createProgress, type ProgressOutput } from './terminal.ts';

/** A first trial: the demo, or a configuration that stands in the folder. Nothing has to be prepared for it. */

const TOKEN_FILE = join('data', 'admin-token');

interface Named {
  /** The file of `--config`. */
  readonly named?: string;
  /** Whether a missing file of the token is made, where it can be. */
  readonly makesToken?: boolean;
}

/**
 * The settings of the working directory: of the file that is named, else of its `serpcache.yaml`, else of the demo. An empty
 * name is the demo. Where no file is named and no token is set, the admin token is the one in `data/admin-token`, so that the
 * owner of the folder can try drills, flushes and the console at once.
 * @throws ConfigError
 */
export function settingsOf(given: Environment, { named = given[CONFIG_VARIABLE], makesToken = false }: Named = {}) {
  const cwd = process.cwd();
  // A link that leads nowhere counts: its fault is better than another configuration.
  const isHere = lstatSync(DEFAULT_FILE, { throwIfNoEntry: false }) !== undefined;
  const config = named ?? (isHere ? DEFAULT_FILE : '');
  const env = { ...given, [CONFIG_VARIABLE]: config };
  const settings = loadSettings({ env, cwd });
  const { token, host } = settings.admin;
  if (named || token !== undefined || !isLoopback(host)) return { settings, config };
  const own = tokenIn(TOKEN_FILE, makesToken);
  if (own === undefined) return { settings, config };
  return { settings: loadSettings({ env: { ...env, ADMIN_TOKEN: own }, cwd }), config, tokenFile: TOKEN_FILE };
}

/** Only its owner can read the file. Undefined where there is none, and none can be made. */
function tokenIn(file: string, isMade: boolean): string | undefined {
  try {
    if (isMade && !existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true });
      // The link shows the whole token at once, and fails when another start has made the file.
      const whole = `${file}.${process.pid}`;
      writeFileSync(whole, randomBytes(24).toString('base64url'), { mode: 0o600 });
      try {
        linkSync(whole, file);
      } finally {
        rmSync(whole);
      }
    }
  } catch {
    // Another start made it, or none can.
  }
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
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
