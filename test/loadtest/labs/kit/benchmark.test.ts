import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, requestsFor, roomFor, rowOf } from '../../../../loadtest/labs/kit/benchmark.ts';
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

test('the name of a test may contain commas', () => {
  assert.equal(rowOf(`${HEAD}\n"EVAL a, b","10.00","1","1","1","1","1","1"\n`).perSecond, 10);
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

test('a command contains every setting, with TLS if the store uses it, and names the tool that was used', () => {
  const load = { clients: 5, pipeline: 10, keySpace: 100, seconds: 1, command: ['GET', 'page:__rand_int__'] };
  assert.equal(
    commandOf({ ...load, store: { flavour: 'redis' } }, 700),
    'redis-benchmark -p 6379 -c 5 -n 700 -P 10 -r 100 GET page:__rand_int__',
  );
  const secure = { flavour: 'valkey', caFile: '/some/folder/ca.pem' } as const;
  assert.equal(
    commandOf({ clients: 5, seconds: 1, dataBytes: 9, threads: 2, reconnects: true, test: 'SET', store: secure }, 700),
    'valkey-benchmark -p 6379 --tls --cacert ca.crt -c 5 -n 700 --threads 2 -d 9 -k 0 -t set',
  );
});
