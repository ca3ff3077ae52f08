import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { limiterStateOf } from '../../../../loadtest/labs/experiments/limiter.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { namespacesProblem, startNamespace } from '../../../../loadtest/labs/kit/namespace.ts';
import { systemPath } from '../../../../loadtest/labs/kit/programs.ts';

const TBF = ['tbf', 'rate', '400mbit', 'burst', '4608', 'latency', '50ms'];
const skip = (await namespacesProblem([TBF])) ?? false;
const labOf = (signal: AbortSignal) => ({ cores: coresOf('0'), say: () => undefined, signal });

async function namespaces(): Promise<string> {
  const { stdout } = await promisify(execFile)('ip', ['netns', 'list'], { env: { ...process.env, ...systemPath() } });
  return stdout;
}

test('a store in the namespace is reachable from outside, also after a restart, and everything is removed at the end', {
  skip,
}, async (t) => {
  const names: string[] = [];
  await inLab(labOf(t.signal), async (lab) => {
    const namespace = await startNamespace(lab);
    names.push(namespace.name);
    const store = await namespace.startStore({ cores: 'any' });
    assert.equal(store.host, namespace.insideAddress);
    await store.restart();
    assert.equal(await store.command('PING'), 'PONG');
    assert.equal((await store.info('persistence'))['aof_enabled'], '0');
    assert.ok((await namespaces()).includes(namespace.name));
  });
  for (const name of names) assert.ok(!(await namespaces()).includes(name));
});

test('each shaping of the link replaces the one before, and undefined removes it', { skip }, async (t) => {
  await inLab(labOf(t.signal), async (lab) => {
    const { shape, tcStatistics } = await startNamespace(lab);
    for (const way of ['replies', 'requests'] as const) {
      await shape(way, TBF);
      assert.equal(limiterStateOf(await tcStatistics(way))?.rateBytesPerSecond, 50e6);
      const bursts = ['burst', '800000', 'cburst', '1600', 'quantum', '60000'];
      await shape(
        way,
        ['htb', 'default', '10'],
        [['parent', '1:', 'classid', '1:10', 'htb', 'rate', '100mbit', ...bursts]],
      );
      const { rateBytesPerSecond, burstBytes } = limiterStateOf(await tcStatistics(way)) ?? {};
      assert.deepEqual([rateBytesPerSecond, burstBytes], [12.5e6, 1600]);
      await shape(way, undefined);
      assert.equal(limiterStateOf(await tcStatistics(way)), undefined);
    }
  });
});
