import type { ControlRead, ControlStore, ControlSwap } from '../../control/control-store.ts';
import type { Clock } from '../../runtime.ts';

interface Document {
  tag: string | undefined;
  value: Buffer;
  renewals: number;
}

interface Reports {
  readonly byId: Map<string, Buffer>;
  readonly untilMs: number;
}

/**
 * A control store in this process, for domains without another control store: everything works as in a fleet of one
 * process. Holds one document per domain, and one report per id until all reports expire together.
 */
export function createMemoryControlStore({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): ControlStore {
  const documents = new Map<string, Document>();
  const reports = new Map<string, Reports>();

  const documentOf = (domain: string): Document => {
    const known = documents.get(domain);
    if (known !== undefined) return known;
    const fresh: Document = { tag: undefined, value: Buffer.alloc(0), renewals: 0 };
    documents.set(domain, fresh);
    return fresh;
  };
  const reportsOf = (domain: string): Map<string, Buffer> => {
    const known = reports.get(domain);
    return known !== undefined && clock.monotonicMs() < known.untilMs ? known.byId : new Map();
  };

  const read = (domain: string, known: string | undefined): ControlRead => {
    const document = documents.get(domain);
    if (document?.tag === undefined) return { kind: 'absent' };
    const { tag, value, renewals } = document;
    return tag === known
      ? { kind: 'unchanged', renewals }
      : { kind: 'value', tag, value: Buffer.from(value), renewals };
  };

  return {
    read: async (domain, known) => read(domain, known),
    swap: async (domain, expected, next): Promise<ControlSwap> => {
      const document = documentOf(domain);
      if (document.tag !== expected) return { kind: 'conflict' };
      document.tag = next.tag;
      document.value = Buffer.from(next.value);
      return { kind: 'swapped' };
    },
    renew: async (domain) => {
      const document = documentOf(domain);
      document.renewals += 1;
      return { kind: 'renewed', renewals: document.renewals };
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
