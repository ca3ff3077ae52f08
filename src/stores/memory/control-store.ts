import type { ControlRead, ControlStore, ControlSwap } from '../../control/control-store.ts';
import type { Clock } from '../../runtime.ts';

interface Kept {
  tag: string | undefined;
  value: Buffer;
  renewals: number;
}

interface Reports {
  readonly byId: Map<string, Buffer>;
  readonly untilMs: number;
}

/**
 * A control store in this process, for domains that have no other: everything works as it does in a fleet, of one. Holds
 * as much as there are domains; one report per id that anybody used, until all lapse together.
 */
export function createMemoryControlStore(options: { readonly clock: Pick<Clock, 'monotonicMs'> }): ControlStore {
  const { clock } = options;
  const documents = new Map<string, Kept>();
  const reports = new Map<string, Reports>();

  const keptOf = (domain: string): Kept => {
    const known = documents.get(domain);
    if (known !== undefined) return known;
    const fresh: Kept = { tag: undefined, value: Buffer.alloc(0), renewals: 0 };
    documents.set(domain, fresh);
    return fresh;
  };
  const reportsOf = (domain: string): Map<string, Buffer> => {
    const known = reports.get(domain);
    return known !== undefined && clock.monotonicMs() < known.untilMs ? known.byId : new Map();
  };

  const read = (domain: string, known: string | undefined): ControlRead => {
    const kept = documents.get(domain);
    if (kept?.tag === undefined) return { kind: 'absent' };
    const { tag, value, renewals } = kept;
    return tag === known
      ? { kind: 'unchanged', renewals }
      : { kind: 'value', tag, value: Buffer.from(value), renewals };
  };

  return {
    read: async (domain, known) => read(domain, known),
    swap: async (domain, expected, next): Promise<ControlSwap> => {
      const kept = keptOf(domain);
      if (kept.tag !== expected) return { kind: 'conflict' };
      kept.tag = next.tag;
      kept.value = Buffer.from(next.value);
      return { kind: 'swapped' };
    },
    renew: async (domain) => {
      const kept = keptOf(domain);
      kept.renewals += 1;
      return { kind: 'renewed', renewals: kept.renewals };
    },
    report: async (domain, id, value, ttlMs) => {
      const byId = reportsOf(domain).set(id, Buffer.from(value));
      reports.set(domain, { byId, untilMs: clock.monotonicMs() + ttlMs });
      return true;
    },
    reports: async (domain) => ({
      kind: 'reports',
      reports: [...reportsOf(domain)].map(([id, value]) => ({ id, value })),
    }),
  };
}
