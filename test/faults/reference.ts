import type { Verdict } from './verdict.ts';

/** What the engine says of each search: learned from pages of the process nobody disturbs. */
export interface Reference {
  readonly learn: (text: string, verdict: Verdict) => void;
  readonly knows: (text: string) => boolean;
  /**
   * Whether that page is the engine's, byte for byte. A page that says it is degraded promises its shape only.
   * Undefined when nothing was learned of this search, or two different pages and this is one of them.
   */
  readonly agrees: (text: string, verdict: Verdict) => boolean | undefined;
  /** Searches of which two different whole pages were learned. */
  readonly contradictions: () => readonly string[];
}

export function createReference(): Reference {
  const pages = new Map<string, Set<string>>();
  return {
    learn: (text, verdict) => {
      if (verdict.kind !== 'page' || verdict.degraded) return;
      const known = pages.get(text);
      if (known === undefined) pages.set(text, new Set([verdict.hash]));
      else known.add(verdict.hash);
    },
    knows: (text) => pages.has(text),
    agrees: (text, verdict) => {
      if (verdict.kind !== 'page' || verdict.degraded) return true;
      const known = pages.get(text);
      if (known === undefined) return undefined;
      if (!known.has(verdict.hash)) return false;
      return known.size === 1 ? true : undefined;
    },
    contradictions: () => [...pages].flatMap(([text, hashes]) => (hashes.size > 1 ? [text] : [])),
  };
}
