import type { Audit, RecordedEntry } from '../../src/operations/audit/audit.ts';

export interface FakeAudit extends Audit {
  /** In the order of recording. */
  readonly entries: RecordedEntry[];
}

/** An audit in memory, with the same paging as the files. */
export function createFakeAudit(clock: { readonly wallMs: () => number }): FakeAudit {
  const entries: RecordedEntry[] = [];
  return {
    entries,
    record: (entry) => void entries.push({ atMs: clock.wallMs(), ...entry }),
    page: async ({ limit, before }) => {
      const end = before === undefined ? entries.length : Number(/^0{12}-(\d+)$/.exec(before)?.[1] ?? Number.NaN);
      if (!(end <= entries.length)) return undefined;
      const from = Math.max(0, end - limit);
      const next = from > 0 ? `${'0'.repeat(12)}-${from}` : undefined;
      return { entries: entries.slice(from, end).toReversed(), next };
    },
    close: async () => {},
  };
}
