import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { createSqliteEngine } from '../../../src/engines/sqlite/engine.ts';
import type { SqliteEvent } from '../../../src/engines/sqlite/pool.ts';
import type { EngineReason } from '../../../src/resilience/search-error.ts';
import type { Engine } from '../../../src/search/engine.ts';
import { ask } from '../../contract/engine-truth.ts';
import { pluck } from '../../pluck.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { DOMAIN, temporaryDirectory, titled } from './harness.ts';

const timeLimit = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);

interface Opened {
  readonly engine: Engine;
  readonly file: string;
  readonly events: readonly SqliteEvent[];
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
  const engine = await createSqliteEngine({
    file,
    domain: DOMAIN,
    workers,
    snippetLength: 200,
    random: () => 0,
    observe: (event) => events.push(event),
    program: new URL('./unruly-worker.ts', import.meta.url),
    ...bounds,
  });
  context.after(() => engine.close());
  return { engine, file, events, count: (state) => events.filter((event) => event.state === state).length };
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

it('when a replacement opens a newer index, all workers are restarted with it', async (context) => {
  const { engine, file, count } = await opened(context, 2);
  const documents = titled('чайник', 'чайник', 'чайник');
  await buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 1 });
  assert.equal((await engine.search(ask('чайник'), timeLimit())).total, 1, 'an open index does not change');
  await refused(engine.search(ask('crash'), timeLimit()), 'engine-unavailable');
  await until('both on the new index', () => count('ready') === 4);
  const pages = await Promise.all([1, 2, 3, 4].map(() => engine.search(ask('чайник'), timeLimit())));
  assert.deepEqual(pluck(pages, 'total'), [3, 3, 3, 3]);
});
