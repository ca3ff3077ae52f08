import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { after, before, test } from 'node:test';
import { type NameServer, replyTo, startNameServer } from '../../../../loadtest/labs/experiments/dns/name-server.ts';
import { cannotResolve, NAME_SERVER } from '../../../../loadtest/labs/experiments/dns/namespace.ts';
import { countReads } from '../../../../loadtest/labs/experiments/dns/reads.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';

let server: NameServer;
const resolver = new Resolver({ timeout: 300, tries: 1 });

before(async () => {
  const [port = 0] = await freePorts(1);
  server = await startNameServer('127.0.0.1', port);
  resolver.setServers([`127.0.0.1:${port}`]);
});
after(() => server.stop());

const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.catch((error: { readonly code: string }) => error.code);

test('every name resolves to loopback, has no IPv6 address, and each query is counted', async () => {
  server.be({ kind: 'healthy' });
  const before = server.asked();
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.equal(await codeOf(resolver.resolve6('goods.serpcache.test')), 'ENODATA');
  assert.equal(server.asked() - before, 2);
});

test('a failing resolver fails at once, and a silent one times out', async () => {
  server.be({ kind: 'servfail' });
  assert.equal(await codeOf(resolver.resolve4('goods.serpcache.test')), 'ESERVFAIL');
  server.be({ kind: 'silent' });
  assert.equal(await codeOf(resolver.resolve4('goods.serpcache.test')), 'ETIMEOUT');
});

test('a slow resolver answers after its configured delay, not earlier', async () => {
  server.be({ kind: 'slow', ms: 60 });
  const startedMs = performance.now();
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.ok(performance.now() - startedMs >= 55);
});

const HEADER = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];

test('the address is returned for IPv4 queries only', () => {
  const answersTo = (type: number): number | undefined =>
    replyTo(Buffer.from([...HEADER, 1, 97, 0, 0, type, 0, 1]), false)?.readUInt16BE(6);
  assert.equal(answersTo(1), 1);
  assert.equal(answersTo(28), 0);
});

test('a packet that is not a query gets no answer', () => {
  assert.equal(replyTo(Buffer.alloc(3), false), undefined);
  assert.equal(replyTo(Buffer.from([...HEADER, 5, 97, 98]), false), undefined);
  assert.equal(replyTo(Buffer.from([...HEADER, 1, 97, 0, 0]), false), undefined);
});

test('the gap is the longest time of any connection without answers, including a gap that has not ended', () => {
  let nowMs = 0;
  const counter = countReads(2, () => nowMs);
  for (const [at, connection] of [
    [10, 0],
    [20, 1],
    [85, 0],
  ] as const) {
    nowMs = at;
    counter.answered(connection, 1);
  }
  nowMs = 100;
  counter.failed();
  const reads = counter.end();
  assert.equal(reads.longestGapMs, 80);
  assert.deepEqual([reads.answered, reads.failed, reads.seconds], [3, 1, 0.1]);
});

test('a second concurrent run reports that the port is in use, not that root is required', async () => {
  // If a real run already uses the port, nothing is started here, and the message is the same.
  const other = await startNameServer(NAME_SERVER).catch(() => undefined);
  try {
    assert.match((await cannotResolve()) ?? '', /^another run of it has UDP port 53/);
  } finally {
    await other?.stop();
  }
});
