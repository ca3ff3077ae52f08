import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import pino from 'pino';
import { loadSettings } from '../src/config/load.ts';
import { buildSmallIndex, createServiceHere } from './fakes/small-service.ts';
import { temporaryFolder } from './folder.ts';

const CONFIG = `
domains:
  goods:
    engine: { kind: sqlite, directory: index, workers: 1 }
    attributes: {}
`;

type Line = { readonly msg: string; readonly what?: string };

/** A service of one domain over an embedded index. `lines`: its log. */
async function start(t: TestContext, { indexed, config = CONFIG }: { indexed: boolean; config?: string }) {
  const directory = temporaryFolder(t);
  const file = join(directory, 'serpcache.yaml');
  writeFileSync(file, config);
  const settings = loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: directory });
  if (indexed) await buildSmallIndex(settings, directory);
  const lines: Line[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { created: createServiceHere(settings, log), lines };
}

test('a start without its index rejects with the fault of the index', async (t) => {
  const { created } = await start(t, { indexed: false });
  await assert.rejects(created, /goods\.sqlite/);
});

test('a start that fails at the lifeboat closes what it has opened: the engine and the store', async (t) => {
  const store = createServer().listen(0, '127.0.0.1');
  t.after(() => store.close());
  await once(store, 'listening');
  const connected = once(store, 'connection') as Promise<[Socket]>;
  const { port } = store.address() as AddressInfo;
  const config = `${CONFIG}    lifeboat: { directory: nowhere, workers: 1 }
    store: { kind: standalone, nodes: ["127.0.0.1:${port}"] }
`;
  const { created } = await start(t, { indexed: true, config });
  await assert.rejects(created, /nowhere\/goods\.sqlite/);
  const [socket] = await connected;
  if (!socket.closed) await once(socket.resume(), 'close');
  assert.ok(!process.getActiveResourcesInfo().includes('MessagePort'), 'a thread of the engine');
});

test('a close does not wait for a worker that does not end, and the log names the stores and engines once', async (t) => {
  const { created, lines } = await start(t, { indexed: true });
  const service = await created;
  const workers: Worker[] = [];
  const { terminate } = Worker.prototype;
  t.mock.method(Worker.prototype, 'terminate', function (this: Worker) {
    workers.push(this);
    return new Promise<number>(() => {});
  });
  t.after(() => Promise.all(workers.map((worker) => terminate.call(worker))));
  await service.close();
  const late = lines.filter(({ msg }) => msg === 'did not close in time').map(({ what }) => what);
  assert.deepEqual(late, ['stores and engines']);
});
