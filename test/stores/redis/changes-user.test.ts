import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import { connectedFor, LONG_MS, standaloneOf } from './harness.ts';
import { ADVISED_USER, secure } from './users.ts';

test('the advised user reads and writes the feed, and a source under the name that it is given', async (t) => {
  const acl = { ...ADVISED_USER, rules: `${ADVISED_USER.rules} ~goods-changes` };
  const stack = await startStandalone({ flavour: 'redis', tls: true, acl });
  t.after(stack.stop);
  const { store } = await connectedFor(t, standaloneOf(stack, secure(stack)));
  const added = await store.changes.append('goods', { bytes: Buffer.from('a'), afterMs: 0 }, LONG_MS);
  assert.deepEqual(added, { kind: 'appended' });
  assert.partialDeepStrictEqual(await store.changes.read('goods', undefined, LONG_MS), {
    kind: 'batches',
    last: { number: 1 },
  });
  await stack.nodes[0]?.command('XADD', 'goods-changes', '1-1', 'id', '7');
  const found = await store.sourceOf('goods-changes').read('0-0', LONG_MS);
  assert.ok(found.kind === 'entries');
  assert.deepEqual(
    found.entries.map(({ fields }) => Object.fromEntries(fields)),
    [{ id: '7' }],
  );
  const foreign = await store.sourceOf('auto-changes').read('0-0', LONG_MS);
  assert.equal(foreign.kind, 'fault');
});
