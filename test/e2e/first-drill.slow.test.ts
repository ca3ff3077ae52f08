import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { embeddedDomains } from '../../src/config/load.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import { createOperator } from './operator-harness.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOKEN = 'a-token-for-a-first-drill';

/** The commands of the README in an empty folder: `npm start`, `npm run traffic` until it is stopped, the canary. */
async function firstDrill(): Promise<{
  readonly code: number | null;
  readonly journal: Journal;
}> {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-first-drill-'));
  const [port = 0, adminPort = 0] = await freePorts(2);
  // The demo without a file has this configuration, but its limits of time are for a machine that does nothing else.
  const demo = { public: { maxLoopDelay: '1m' }, domains: embeddedDomains() };
  writeFileSync(join(directory, 'serpcache.yaml'), JSON.stringify(demo));
  const env = { SERPCACHE_CONFIG: 'serpcache.yaml', PORT: `${port}`, ADMIN_PORT: `${adminPort}`, ADMIN_TOKEN: TOKEN };
  const part = (name: string, file: string, ready: () => Promise<boolean>) =>
    startProcess({
      name,
      command: process.execPath,
      args: [join(ROOT, file)],
      cwd: directory,
      env,
      logFile: join(directory, `${name}.log`),
      ready,
    });
  const running = [await part('serpcache', 'src/main.ts', () => accepts(port))];
  try {
    running.unshift(await part('traffic', 'loadtest/traffic/cli.ts', async () => isWarm(directory)));
    const adminUrl = `http://127.0.0.1:${adminPort}`;
    const operator = createOperator({ adminUrl, token: TOKEN });
    const end = await operator.cli('drill', 'run', 'canary', '--domain', 'goods', '--reason', 'first try', '--yes');
    const over = end.lines.find(({ kind }) => kind === 'over')?.['journal'];
    assert.ok(over !== undefined, `exit ${end.code}: ${end.err}`);
    return { code: end.code, journal: over as Journal };
  } finally {
    for (const process of running) await process.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The traffic prints that the cache is warm; the README says to start the drill then. */
function isWarm(directory: string): boolean {
  return readFileSync(join(directory, 'traffic.log'), 'utf8').includes('warm after');
}

test('the first drill of a newcomer, by the README, passes and reports no figure that it has not measured', async () => {
  const { code, journal } = await firstDrill();
  const { verdict, learned } = journal;
  assert.deepEqual([code, verdict?.kind], [0, 'passed'], verdict?.detail ?? 'no verdict');
  const [{ survival, stages = [] } = {}] = learned;
  assert.equal(stages.length, 1, 'it was flushed');
  assert.deepEqual([survival?.amplification, survival?.survivable], [undefined, undefined]);
  assert.ok((stages[0]?.lowest ?? 0) < (stages[0]?.before ?? 0), JSON.stringify(stages));
});
