import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createSampler, createThinned } from '../../../loadtest/sample/sampler.ts';
import { listening } from '../../http-listener.ts';
import { plain } from '../../plain.ts';
import { pluck, rowsOf } from '../../pluck.ts';
import { until } from '../../until.ts';

const NOTHING = { adminUrls: [], stores: [], processes: () => [], host: false };
/** Longer than any test. */
const NEVER_MS = 600_000;

test('a process that hangs does not delay the samples of the others', async (context) => {
  let asked = 0;
  const good = await admin(context, (_, response) => {
    asked += 1;
    response.end(`serpcache_in_flight ${asked}\n`);
  });
  const hung = await admin(context, () => undefined);
  // A busy machine may need hundreds of milliseconds for an answer; a later one is absent from its sample.
  const sampler = createSampler({ ...NOTHING, adminUrls: [hung.url, good.url], everyMs: 1000 });
  sampler.start();
  await until('three samples', async () => asked >= 3);
  const samples = await sampler.stop();

  assert.ok(samples.length >= 3);
  for (const [index, sample] of samples.entries()) {
    assert.deepEqual(rowsOf(sample.replicas, 'name', 'inFlight'), [[good.name, index + 1]]);
  }
});

test('the time of a sample is the time of the answers, without the wait for a process that does not answer', async (context) => {
  let nowMs = 500;
  const good = await admin(context, (_, response) => {
    nowMs = 1000;
    response.end('serpcache_in_flight 0\n');
  });
  const hung = await admin(context, () => {
    setTimeout(() => {
      nowMs = 2000;
    }, 400);
  });
  const sampler = createSampler({
    ...NOTHING,
    adminUrls: [good.url, hung.url],
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs },
  });
  const [sample] = await sampler.stop();
  assert.equal(nowMs, 2000);
  assert.equal(sample?.atMs, 1000);
});

test('a process that comes back is sampled again, and a service that is not serpcache is absent', async (context) => {
  const pages = ['serpcache_in_flight 0\n', 'another_total 5\n', 'serpcache_in_flight 0\n', '503'];
  let asked = 0;
  const { url, name } = await admin(context, (request, response) => {
    assert.equal(request.url, '/metrics');
    const page = pages[asked] ?? 'serpcache_in_flight 0\n';
    asked += 1;
    if (page === '503') response.statusCode = 503;
    response.end(page === '503' ? 'serpcache_in_flight 0\n' : page);
  });
  const sampler = createSampler({ ...NOTHING, adminUrls: [`${url}/`], everyMs: 300 });
  sampler.start();
  await until('five samples', async () => asked >= 5);
  const samples = await sampler.stop();
  assert.deepEqual(
    samples.slice(0, 5).map(({ replicas }) => replicas.map((replica) => replica.name)),
    [[name], [], [name], [], [name]],
  );
});

test('a redirect to a host that was not configured is not followed', async (context) => {
  let asked = 0;
  const other = await admin(context, (_, response) => {
    asked += 1;
    response.end('serpcache_in_flight 0\n');
  });
  const { url } = await admin(context, (_, response) => {
    response.writeHead(302, { location: `${other.url}/metrics` }).end();
  });
  const samples = await createSampler({ ...NOTHING, adminUrls: [url] }).stop();
  assert.deepEqual(samples[0]?.replicas, []);
  assert.equal(asked, 0);
});

test('stop takes a last sample at once, and a second stop returns the same samples', async () => {
  let samplings = 0;
  const processes = () => {
    samplings += 1;
    return [{ name: `look-${samplings}`, pid: process.pid }];
  };
  const sampler = createSampler({ ...NOTHING, processes, everyMs: NEVER_MS });
  sampler.start();
  sampler.start();
  await until('the first sample', async () => samplings === 1);
  const [samples, again] = await Promise.all([sampler.stop(), sampler.stop()]);
  sampler.start();

  assert.deepEqual(
    samples.map((sample) => sample.processes.map(({ name }) => name)),
    [['look-1'], ['look-2']],
  );
  assert.equal(again, samples);
  assert.equal(samplings, 2);
});

test('the host and the named processes are sampled only when they are configured', async () => {
  const processes = () => [
    { name: 'me', pid: process.pid },
    { name: 'gone', pid: 2 ** 30 },
  ];
  const [sample] = await createSampler({ ...NOTHING, processes, host: true }).stop();
  assert.deepEqual(pluck(sample?.processes, 'name'), ['me']);
  assert.ok((sample?.processes[0]?.cpuSeconds ?? 0) > 0);
  assert.ok((sample?.host?.totalBytes ?? 0) > 0);
  const [bare] = await createSampler(NOTHING).stop();
  assert.deepEqual(Object.keys(plain(bare ?? {})).sort(), ['atMs', 'processes', 'replicas', 'stores']);
});

test('a run longer than the maximum is thinned, and its sampling interval grows', async () => {
  const seenMs: number[] = [];
  const processes = () => {
    seenMs.push(performance.now());
    return [{ name: `${seenMs.length}`, pid: process.pid }];
  };
  const sampler = createSampler({ ...NOTHING, processes, everyMs: 5, maxSamples: 2 });
  sampler.start();
  await until('seven samples', async () => seenMs.length >= 7);
  const tookMs = (seenMs[6] ?? 0) - (seenMs[0] ?? 0);
  const samples = await sampler.stop();
  // 5, 5, 10, 20, 40 and 80 ms. On a busy machine a late sample makes the next interval shorter, and the sum no smaller.
  assert.ok(tookMs > 5 * 30, `${tookMs} ms from the first sample to the seventh`);
  assert.deepEqual(
    samples.map((sample) => sample.processes[0]?.name),
    ['1', `${seenMs.length}`],
  );
});

async function admin(context: TestContext, listener: RequestListener) {
  const url = await listening(context, listener);
  return { name: new URL(url).host, url };
}

test('it never holds more than its maximum, and always the first and the newest item', () => {
  const list = createThinned<number>(6);
  for (let n = 0; n < 1000; n += 1) {
    list.add(n);
    assert.ok(list.all().length <= 6);
    assert.equal(list.all()[0], 0);
    assert.equal(list.all().at(-1), n);
  }
});
