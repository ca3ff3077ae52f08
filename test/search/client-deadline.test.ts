import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { createVirtualTime } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';
import { readingFrom } from '../fakes/store.ts';
import { type Harness, type HarnessOptions, harness, pageOf } from './harness.ts';

interface Timed extends Harness {
  /** The result of each search, in the order of the answers. */
  readonly answers: string[];
  readonly ask: (q: string) => void;
  /** Ends the engine's oldest call. */
  readonly reply: () => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
}

/** One permit. The test ends calls of the engine and lets time pass. */
function timed(
  t: TestContext,
  options: HarnessOptions,
  tiers: Pick<HarnessOptions, 'store'> = { store: false },
): Timed {
  const clock = createVirtualTime(t);
  const made = harness(t, { clock, maxConcurrent: 1, deadlineMs: 400, patienceMs: 1000, ...tiers, ...options });
  const calls: (() => void)[] = [];
  made.engine.answer = (text) =>
    new Promise((resolve) => {
      calls.push(() => resolve(pageOf(text)));
    });
  const answers: string[] = [];
  return {
    ...made,
    answers,
    ask: (q) => {
      made.search.search(made.prepare(q)).then(
        ({ outcome }) => answers.push(`${q} ${outcome}`),
        (error: unknown) => answers.push(`${q} ${error instanceof SearchError ? error.code : error}`),
      );
    },
    reply: async () => {
      calls.shift()?.();
      await idle();
    },
    pass: clock.pass,
  };
}

test('a client may wait in the queue longer than the engine’s deadline, and then for its call as long as that deadline', async (t) => {
  const { ask, pass, reply, answers } = timed(t, {});
  ask('one');
  ask('two');
  await pass(390);
  await reply();
  assert.deepEqual(answers, ['one engine']);
  await pass(390);
  assert.deepEqual(answers, ['one engine'], 'its call has run for 390 ms');
  await pass(20);
  assert.deepEqual(answers, ['one engine', 'two engine-deadline']);
});

test('a client past its patience leaves, and its page is stored nevertheless', async (t) => {
  const { ask, pass, reply, answers, engine } = timed(t, { patienceMs: 900 });
  for (const q of ['one', 'two', 'three']) ask(q);
  await pass(200);
  await reply();
  await pass(390);
  await reply();
  assert.deepEqual(answers, ['one engine', 'two engine']);
  await pass(300);
  assert.deepEqual(answers.length, 2, 'it has waited for 890 ms, and its call for 300');
  await pass(20);
  assert.deepEqual(answers.slice(2), ['three engine-deadline']);
  await reply();
  ask('three');
  await idle();
  assert.deepEqual(answers.slice(3), ['three hit-l1']);
  assert.equal(engine.asked.length, 3);
});

test('a client that cannot be served within its patience is refused early, while others are served', async (t) => {
  const { ask, pass, answers } = timed(t, {});
  for (const q of ['one', 'two', 'three', 'four', 'five', 'six']) ask(q);
  await pass(300);
  assert.deepEqual(
    answers,
    ['three', 'four', 'five', 'six'].map((q) => `${q} overloaded`),
  );
});

test('behind an engine that has stopped, no client waits as long as its patience', async (t) => {
  const { ask, pass, answers } = timed(t, {});
  ask('one');
  ask('two');
  await pass(410);
  assert.deepEqual(answers.toSorted(), ['one engine-deadline', 'two overloaded']);
});

test('a client that waits for the call of another process waits no longer than the deadline', async (t) => {
  const clock = createVirtualTime(t);
  const { search, sibling, engine, prepare } = harness(t, { clock, deadlineMs: 400, patienceMs: 1000 });
  engine.answer = () => new Promise(() => undefined);
  const own = search.search(prepare('one')).catch(({ code }: SearchError) => code);
  await idle();
  let code: string | undefined;
  const fails = (error: SearchError): void => {
    code = error.code;
  };
  void sibling()
    .search(prepare('one'))
    .then(() => assert.fail('the engine hangs'), fails);
  await clock.pass(390);
  assert.equal(code, undefined);
  await clock.pass(30);
  assert.deepEqual([await own, code, engine.asked], ['engine-deadline', 'engine-deadline', ['one']]);
});

test('the duration of the store read counts as patience', async (t) => {
  const { ask, pass, answers, store } = timed(t, { patienceMs: 400 }, {});
  const read = readingFrom(() => new Promise((done) => setTimeout(() => done({ kind: 'absent' }), 300)));
  Object.assign(store, { read });
  ask('one');
  await pass(390);
  assert.deepEqual(answers, []);
  await pass(30);
  assert.deepEqual(answers, ['one engine-deadline']);
});

test('a client that joins a late call waits for it as long as the deadline', async (t) => {
  const { ask, pass, reply, answers } = timed(t, {});
  ask('one');
  await pass(500);
  ask('one');
  await pass(390);
  await reply();
  assert.deepEqual(answers, ['one engine-deadline', 'one collapsed']);
});

test('a page that came into L1 during the store read is served from L1, and costs no budget', async (t) => {
  const { search, engine, store, prepare } = harness(t);
  const read = Promise.withResolvers<void>();
  Object.assign(store, { read: readingFrom(() => read.promise.then(() => ({ kind: 'absent' }))) });
  const asked = search.search(prepare('диван'), { mayMiss: () => assert.fail('the budget was asked') });
  await search.bypass(prepare('диван'));
  read.resolve();
  assert.equal((await asked).outcome, 'hit-l1');
  assert.deepEqual(engine.asked, ['диван']);
});

test('a page that came into L1 while a load waited for its permit is taken from L1', async (t) => {
  const { search, engine, prepare } = harness(t, { maxConcurrent: 1, store: false });
  const first = Promise.withResolvers<void>();
  engine.answer = async (text) => {
    if (text === 'стол') await first.promise;
    return pageOf(text);
  };
  const batch = search.searchMany([prepare('стол'), prepare('диван')]);
  await idle();
  first.resolve();
  await search.bypass(prepare('диван'));
  const results = await batch;
  const outcomes = results.map((result) => (result instanceof Error ? result : result.outcome));
  assert.deepEqual(outcomes, ['engine', 'collapsed']);
  assert.deepEqual(engine.asked, ['стол', 'диван']);
  assert.equal((await search.search(prepare('шкаф'))).outcome, 'engine', 'its permit is free again');
});
