import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowOf } from '../../../loadtest/lab/benchmark.ts';

const HEAD =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"';

test('the row of a benchmark is read by its columns, whatever was printed around it', () => {
  assert.deepEqual(
    rowOf(`WARNING: no config\n${HEAD}\n"GET","825090.25","0.378","0.1","0.319","0.687","0.847","1.287"\n`),
    {
      perSecond: 825090.25,
      latencyMs: { mean: 0.378, p50: 0.319, p95: 0.687, p99: 0.847, max: 1.287 },
    },
  );
});

test('the name of a test may hold commas', () => {
  assert.equal(rowOf(`${HEAD}\n"EVAL a, b","10.00","1","1","1","1","1","1"\n`).perSecond, 10);
});

test('a benchmark without a row says what it printed instead', () => {
  assert.throws(() => rowOf('Could not connect\n'), /printed no rps: Could not connect/);
});
