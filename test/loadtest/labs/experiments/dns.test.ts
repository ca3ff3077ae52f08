import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { after, before, test } from 'node:test';
import { type NameServer, startNameServer } from '../../../../loadtest/labs/experiments/dns/name-server.ts';
import { countReads } from '../../../../loadtest/labs/experiments/dns/reads.ts';
import { type DnsRow, dns, isDisturbed } from '../../../../loadtest/labs/experiments/dns.ts';
import { freePorts } from '../../../../loadtest/stack/process.ts';
import { LIMIT_MS } from '../../../until.ts';
import { figureOf } from './harness.ts';

/** A row with the given loss while connections were cut, and `keptLost` while they were kept. */
function dnsRow(resolver: DnsRow['variant']['resolver'] | 'address', lost: number, keptLost = 0): DnsRow {
  const phase = (share: number) => {
    const reads = { answered: 1000 * (1 - share), failed: 1000 * share, asked: 0 };
    return { ...reads, seconds: 5, p50Ms: 0.3, p99Ms: 2, longestGapMs: 100 };
  };
  const isNamed = resolver !== 'address';
  return {
    variant: { name: '', isNamed, resolver: isNamed ? resolver : { kind: 'silent' } },
    startedMs: 100,
    startAsked: 12,
    kept: phase(keptLost),
    cut: phase(lost),
    backMs: 10,
    storeCores: 0.01,
    generatorCores: 0.1,
  };
}

const NAMED = [dnsRow({ kind: 'healthy' }, 0.09), dnsRow({ kind: 'slow', ms: 200 }, 0.4)];

test('it holds when names lose more than addresses with every faulty resolver', () => {
  const found = dns.findingOf([dnsRow('address', 0.08), ...NAMED]);
  assert.equal(found.verdict, 'yes');
  assert.equal(figureOf(found, /the healthy resolver/)?.toFixed(6), '0.010000');
});

test('reads lost with addresses while nothing was cut mean a disturbed baseline, so there is no answer', () => {
  assert.equal(dns.findingOf([dnsRow('address', 0.08, 0.6), ...NAMED]).verdict, 'unseen');
});

test('a row that lost reads is disturbed only if no name was resolved', () => {
  const { kept } = dnsRow('address', 0, 0.1);
  assert.equal(isDisturbed({ kept }), true);
  assert.equal(isDisturbed({ kept: { ...kept, asked: 3 } }), false);
  assert.equal(isDisturbed(dnsRow('address', 0)), false);
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

test('every name is loopback without IPv6, a failing resolver fails at once, and a silent one times out', async () => {
  const codeOf = (asked: Promise<unknown>) => asked.catch(({ code }: { readonly code: string }) => code);
  const before = server.asked();
  assert.deepEqual(await resolver.resolve4('goods.serpcache.test'), ['127.0.0.1']);
  assert.equal(await codeOf(resolver.resolve6('goods.serpcache.test')), 'ENODATA');
  assert.equal(server.asked() - before, 2);
  server.set({ kind: 'servfail' });
  assert.equal(await codeOf(resolver.resolve4('goods.serpcache.test')), 'ESERVFAIL');
  server.set({ kind: 'silent' });
  assert.equal(await codeOf(impatient.resolve4('goods.serpcache.test')), 'ETIMEOUT');
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
  assert.deepEqual([reads.longestGapMs, reads.answered, reads.failed, reads.seconds], [80, 3, 1, 0.1]);
});
