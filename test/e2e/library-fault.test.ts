import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { loadSettings } from '../../src/config/load.ts';
import { startRespServer } from '../fakes/resp-server.ts';
import { buildSmallIndex } from '../fakes/small-service.ts';
import { until } from '../until.ts';

const LIBRARY = '/app/node_modules/ioredis/built/DataHandler.js';

type How = 'throw' | 'reject';

/** Makes ioredis throw, or reject a promise, for a reply `fault`, in a later tick, by a function of that file. */
const preloadOf = (file: string, how: How): string => `
import { createRequire } from 'node:module';
import { runInThisContext } from 'node:vm';
const DataHandler = createRequire(${JSON.stringify(import.meta.filename)})('ioredis/built/DataHandler.js').default;
const fail = runInThisContext("() => { throw new Error('a fault of this test'); }", { filename: ${JSON.stringify(file)} });
const { returnReply } = DataHandler.prototype;
DataHandler.prototype.returnReply = function (reply) {
  if (String(reply) === 'fault') process.nextTick(${how === 'throw' ? 'fail' : 'async () => fail()'});
  else returnReply.call(this, reply);
};
`;

/** The service over a store whose answers to GET are faults of that file. */
async function start(t: TestContext, file: string, how: How = 'throw') {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-fault-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = await startRespServer();
  t.after(store.stop);
  store.answer(([command]) => (command === 'GET' ? '+fault\r\n' : undefined));
  const config = join(folder, 'serpcache.yaml');
  writeFileSync(
    config,
    `
public: { maxLoopDelay: 1m }
domains:
  goods:
    patience: 10s
    store: { kind: standalone, nodes: ["127.0.0.1:${store.port}"], deadline: 1s }
    engine: { kind: sqlite, directory: index, workers: 1, deadline: 5s, hardDeadline: 10s }
    attributes: {}
`,
  );
  await buildSmallIndex(loadSettings({ env: { SERPCACHE_CONFIG: config }, cwd: folder }), folder);
  const preload = join(folder, 'preload.mjs');
  writeFileSync(preload, preloadOf(file, how));
  const [port = 0, adminPort = 0] = await freePorts(2);
  const running = await startProcess({
    name: 'serpcache',
    command: process.execPath,
    args: ['--import', preload, join(import.meta.dirname, '../../src/main.ts')],
    cwd: folder,
    env: { SERPCACHE_CONFIG: config, PORT: `${port}`, ADMIN_PORT: `${adminPort}` },
    logFile: join(folder, 'log'),
    ready: () => accepts(port),
  });
  t.after(() => running.stop(0));
  const asked = async (path: string): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    await response.arrayBuffer();
    return response.status;
  };
  return { store, running, asked, log: () => readFileSync(join(folder, 'log'), 'utf8') };
}

test('a fault that ioredis throws in a later tick ends its connection: the search is answered, and the log tells', async (t) => {
  const { store, running, asked, log } = await start(t, LIBRARY);
  let search = 0;
  await until('the fault', async () => {
    search += 1;
    assert.equal(await asked(`/search?q=${search}`), 200);
    return log().includes('a connection was ended: the library that reads it failed');
  });
  await until('another connection', () => store.opened() > 1);
  assert.equal(await asked('/healthz'), 200);
  assert.equal(running.exitStatus(), null);
});

const OWN = join(import.meta.dirname, '../../src/stores/redis/send.ts');

for (const [what, file, how] of [
  ['a fault of our own in the same tick', OWN, 'throw'],
  ['a promise that is rejected with an error of ioredis, and that no caller awaits,', LIBRARY, 'reject'],
] as const) {
  test(`${what} ends the process`, async (t) => {
    const { running, asked } = await start(t, file, how);
    let search = 0;
    const ended = running.ended.then(() => true);
    await until('the end of the process', async () => {
      search += 1;
      await asked(`/search?q=${search}`).catch(() => {});
      return Promise.race([ended, false]);
    });
    assert.equal(running.exitStatus(), 1);
  });
}
