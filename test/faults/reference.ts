import type { Verdict } from './verdict.ts';

/** What the engine says of each search: learned from pages of the process nobody disturbs. */
export interface Reference {
  readonly learn: (text: string, verdict: Verdict) => void;
  readonly knows: (text: string) => boolean;
  /**
   * Whether that page is the engine's, byte for byte. A page that says it is degraded promises its shape only.
   * Undefined while nothing was learned of this search.
   */
  readonly agrees: (text: string, verdict: Verdict) => boolean | undefined;
  /** Searches of which two different whole pages were learned: then nothing can be said of anybody. */
  readonly contradictions: () => readonly string[];
}

export function createReference(): Reference {
  const pages = new Map<string, string>();
  const contradictions = new Set<string>();
  return {
    learn: (text, verdict) => {
      if (verdict.kind !== 'page' || verdict.degraded) return;
      const known = pages.get(text);
      if (known === undefined) pages.set(text, verdict.hash);
      else if (known !== verdict.hash) contradictions.add(text);
    },
    knows: (text) => pages.has(text),
    agrees: (text, verdict) => {
      if (verdict.kind !== 'page' || verdict.degraded) return true;
      const known = pages.get(text);
      return known === undefined ? undefined : known === verdict.hash;
    },
    contradictions: () => [...contradictions],
  };
}
