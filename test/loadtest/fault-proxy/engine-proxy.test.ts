import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/fault-proxy/engine-proxy.ts';
import { SPHINX } from '../../../loadtest/stack/sphinx.ts';
import { type Connection, openConnection } from '../../../src/engines/sphinx/connection.ts';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN } from '../../contract/engine.ts';
import { openSphinx } from '../../engines/sphinx/harness.ts';
import { LIMIT_MS, until } from '../../until.ts';

const search = (text: string, maxQueryTimeMs = 1000): string =>
  `SELECT id FROM contract WHERE MATCH('${text}') LIMIT 5 OPTION max_query_time=${maxQueryTimeMs}; SHOW META; ` +
  `SELECT id FROM contract WHERE MATCH('${text}') LIMIT 1; SHOW META`;

describe('a proxy in front of searchd that recognises searches', () => {
  let opened: Awaited<ReturnType<typeof openSphinx>>;
  let proxy: EngineProxy;
  let connections: Connection[] = [];
  before(async () => {
    opened = await openSphinx({
      server: SPHINX,
      domains: [{ domain: CONTRACT_DOMAIN, index: 'contract', documents: CONTRACT_DOCUMENTS.slice(0, 100) }],
    });
    proxy = await startEngineProxy({ target: opened.searchd, maxWaiting: 5 });
  });
  after(async () => {
    await proxy?.stop();
    await opened?.searchd.stop();
    await opened?.remove();
  });
  afterEach(async () => {
    proxy.set({ delayMs: 0, capacity: Number.POSITIVE_INFINITY, multiply: 1, fail: undefined });
    proxy.maxedOut(false);
    for (const connection of connections) connection.destroy();
    connections = [];
    await until('an idle engine', async () => proxy.connections() === 0 && proxy.counts().atEngine === 0);
    proxy.resetCounts();
  });
  const open = async (port = proxy.port): Promise<Connection> => {
    const options = { host: '127.0.0.1', port, connectTimeoutMs: LIMIT_MS, onClose: () => {} };
    const connection = await openConnection(options, AbortSignal.timeout(LIMIT_MS));
    connections.push(connection);
    return connection;
  };
  /** Opens one after the other: searchd's backlog is five, and further connections wait for a second. */
  const several = async (count: number): Promise<Connection[]> => {
    const opening: Connection[] = [];
    while (opening.length < count) opening.push(await open());
    return opening;
  };

  it('forwards searches with all their result sets, and counts searches and distinct texts', async () => {
    const [direct, through] = [await open(opened.searchd.port), await open()];
    const withoutTimes = (sets: unknown): string => JSON.stringify(sets).replaceAll(/"time","[\d.]+"/g, '');
    const expected = withoutTimes(await direct.send(search('гитара')));
    for (const limit of [1000, 900, 800]) {
      assert.equal(withoutTimes(await through.send(search('гитара', limit))), expected);
    }
    await through.send(search('куртка'));
    await through.send('SHOW META');
    await through.send(search('serpcacheprobe'));
    const { searches, distinct, probes, mostAtEngine, atEngine } = proxy.counts();
    assert.deepEqual([searches, distinct, probes], [4, 2, 1]);
    assert.deepEqual([atEngine, mostAtEngine], [0, 1]);
  });

  it('delays each search independently, and no other statement', async () => {
    const [first, second, third] = await several(3);
    proxy.set({ delayMs: LIMIT_MS });
    const lost = assert.rejects(first?.send(search('гитара')) ?? Promise.resolve());
    await until('it is delayed', () => proxy.counts().atEngine === 1);
    await third?.send('SHOW META');
    proxy.set({ delayMs: 50 });
    await second?.send(search('гитара'));
    assert.deepEqual([proxy.counts().atEngine, proxy.counts().mostAtEngine], [1, 2]);
    proxy.cut();
    await lost;
  });

  it('limits the concurrent searches at the engine, in the order of arrival', async () => {
    for (const capacity of [1, 3]) {
      proxy.set({ capacity: 0, delayMs: 30 });
      proxy.resetCounts();
      const order: number[] = [];
      const asked = [];
      for (const [index, connection] of (await several(5)).entries()) {
        asked.push(connection.send(search('гитара')).then(() => order.push(index)));
        await until('it waits', async () => proxy.counts().waiting === index + 1);
      }
      proxy.set({ capacity });
      await Promise.all(asked);
      assert.deepEqual([proxy.counts().mostAtEngine, proxy.counts().mostWaiting], [capacity, 5]);
      if (capacity === 1) assert.deepEqual(order, [0, 1, 2, 3, 4]);
    }
  });

  it('refuses searches above the maximum number of waiting ones, like an overloaded engine', async () => {
    proxy.set({ capacity: 0 });
    const [last, ...first] = await several(6);
    const held = first.map((connection) => connection.send(search('гитара')));
    await until('they wait', async () => proxy.counts().waiting === 5);
    await assert.rejects(last?.send(search('гитара')) ?? Promise.resolve(), { reason: 'engine-overloaded' });
    proxy.set({ capacity: 5 });
    await Promise.all(held);
    assert.equal(proxy.counts().refused, 1);
  });

  it('answers every search with error 1064 without the engine, until this is switched off', async () => {
    const connection = await open();
    const text = 'index contract: no such filter attribute x';
    proxy.set({ fail: text });
    await assert.rejects(connection.send(search('гитара')), { reason: 'engine-rejected', message: text });
    assert.equal(proxy.counts().mostAtEngine, 0);
    proxy.set({ fail: undefined });
    assert.equal((await connection.send(search('гитара'))).length, 4);
    assert.equal(proxy.counts().refused, 1);
  });

  it('refuses new connections like a searchd at max_children, and keeps established ones', async () => {
    const connection = await open();
    proxy.maxedOut(true);
    await assert.rejects(open(), { reason: 'engine-overloaded' });
    assert.equal((await connection.send(search('гитара'))).length, 4);
    proxy.maxedOut(false);
    assert.equal((await (await open()).send(search('гитара'))).length, 4);
  });

  it('a search whose client has disconnected keeps its slot until the engine has finished it', async () => {
    const narrow = await startEngineProxy({ target: proxy });
    narrow.set({ capacity: 1 });
    try {
      const [gone, waitingAndGone, patient] = [
        await open(narrow.port),
        await open(narrow.port),
        await open(narrow.port),
      ];
      // The engine of the narrow proxy finishes no search.
      proxy.set({ capacity: 0 });
      for (const [index, one] of [gone, waitingAndGone].entries()) {
        one.send(search('гитара')).catch(() => {});
        await until('it has arrived', () => narrow.counts().searches === index + 1);
        one.destroy();
      }
      await until('they are disconnected', () => narrow.connections() === 1);
      const last = patient.send(search('гитара'));
      await until('it has arrived', () => narrow.counts().searches === 3);
      assert.deepEqual([narrow.counts().atEngine, narrow.counts().waiting], [1, 2]);
      proxy.set({ capacity: Number.POSITIVE_INFINITY });
      await last;
      assert.deepEqual([proxy.counts().searches, proxy.counts().mostAtEngine], [3, 1]);
    } finally {
      await narrow.stop();
    }
  });

  it('while paused no search is answered; after resuming all are', async () => {
    const [first, second] = await several(2);
    proxy.pause();
    let back = 0;
    const asked = [first, second].map((one) => one?.send(search('гитара')).then(() => (back += 1)));
    await until('both are at the engine', async () => proxy.counts().searches === 2);
    assert.equal(back, 0);
    proxy.resume();
    await Promise.all(asked);
    assert.equal(back, 2);
  });

  it('when the engine dies its searches fail and their slots are freed', async () => {
    proxy.set({ capacity: 1, delayMs: 100 });
    const asked = (await several(3)).map((connection) => assert.rejects(connection.send(search('гитара'))));
    await until('they are at the engine', async () => proxy.counts().searches === 3);
    opened.searchd.process.signal('SIGKILL');
    await Promise.all(asked);
    await until('no search is left', async () => proxy.counts().atEngine + proxy.counts().waiting === 0);
  });
});
