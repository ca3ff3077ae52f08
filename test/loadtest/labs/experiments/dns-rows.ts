import type { Resolver } from '../../../../loadtest/labs/experiments/dns/name-server.ts';
import type { DnsRow, Phase } from '../../../../loadtest/labs/experiments/dns/row.ts';

/** A row with the given loss while connections were cut, and no loss while they were kept. */
export function dnsRow(name: string, resolver: Resolver | 'address', lost: number, over: Partial<DnsRow> = {}): DnsRow {
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
