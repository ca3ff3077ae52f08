import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Callback, createCallbackFlights, createSingleflight } from '../../src/cache/singleflight.ts';
import { idle } from '../fakes/idle.ts';

test('a thousand callers of one key are one flight and get the same object', async () => {
  const flights = createSingleflight<object>();
  let started = 0;
  const land = Promise.withResolvers<object>();
  const joined = Array.from({ length: 1000 }, () =>
    flights.join('k', () => {
      started += 1;
      return land.promise;
    }),
  );
  assert.equal(joined.filter(({ leads }) => leads).length, 1);
  assert.equal(flights.size(), 1);
  const page = {};
  land.resolve(page);
  const results = await Promise.all(joined.map(({ result }) => result));
  assert.ok(results.every((result) => result === page));
  assert.equal(started, 1);
  assert.equal(flights.size(), 0);
});

test('each key has its own flight', async () => {
  const flights = createSingleflight<string>();
  const [a, b] = [flights.join('a', async () => 'A'), flights.join('b', async () => 'B')];
  assert.deepEqual([await a.result, await b.result, a.leads, b.leads], ['A', 'B', true, true]);
});

test('followers share the leader’s error, and the next caller starts a new flight', async () => {
  const flights = createSingleflight<string>();
  const failing = async (): Promise<string> => {
    throw new Error('engine');
  };
  const [leader, follower] = [flights.join('k', failing), flights.join('k', failing)];
  await assert.rejects(leader.result, /engine/);
  await assert.rejects(follower.result, /engine/);
  assert.equal(await flights.join('k', async () => 'ok').result, 'ok');
});

test('a caller that has the result finds the key free', async () => {
  const flights = createSingleflight<string>();
  const first = flights.join('k', async () => 'old');
  const second = first.result.then(() => flights.join('k', async () => 'new'));
  assert.equal((await second).leads, true);
  assert.equal(await (await second).result, 'new');
});

test('a start that throws at once is a failed flight, and frees its key', async () => {
  const flights = createSingleflight<string>();
  const { result } = flights.join('k', () => {
    throw new Error('at once');
  });
  await assert.rejects(result, /at once/);
  assert.equal(flights.size(), 0);
});

test('a failed flight without waiters is no unhandled rejection', async () => {
  const flights = createSingleflight<string>();
  flights.join('k', async () => Promise.reject(new Error('nobody')));
  await idle();
  assert.equal(flights.size(), 0);
});

test('callbacks: callers of one key share one call; the key is free before the first of them hears of it', () => {
  const flights = createCallbackFlights<string>();
  const ends: Callback<string>[] = [];
  const heard: string[] = [];
  const join = (name: string): void =>
    flights.join(
      'k',
      (done) => void ends.push(done),
      (error, value) => {
        heard.push(`${name} ${error ?? value}`);
        if (name === 'a') join('after');
      },
    );
  for (const name of ['a', 'b', 'c']) join(name);
  assert.equal(ends.length, 1);
  ends[0]?.(undefined, 'page');
  assert.deepEqual(heard, ['a page', 'b page', 'c page']);
  assert.equal(ends.length, 2, 'the caller that came afterwards started its own call');
  ends[1]?.('lost');
  assert.deepEqual(heard.slice(3), ['after lost']);
});

test('callbacks: a call that ends before `join` returns leaves the key free', () => {
  const flights = createCallbackFlights<number>();
  const heard: unknown[] = [];
  for (const value of [1, 2]) {
    flights.join(
      'k',
      (done) => done(undefined, value),
      (_error, got) => heard.push(got),
    );
  }
  assert.deepEqual(heard, [1, 2]);
});
