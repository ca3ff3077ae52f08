import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { after, before, test } from 'node:test';
import { type NameServer, replyTo, startNameServer } from '../../../loadtest/experiments/dns/name-server.ts';
import { cannotResolve, NAME_SERVER } from '../../../loadtest/experiments/dns/namespace.ts';
import { countReads } from '../../../loadtest/experiments/dns/reads.ts';
import { freePorts } from '../../../loadtest/stack/process.ts';

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

test('every name is on loopback, has no IPv6 address, and each question is counted', async () => {
  server.be({ kind: 'healthy' });
  const before = server.asked();
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.equal(await codeOf(resolver.resolve6('goods.serpcache.test')), 'ENODATA');
  assert.equal(server.asked() - before, 2);
});

test('a failing resolver says so at once, a silent one is waited for in vain', async () => {
  server.be({ kind: 'servfail' });
  assert.equal(await codeOf(resolver.resolve4('goods.serpcache.test')), 'ESERVFAIL');
  server.be({ kind: 'silent' });
  assert.equal(await codeOf(resolver.resolve4('goods.serpcache.test')), 'ETIMEOUT');
});

test('a slow resolver answers, no sooner than it is told', async () => {
  server.be({ kind: 'slow', ms: 60 });
  const startedMs = performance.now();
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.ok(performance.now() - startedMs >= 55);
});

const HEADER = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];

test('an address is given to whoever asks for an IPv4 address, and to nobody else', () => {
  const answersTo = (type: number): number | undefined =>
    replyTo(Buffer.from([...HEADER, 1, 97, 0, 0, type, 0, 1]), false)?.readUInt16BE(6);
  assert.equal(answersTo(1), 1);
  assert.equal(answersTo(28), 0);
});

test('what is no question has no answer', () => {
  assert.equal(replyTo(Buffer.alloc(3), false), undefined);
  assert.equal(replyTo(Buffer.from([...HEADER, 5, 97, 98]), false), undefined);
  assert.equal(replyTo(Buffer.from([...HEADER, 1, 97, 0, 0]), false), undefined);
});

test('a gap is that of the connection without answers longest, one that has not ended included', () => {
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

test('a second run at once is told that another one has the port, not that root is missing', async () => {
  // Where a real run has it already there is nothing to start, and the same to be told.
  const other = await startNameServer(NAME_SERVER).catch(() => undefined);
  try {
    assert.match((await cannotResolve()) ?? '', /^another run of it has UDP port 53/);
  } finally {
    await other?.stop();
  }
});
