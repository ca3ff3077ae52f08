import type { Journal, Mark } from './journal.ts';

/** A journal whose process ended before its drill did: what can still be said of it. */
export function asLost(journal: Journal): Journal {
  if (journal.state.kind === 'over') return journal;
  const { marks, samples, domains, startedAtMs } = journal;
  const last = marks.findLast((mark): mark is Extract<Mark, { kind: 'stage' }> => mark.kind === 'stage');
  const domain = marks.at(-1)?.domain ?? domains[0] ?? '';
  const stage = last?.domain === domain ? last.stage : 0;
  return {
    ...journal,
    endedAtMs: startedAtMs + Math.max(0, marks.at(-1)?.atMs ?? 0, samples.at(-1)?.atMs ?? 0),
    state: { kind: 'over' },
    verdict: {
      kind: 'lost',
      detail: 'The process that ran it ended; every other one restored the cache by itself.',
      resumable: { domain, stage },
    },
  };
}
