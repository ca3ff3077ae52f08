import type { Verdict } from '../k6/kit/summary.ts';
import type { Sample } from '../sample/sample.ts';

/** One look may fall between a process that joined and the others that have not heard of it. */
const LOOKS = 2;

/** A sentence for each domain of each process that held more places at its engine than it may, twice in a row. */
export function overLimit(samples: readonly Sample[]): readonly string[] {
  const found = new Map<string, string>();
  const inRow = new Map<string, number>();
  for (const { replicas } of samples) {
    for (const { name, domains } of replicas) {
      for (const [domain, { engineInFlight: held = 0, engineCeiling: ceiling }] of Object.entries(domains)) {
        const key = `${name} ${domain}`;
        const times = ceiling !== undefined && held > ceiling ? (inRow.get(key) ?? 0) + 1 : 0;
        inRow.set(key, times);
        if (times >= LOOKS)
          found.set(key, `${name} held ${held} places at the engine of ${domain}, ${ceiling} are allowed`);
      }
    }
  }
  return [...found.values()];
}

/** Whoever asks the engine for more than it may has failed, however well everybody was answered. */
export function withinLimit(verdict: Verdict, samples: readonly Sample[]): Verdict {
  const faults = overLimit(samples);
  if (faults.length === 0 || verdict.kind === 'invalid') return verdict;
  const earlier = verdict.kind === 'failed' ? [verdict.detail] : [];
  return { ...verdict, kind: 'failed', detail: [...earlier, `${faults.join('; ')}.`].join(' ') };
}
