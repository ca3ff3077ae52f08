import { readFileSync } from 'node:fs';
import { systemClock } from './clock.ts';
import { compose } from './compose.ts';
import { CONFIG_EXIT_CODE, ConfigError } from './config/faults.ts';
import { loadSettings } from './config/load.ts';
import { makeDemoIndexes } from './first-start.ts';
import { createLogger } from './metrics/logger.ts';

/** `npm start`: reads the configuration, makes what is missing on a first start, listens, and leaves gracefully. */
async function main(): Promise<void> {
  const settings = loadSettings({ env: process.env, cwd: process.cwd() });
  const leaving = new AbortController();
  const signalled = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Later signals change nothing: Ctrl-C under npm arrives twice, and leaving takes less than 5 s.
    process.on(signal, () => {
      leaving.abort();
      signalled.resolve(signal);
    });
  }

  await makeDemoIndexes(settings, { clock: systemClock, output: process.stderr, signal: leaving.signal });
  if (leaving.signal.aborted) return;
  const log = createLogger({ level: settings.log.level });
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const service = await compose({ settings, log, clock: systemClock, random: Math.random, version });
  try {
    const { publicUrl, adminUrl } = await service.listen();
    log.info({ publicUrl, adminUrl, version, pid: process.pid }, 'listening');
    process.stderr.write(greeting(publicUrl, adminUrl, settings.admin.token !== undefined));
    const signal = await signalled.promise;
    log.info({ signal }, 'leaving: draining connections');
  } finally {
    await service.close();
    log.info('left');
    log.flush();
  }
}

function greeting(publicUrl: string, adminUrl: string, hasToken: boolean): string {
  const example = `${publicUrl}/search?q=${encodeURIComponent('кроссовки')}`;
  return [
    '',
    `  search page   ${publicUrl}/`,
    `  search API    ${example}`,
    `  API docs      ${publicUrl}/docs`,
    `  metrics       ${adminUrl}/metrics`,
    `  console       ${adminUrl}/ops${hasToken ? '' : '   (to change things there: ADMIN_TOKEN=… npm start)'}`,
    '',
    '',
  ].join('\n');
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
  process.stderr.write(`serpcache: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
