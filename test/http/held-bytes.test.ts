import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createBufferBudget } from '../../src/http/transport/buffer-budget.ts';

test('past the bound the connection that has held longest is cut, and only as many as needed', () => {
  const { held, cuts } = start(100);
  const [first, second, third] = connections();
  held.hold(first, 40);
  held.hold(second, 40);
  held.hold(first, 10);
  assert.deepEqual([held.total(), cuts()], [90, 0]);
  held.hold(third, 30);
  assert.deepEqual(
    [first, second, third].map(({ destroyed }) => destroyed),
    [true, false, false],
  );
  assert.deepEqual([held.total(), cuts()], [70, 1]);
});

test('one that has given everything back counts as new', () => {
  const { held } = start(100);
  const [first, second, third] = connections();
  held.hold(first, 50);
  held.hold(second, 40);
  held.release(first, 50);
  held.hold(first, 50);
  held.hold(third, 50);
  assert.deepEqual(
    [first, second, third].map(({ destroyed }) => destroyed),
    [false, true, false],
  );
});

test('what alone is past the bound is cut itself', () => {
  const { held } = start(100);
  const [first] = connections();
  held.hold(first, 101);
  assert.deepEqual([first.destroyed, held.total()], [true, 0]);
});

test('a connection that closes holds nothing any more, whatever is released later', async () => {
  const { held } = start(100);
  const [first, second] = connections();
  held.hold(first, 60);
  held.hold(second, 30);
  first.destroy();
  await once(first, 'close');
  assert.equal(held.total(), 30);
  held.release(first, 60);
  held.hold(first, 60);
  assert.equal(held.total(), 30);
});

test('ten thousand answers over one connection leave no listener behind', () => {
  const { held } = start(100);
  const [connection] = connections();
  for (let i = 0; i < 10_000; i += 1) {
    held.hold(connection, 50);
    held.release(connection, 50);
  }
  assert.ok(connection.listenerCount('close') <= 2);
  assert.equal(held.total(), 0);
});

function start(maxBytes: number) {
  let count = 0;
  const onCut = (): void => {
    count += 1;
  };
  return { held: createBufferBudget({ maxBytes, onCut }), cuts: () => count };
}

function connections(): [PassThrough, PassThrough, PassThrough] {
  return [new PassThrough(), new PassThrough(), new PassThrough()];
}
