import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { createSqliteEngine } from '../../../src/engines/sqlite/engine.ts';
import type { SqliteEvent } from '../../../src/engines/sqlite/pool.ts';
import { updateIndex } from '../../../src/engines/sqlite/update.ts';
import type { EngineReason } from '../../../src/resilience/search-error.ts';
import type { Document } from '../../../src/search/domain.ts';
import type { Engine } from '../../../src/search/engine.ts';
import { updatesOf } from '../../contract/engine-documents.ts';
import { ask } from '../../contract/engine-truth.ts';
import { pluck } from '../../pluck.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { DOMAIN, temporaryDirectory, titled } from './harness.ts';

const timeLimit = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);

interface Opened {
  readonly engine: Engine;
  readonly file: string;
  readonly events: readonly SqliteEvent[];
  /** Number of calls of onReplaced so far. */
  readonly replaced: () => number;
  /** Number of events of this state so far. */
  readonly count: (state: SqliteEvent['state']) => number;
}

async function opened(
  context: TestContext,
  workers: number,
  bounds: { readonly maxWaiting?: number; readonly abortGraceMs?: number } = {},
): Promise<Opened> {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await buildIndex({ file, domain: DOMAIN, documents: titled('чайник', 'самовар', 'slow'), builtAtMs: 0 });
  const events: SqliteEvent[] = [];
  let replaced = 0;
  const engine = await createSqliteEngine({
    file,
    domain: DOMAIN,
    workers,
    snippetLength: 200,
    random: () => 0,
    observe: (event) => events.push(event),
    onReplaced: () => {
      replaced += 1;
    },
    program: new URL('./unruly-worker.ts', import.meta.url),
    ...bounds,
  });
  context.after(() => engine.close());
  return {
    engine,
    file,
    events,
    replaced: () => replaced,
    count: (state) => events.filter((event) => event.state === state).length,
  };
}

const refused = (promise: Promise<unknown>, reason: EngineReason, message = /./): Promise<void> =>
  assert.rejects(promise, { name: 'SearchError', reason, message });

it('a crashed worker fails its own search only and is replaced', async (context) => {
  const { engine, count } = await opened(context, 2);
  const slow = engine.search(ask('slow'), timeLimit());
  await refused(engine.search(ask('crash'), timeLimit()), 'engine-unavailable', /crashed as asked/);
  assert.equal((await slow).total, 1);
  await until('a replacement', () => count('ready') === 3);
  assert.equal(count('crashed'), 1);
  const both = await Promise.all([engine.search(ask('slow'), timeLimit()), engine.search(ask('чайник'), timeLimit())]);
  assert.deepEqual(pluck(both, 'total'), [1, 1]);
});

it('after repeated crashes the restart delay grows, and an answer resets it', async (context) => {
  const { engine, events, count } = await opened(context, 1);
  for (let crash = 1; crash <= 3; crash += 1) {
    await refused(engine.search(ask(crash === 2 ? 'exit' : 'crash'), timeLimit()), 'engine-unavailable');
    await until('a replacement', () => count('ready') === crash + 1);
  }
  await engine.search(ask('чайник'), timeLimit());
  await refused(engine.search(ask('crash'), timeLimit()), 'engine-unavailable');
  await until('a crash to be noticed', () => count('crashed') === 4);
  const pauses = events.flatMap((event) => (event.state === 'crashed' ? [event.restartMs] : []));
  assert.deepEqual(pauses, [50, 100, 200, 50]);
});

it('while no worker is up, searches are refused at once with the cause', async (context) => {
  const { engine, count } = await opened(context, 1);
  const waiting = engine.search(ask('crash'), timeLimit());
  const behind = engine.search(ask('чайник'), timeLimit());
  await refused(waiting, 'engine-unavailable');
  await refused(behind, 'engine-unavailable', /no search worker is up.*crashed as asked/);
  await refused(engine.probe(timeLimit()), 'engine-unavailable', /no search worker is up/);
  await until('a replacement', () => count('ready') === 2);
  await engine.probe(timeLimit());
});

it('a worker that cannot open the index is started again until the index is back', async (context) => {
  const { engine, file, count } = await opened(context, 1);
  await rename(file, `${file}.away`);
  await refused(engine.search(ask('crash'), timeLimit()), 'engine-unavailable');
  await until('failed restarts', () => count('crashed') >= 3);
  await rename(`${file}.away`, file);
  await until('a replacement', () => count('ready') === 2);
  assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 1);
});

