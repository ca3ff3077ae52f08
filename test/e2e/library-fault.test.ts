import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadSettings } from '../../src/config/load.ts';
import { startRespServer } from '../fakes/resp-server.ts';
import { buildSmallIndex } from '../fakes/small-service.ts';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';
import { startService } from './service-harness.ts';

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
  const folder = temporaryFolder(t);
  const store = await startRespServer();
  t.after(store.stop);
  store.answer(([command]) => (command === 'GET' ? '+fault\r\n' : undefined));
  const domain = `  goods:
    patience: 10s
    store: { kind: standalone, nodes: ["127.0.0.1:${store.port}"], deadline: 1s }
    engine: { kind: sqlite, directory: ${folder}/index, workers: 1, deadline: 5s, hardDeadline: 10s }
    attributes: {}
`;
  const readFile = (): string => `domains:\n${domain}`;
  await buildSmallIndex(loadSettings({ env: { SERPCACHE_CONFIG: 'a.yaml' }, cwd: folder, readFile }), folder);
  const preload = join(folder, 'preload.mjs');
  writeFileSync(preload, preloadOf(file, how));
  const service = await startService(domain, { NODE_OPTIONS: `--import=${preload}` });
  t.after(service.stop);
  const asked = async (path: string): Promise<number> => {
    const response = await fetch(`${service.url}${path}`);
    await response.arrayBuffer();
    return response.status;
  };
  return { store, running: service.process(), asked, log: service.log };
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
