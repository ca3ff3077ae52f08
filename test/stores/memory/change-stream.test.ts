import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryChangeStream } from '../../../src/stores/memory/change-stream.ts';
import { batchOf, changeStreamContract, readBatches } from '../../contract/change-stream.ts';
import { createFakeClock } from '../../fakes/clock.ts';

changeStreamContract('the memory of a process', async () => ({
  stream: createMemoryChangeStream({ clock: createFakeClock() }),
  stop: async () => {},
}));

test('only the newest batch is kept after its reader has taken all', async () => {
  const stream = createMemoryChangeStream({ clock: createFakeClock() });
  for (const bytes of ['a', 'b', 'c']) await stream.append('goods', batchOf(bytes), 100);
  const { last } = await readBatches(stream, 'goods');
  await readBatches(stream, 'goods', last?.id);
  const { batches } = await readBatches(stream, 'goods');
  assert.deepEqual(
    batches.map(({ number, bytes }) => [number, `${bytes}`]),
    [[3, 'c']],
  );
});