it('a search that hangs ends at its abort, its worker is replaced, and no other search is lost', async (context) => {
  const { engine, count } = await opened(context, 2);
  assert.equal(engine.abortEndsWork, true);
  const controller = new AbortController();
  const hanging = engine.search(ask('hang'), controller.signal);
  const others = Array.from({ length: 20 }, (_, index) =>
    engine.search(ask(['чайник', 'самовар', 'slow'][index % 3] ?? ''), timeLimit()),
  );
  controller.abort();
  await refused(hanging, 'engine-timeout');
  for (const page of await Promise.all(others)) assert.equal(page.total, 1);
  await until('a replacement', () => count('ready') === 3);
  assert.equal(count('ended'), 1);
  assert.equal(count('crashed'), 0);
});

it('when every worker hangs, aborts free them all', async (context) => {
  const { engine } = await opened(context, 2);
  const hanging = [1, 2].map(() => engine.search(ask('hang'), AbortSignal.timeout(50)));
  const behind = engine.search(ask('чайник'), timeLimit());
  for (const search of hanging) await refused(search, 'engine-timeout');
  assert.equal((await behind).total, 1);
});

it('a worker that answers soon after the abort is kept', async (context) => {
  const { engine, count } = await opened(context, 1, { abortGraceMs: 600_000 });
  for (let round = 0; round < 10; round += 1) {
    const controller = new AbortController();
    const search = engine.search(ask('чайник'), controller.signal);
    controller.abort();
    await refused(search, 'engine-timeout');
    assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 1);
  }
  assert.equal(count('ended'), 0);
});

it('searches beyond the queue are refused as overload, and an aborted search leaves the queue', async (context) => {
  const { engine } = await opened(context, 1, { maxWaiting: 2 });
  const running = engine.search(ask('slow'), timeLimit());
  const controller = new AbortController();
  const leaving = engine.search(ask('чайник'), controller.signal);
  const staying = engine.search(ask('чайник'), timeLimit());
  await refused(engine.search(ask('чайник'), timeLimit()), 'engine-overloaded', /2 searches wait for 1 workers/);
  controller.abort();
  await refused(leaving, 'engine-timeout');
  const late = engine.search(ask('самовар'), timeLimit());
  for (const search of [running, staying, late]) assert.equal((await search).total, 1);
});

it('closing rejects running and waiting searches', async (context) => {
  const { engine } = await opened(context, 1);
  const searches = ['hang', 'чайник'].map((text) => engine.search(ask(text), timeLimit()));
  const refusals = searches.map((search) => refused(search, 'engine-unavailable', /closed/));
  await engine.close();
  await Promise.all(refusals);
});

const replacement = (file: string, documents: number): Promise<unknown> =>
  buildIndex({ file, domain: DOMAIN, documents: titled(...Array(documents).fill('чайник')), builtAtMs: 1 });

it('a file that is replaced is searched from the next search on, by all workers, and no search fails', async (context) => {
  const { engine, file, count, replaced } = await opened(context, 3);
  const totals = new Set<number>();
  let isOver = false;
  const searching = [1, 2].map(async () => {
    while (!isOver) totals.add((await engine.search(ask('чайник'), timeLimit())).total);
  });
  for (const documents of [2, 3, 4]) {
    await replacement(file, documents);
    assert.equal((await engine.search(ask('чайник'), timeLimit())).total, documents);
    await until('all workers to open it', () => count('reopened') === 3 * (documents - 1));
  }
  isOver = true;
  await Promise.all(searching);
  assert.deepEqual(new Set([...totals, 2, 3]), new Set([1, 2, 3, 4]));
  await until('the calls', () => replaced() === 3);
  assert.equal(count('crashed') + count('ended') + count('kept'), 0);
});

it('a replacement is told when no search reads the old file any more', async (context) => {
  const { engine, file, count, replaced } = await opened(context, 2);
  const controller = new AbortController();
  const hanging = engine.search(ask('hang'), controller.signal);
  await replacement(file, 5);
  await engine.probe(timeLimit());
  assert.equal(count('reopened'), 1, 'by a worker that is not busy');
  assert.equal(replaced(), 0);
  controller.abort();
  await refused(hanging, 'engine-timeout');
  await until('the call', () => replaced() === 1);
});

