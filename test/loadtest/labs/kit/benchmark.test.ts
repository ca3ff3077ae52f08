import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestsFor, roomFor, rowOf } from '../../../../loadtest/labs/kit/benchmark.ts';
import { coresOf } from '../../../../loadtest/labs/kit/lab.ts';

const HEAD =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"';

test('the row of a benchmark is read by its columns, whatever is printed around it', () => {
  assert.deepEqual(
    rowOf(`WARNING: no config\n${HEAD}\n"GET","825090.25","0.378","0.1","0.319","0.687","0.847","1.287"\n`),
    {
      perSecond: 825090.25,
      latencyMs: { mean: 0.378, p50: 0.319, p95: 0.687, p99: 0.847, max: 1.287 },
    },
  );
});

test('a benchmark without a row reports its output instead', () => {
  assert.throws(() => rowOf('Could not connect\n'), /printed no rps: Could not connect/);
});

test('there are enough requests to fill the time, and at least one for each client', () => {
  assert.equal(requestsFor(10_000, { clients: 50, seconds: 1.5 }), 15_000);
  assert.equal(requestsFor(100, { clients: 200, seconds: 0.5 }), 200);
  assert.equal(requestsFor(3, { clients: 1, seconds: 1 }), 50);
});

test('a generator has a core for each of its threads, up to the number of cores', () => {
  assert.deepEqual(roomFor({}, coresOf('0-7')), { storeCores: 1, generatorCores: 1 });
  assert.equal(roomFor({ threads: 3 }, coresOf('0-7')).generatorCores, 3);
  assert.equal(roomFor({ threads: 50 }, coresOf('0-7')).generatorCores, 4);
});
