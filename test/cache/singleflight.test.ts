import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSingleflight } from '../../src/cache/tiers.ts';
import { type Done, promised } from '../../src/runtime.ts';

test('a thousand callers of one key are one call and get the same object', async () => {
  const calls = createSingleflight<object>();
  const started: Done<object>[] = [];
  const joined = Array.from({ length: 1000 }, () =>
    promised<object>((done) => calls.join('k', (end) => void started.push(end), done)),
  );
  const page = {};
  started[0]?.(undefined, page);
  const results = await Promise.all(joined);
  assert.ok(results.every((result) => result === page));
  assert.equal(started.length, 1);
});

test('each key has its own call', async () => {
  const calls = createSingleflight<string>();
  const own = (key: string) =>
    promised<string>((done) => calls.join(key, (end) => setImmediate(end, undefined, key.toUpperCase()), done));
  assert.deepEqual(await Promise.all([own('a'), own('b')]), ['A', 'B']);
});

test('callers that joined share the error, and the next caller starts a new call', async () => {
  const calls = createSingleflight<string>();
  const ends: Done<string>[] = [];
  const join = () => promised<string>((done) => calls.join('k', (end) => void ends.push(end), done));
  const both = [join(), join()];
  ends[0]?.(new Error('engine'));
  for (const each of both) await assert.rejects(each, /engine/);
  const next = join();
  ends[1]?.(undefined, 'ok');
  assert.equal(await next, 'ok');
});

test('the key is free before the first caller hears of the end', () => {
  const calls = createSingleflight<string>();
  const ends: Done<string>[] = [];
  const heard: string[] = [];
  const join = (name: string): void =>
    calls.join(
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

test('a call that ends before `join` returns leaves the key free', () => {
  const calls = createSingleflight<number>();
  const heard: unknown[] = [];
  for (const value of [1, 2]) {
    calls.join(
      'k',
      (done) => done(undefined, value),
      (_error, got) => heard.push(got),
    );
  }
  assert.deepEqual(heard, [1, 2]);
});