it('a worker that starts again opens the newest file, and the others follow', async (context) => {
  const { engine, file, count, replaced } = await opened(context, 2);
  await replacement(file, 3);
  await refused(engine.search(ask('crash'), timeLimit()), 'engine-unavailable');
  await until('both on the new index', () => count('ready') === 3 && count('reopened') === 1);
  assert.equal(replaced(), 1);
});

it('a replacement that is damaged or for other attributes is reported, and the old file is searched on', async (context) => {
  const { engine, file, events, count, replaced } = await opened(context, 1);
  await writeFile(`${file}.new`, 'no index');
  await rename(`${file}.new`, file);
  for (let search = 0; search < 3; search += 1) {
    assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 1);
  }
  await buildIndex({ file, domain: { ...DOMAIN, attributes: [] }, documents: titled('чайник'), builtAtMs: 1 });
  assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 1);
  const kept = events.flatMap((event) => (event.state === 'kept' ? [event.detail] : []));
  assert.equal(kept.length, 2, 'once for each file');
  assert.match(kept.join('\n'), /is not a search index.*\n.*built for the attributes none/s);
  assert.equal(replaced(), 0);
  await replacement(file, 2);
  assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 2);
  await until('the call', () => replaced() === 1 && count('reopened') === 1);
});

it('an update that no feed is told is noticed by the next probe as a replacement, another update is not', async (context) => {
  const { engine, file, count, replaced } = await opened(context, 2);
  const update = { file, domain: DOMAIN, updates: updatesOf([], ['1']), atMs: 5 };
  updateIndex(update);
  await engine.update?.(updatesOf(titled('чайник', 'чайник')), timeLimit());
  await engine.probe(timeLimit());
  assert.equal(count('reopened'), 0);
  updateIndex({ ...update, build: 'another' });
  await engine.probe(timeLimit());
  await until('both workers to open it, and the call', () => count('reopened') === 2 && replaced() === 1);
  await engine.probe(timeLimit());
  assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 1);
  assert.deepEqual([count('reopened'), replaced()], [2, 1]);
});

it('searches see an update as a whole, and none fails while updates are written', async (context) => {
  const { engine } = await opened(context, 2);
  const marked = (brand: string): Document[] =>
    titled(...Array(300).fill(`товар ${brand}`)).map((document) => ({ ...document, attributes: { brand } }));
  await engine.update?.(updatesOf(marked('b0')), timeLimit());
  let isOver = false;
  const seen = new Set<unknown>();
  const searching = [1, 2].map(async () => {
    while (!isOver) {
      const page = await engine.search(ask('товар', { facets: ['brand'], limit: 100 }), timeLimit());
      const [{ value } = { value: '' }] = page.facets['brand'] ?? [];
      assert.deepEqual(page.facets, { brand: [{ value, count: 300 }] });
      assert.deepEqual(new Set(page.results.map(({ title }) => title)), new Set([`товар ${value}`]));
      seen.add(value);
    }
  });
  for (let round = 1; round <= 15; round += 1) {
    const changes = await engine.update?.(updatesOf(marked(`b${round}`)), timeLimit());
    assert.equal(changes?.length, 300);
    const page = await engine.search(ask(`товар b${round}`), timeLimit());
    assert.equal(page.total, 300, 'at once');
  }
  isOver = true;
  await Promise.all(searching);
  assert.ok(seen.size > 3);
});

it('an update that is given up is made as a whole or not at all, and the next one is made', async (context) => {
  const { engine, count } = await opened(context, 1);
  const upserts = titled(...Array.from({ length: 20_000 }, (_, index) => `товар ${index}`));
  await engine.update?.([], timeLimit());
  const controller = new AbortController();
  const updating = Promise.resolve(engine.update?.(updatesOf(upserts), controller.signal));
  controller.abort();
  await refused(updating, 'engine-timeout');
  await until('the thread is replaced', () => count('ended') === 1);
  const { total } = await engine.search(ask('товар'), timeLimit());
  assert.ok(total === 0 || total === 20_000, `${total}`);
  const changes = await engine.update?.(updatesOf(titled('товар'), ['2']), timeLimit());
  assert.deepEqual(pluck(changes ?? [], 'id'), ['1', '2']);
});
