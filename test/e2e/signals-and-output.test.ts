import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { loadSettings } from '../../src/config/load.ts';
import { makeFullFifo } from '../fakes/fifo.ts';
import { buildSmallIndex } from '../fakes/small-service.ts';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';

const ADMIN_TOKEN = 'the-token-of-this-test';

/** `src/main.ts` over an index of 20 documents. @param redirect as in a shell: where its output goes. */
async function start(t: TestContext, folder: string, redirect: string, inTerminal = false) {
  const config = join(folder, 'serpcache.yaml');
  writeFileSync(
    config,
    `
# On a busy machine a late reply does not mean that a part is overloaded.
public: { maxLoopDelay: 1m }
log: { hitSample: 1 }
audit: { file: audit }
domains:
  goods:
    patience: 10s
    engine: { kind: sqlite, directory: index, workers: 1, deadline: 5s, hardDeadline: 10s }
    attributes: {}
`,
  );
  await buildSmallIndex(loadSettings({ env: { SERPCACHE_CONFIG: config }, cwd: folder }), folder);
  const [port = 0, adminPort = 0] = await freePorts(2);
  const command = `exec '${process.execPath}' '${join(import.meta.dirname, '../../src/main.ts')}' ${redirect}`;
  const running = await startProcess({
    name: 'serpcache',
    ...(inTerminal
      ? { command: 'script', args: ['-qc', command, '/dev/null'] }
      : { command: '/bin/sh', args: ['-c', command] }),
    cwd: folder,
    env: { SERPCACHE_CONFIG: config, PORT: `${port}`, ADMIN_PORT: `${adminPort}`, ADMIN_TOKEN, LOG_LEVEL: 'debug' },
    logFile: join(folder, 'log'),
    ready: () => accepts(port),
  });
  t.after(() => running.stop(0));
  const asked = async (path: string, at = port, init: RequestInit = {}): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${at}${path}`, init);
    await response.arrayBuffer();
    return response.status;
  };
  return { running, asked, adminPort, log: () => readFileSync(join(folder, 'log'), 'utf8') };
}

test('searches, health, changes and SIGTERM work while nobody reads standard output, standard error and the audit file', async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ['output', 'audit']) makeFullFifo(t, join(folder, name));
  const { running, asked, adminPort } = await start(t, folder, '>output 2>&1');
  for (let search = 0; search < 60; search += 1) assert.equal(await asked(`/search?q=${search % 30}`), 200);
  assert.equal(await asked('/healthz'), 200);
  assert.equal(await asked('/metrics', adminPort), 200);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const purge = { method: 'POST', headers, body: '{"domain":"goods","q":"1"}' };
  assert.equal(await asked('/admin/purge', adminPort, purge), 200);
  assert.equal(await asked('/admin/audit', adminPort, { headers }), 200);
  running.signal('SIGTERM');
  await running.ended;
  assert.equal(running.exitStatus(), 0);
});

test('SIGHUP is ignored with a line in the log, also while the disk of standard error is full', async (t) => {
  const folder = temporaryFolder(t);
  const { running, asked, log } = await start(t, folder, '2>/dev/full');
  running.signal('SIGHUP');
  await until('the line', () => log().includes('signal ignored'));
  assert.equal(await asked('/search?q=1'), 200);
  running.signal('SIGTERM');
  await running.ended;
  assert.equal(running.exitStatus(), 0);
  assert.match(log(), /"left"/);
});

test('a service whose terminal is closed drains and ends', async (t) => {
  const folder = temporaryFolder(t);
  // `script` runs the command in a terminal of its own; without `script`, the terminal is gone.
  const { running, log } = await start(t, folder, '>log 2>&1', true);
  assert.doesNotMatch(log(), /leaving/);
  running.signal('SIGKILL');
  await until('the end', () => log().includes('"left"'));
  assert.match(log(), /"signal":"SIGHUP","msg":"leaving/);
});
