import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { after, before, test } from 'node:test';
import { type NameServer, replyTo, startNameServer } from '../../../../loadtest/labs/experiments/dns/name-server.ts';
import { countReads } from '../../../../loadtest/labs/experiments/dns/reads.ts';
import { type DnsRow, dns, isDisturbed, type Phase } from '../../../../loadtest/labs/experiments/dns.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';
import { LIMIT_MS, until } from '../../../until.ts';
import { cellOf, type Found, figureOf } from './harness.ts';

const ADDRESSES = dnsRow('addresses', 'address', 0.08);
const HEALTHY = dnsRow('names', { kind: 'healthy' }, 0.09);
const SLOW = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.4);
const FAILING = dnsRow('SERVFAIL', { kind: 'servfail' }, 0.99);

const keptCell = (found: Found, row: RegExp, column: RegExp) => cellOf(found, /^Connections kept/, row, column);

test('it holds when names lose more than addresses with every faulty resolver', () => {
  const found = dns.findingOf([ADDRESSES, HEALTHY, SLOW, FAILING]);
  assert.equal(found.verdict, 'yes');
  const lost = found.tables[0]?.rows.map(({ name, values }) => [name, values[1]]);
  assert.deepEqual(lost, [
    ['addresses', 0.08],
    ['names', 0.09],
    ['answers after 200 ms', 0.4],
    ['SERVFAIL', 0.99],
  ]);
  assert.equal(figureOf(found, /the healthy resolver/)?.toFixed(6), '0.010000');
  assert.equal(keptCell(found, /^names/, /^lookups/), 0);
});

test('reads lost with addresses while nothing was cut mean a disturbed baseline, so there is no answer', () => {
  const disturbed = dnsRow('addresses', 'address', 0.08, { kept: { ...ADDRESSES.kept, answered: 400, failed: 600 } });
  const found = dns.findingOf([disturbed, HEALTHY, SLOW, FAILING]);
  assert.equal(found.verdict, 'unseen');
  assert.equal(keptCell(found, /^addresses/, /^lost/), 0.6);
});

test('a row that lost reads is disturbed only if no name was resolved', () => {
  const lost = { ...ADDRESSES.kept, answered: 900, failed: 100 };
  assert.equal(isDisturbed({ kept: lost }), true);
  assert.equal(isDisturbed({ kept: { ...lost, asked: 3 } }), false);
  assert.equal(isDisturbed(ADDRESSES), false);
});

let server: NameServer;
/** Patient, for a slow machine. */
const resolver = new Resolver({ timeout: LIMIT_MS, tries: 1 });
const impatient = new Resolver({ timeout: 300, tries: 1 });

before(async () => {
  const [port = 0] = await freePorts(1);
  server = await startNameServer('127.0.0.1', port);
  for (const one of [resolver, impatient]) one.setServers([`127.0.0.1:${port}`]);
});
after(() => server.stop());

const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.catch((error: { readonly code: string }) => error.code);

test('every name resolves to loopback, has no IPv6 address, and each query is counted', async () => {
  server.set({ kind: 'healthy' });
  const before = server.asked();
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.equal(await codeOf(resolver.resolve6('goods.serpcache.test')), 'ENODATA');
  assert.equal(server.asked() - before, 2);
});

test('a failing resolver fails at once, and a silent one times out', async () => {
  server.set({ kind: 'servfail' });
  assert.equal(await codeOf(resolver.resolve4('goods.serpcache.test')), 'ESERVFAIL');
  server.set({ kind: 'silent' });
  assert.equal(await codeOf(impatient.resolve4('goods.serpcache.test')), 'ETIMEOUT');
});

test('a slow resolver answers after its configured delay, not earlier', async () => {
  const later = new Resolver({ timeout: LIMIT_MS, tries: 1 });
  later.setServers(resolver.getServers());
  const before = server.asked();
  server.set({ kind: 'slow', ms: LIMIT_MS });
  let ended = false;
  const asked = codeOf(later.resolve4('goods.serpcache.test')).finally(() => {
    ended = true;
  });
  await until('the question', () => server.asked() > before);
  server.set({ kind: 'slow', ms: 60 });
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.equal(ended, false);
  later.cancel();
  assert.equal(await asked, 'ECANCELLED');
});

const HEADER = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];

test('the address is returned for IPv4 queries only', () => {
  const answersTo = (type: number): number | undefined =>
    replyTo(Buffer.from([...HEADER, 1, 97, 0, 0, type, 0, 1]), false)?.readUInt16BE(6);
  assert.equal(answersTo(1), 1);
  assert.equal(answersTo(28), 0);
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

/** A row with the given loss while connections were cut, and no loss while they were kept. */
function dnsRow(
  name: string,
  resolver: DnsRow['variant']['resolver'] | 'address',
  lost: number,
  over: Partial<DnsRow> = {},
): DnsRow {
  const phase = (failed: number): Phase => ({
    seconds: 5,
    answered: 1000 - failed,
    failed,
    p50Ms: 0.3,
    p99Ms: 2,
    longestGapMs: 100,
    asked: 0,
  });
  const isNamed = resolver !== 'address';
  return {
    variant: { name, isNamed, resolver: isNamed ? resolver : { kind: 'silent' } },
    startedMs: 100,
    startAsked: 12,
    kept: phase(0),
    cut: phase(lost * 1000),
    backMs: 10,
    storeCores: 0.01,
    generatorCores: 0.1,
    ...over,
  };
}
