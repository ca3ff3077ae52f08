import type { MissReason } from '../cache/reason.ts';

/** `/admin/explain`: why two searches do or do not share an answer, and where this one's answer is. */
export interface Explanation {
  readonly domain: string;
  /** Each canonicalisation rule that changed something, in the order applied, with the text before and after. */
  readonly rules: readonly { readonly rule: string; readonly before: string; readonly after: string }[];
  /** Parameters given that are not declared and therefore ignored. */
  readonly ignored: readonly string[];
  readonly canonical: string;
  readonly answerProfile: string;
  readonly key: string;
  readonly storeName: string;
  readonly bucket: number;
  readonly slot?: number;
  readonly node?: string;
  readonly tiers: readonly TierExplanation[];
  /** Why the last lookup of this key in this process missed, if one did lately (bounded memory). */
  readonly lastMiss?: { readonly reason: MissReason; readonly secondsAgo: number };
}

export interface TierExplanation {
  readonly tier: 'l1' | 'l2';
  readonly state: 'fresh' | 'stale' | 'lapsed' | 'absent' | 'fault' | 'incompatible' | 'corrupt';
  readonly detail?: string;
  /** Of the encoded entry. */
  readonly bytes?: number;
  readonly coding?: string;
  readonly ageSeconds?: number;
  readonly freshForSeconds?: number;
  readonly staleForSeconds?: number;
  readonly generation?: number;
  readonly engineCostMs?: number;
  readonly etag?: string;
}
