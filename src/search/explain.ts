import { fingerprint } from '../cache/codec.ts';
import { type Entry, freshnessOf, type PageChange } from '../cache/entry.ts';
import type { MissReason } from '../cache/events.ts';
import type { DeniedReason, EntryRules } from '../cache/invalidation.ts';
import type { MemoryTier } from '../cache/memory.ts';
import { readOnce, type Store } from '../cache/store.ts';
import { decodeStored, isDenied, type StoredEntryLimits } from '../cache/tiers.ts';
import { explainCanonicalQuery } from './canonical.ts';
import type { SearchDomain, SearchRequest } from './domain.ts';
import { pageIn } from './freshness-audit.ts';
import { type PreparedSearch, prepareSearch } from './key.ts';
import type { MissPath } from './miss-path.ts';
import { ignoredParameters, type SearchParameters } from './query.ts';

/** `/admin/explain`: why two searches share an answer or not, and which tiers hold the answer of this search. */
export type Explanation = Awaited<ReturnType<typeof explain>>;

export interface TierExplanation {
  readonly tier: 'l1' | 'l2';
  /** `failing`: served only when the engine fails. `expired`: never served. A reason to deny it: refused whatever its age. */
  readonly state:
    | 'fresh'
    | 'stale'
    | 'failing'
    | 'expired'
    | 'absent'
    | 'fault'
    | DeniedReason
    | Extract<MissReason, 'incompatible' | 'corrupt' | 'oversized' | 'unsigned'>;
  /** With `fault`: the fault of the store. */
  readonly detail?: MissReason;
  /** Size of the encoded entry. */
  readonly bytes?: number;
  readonly coding?: string;
  readonly ageSeconds?: number;
  /** Negative once stale. */
  readonly freshForSeconds?: number;
  readonly generation?: number;
  readonly engineCostMs?: number;
  readonly etag?: string;
  readonly results?: number;
  /** The change of a document that made the page stale. */
  readonly change?: {
    readonly kind: PageChange['kind'];
    readonly secondsAgo?: number | undefined;
    /** Its id; absent: it is not on the page, or not known. */
    readonly document?: string | undefined;
  };
}

interface ExplainOptions extends StoredEntryLimits {
  readonly domain: SearchDomain;
  readonly memory: MemoryTier;
  readonly store?: Store;
  readonly storeDeadlineMs: number;
  readonly rules: EntryRules<SearchRequest>;
  readonly lastMiss: MissPath['lastMiss'];
}

/** Reads both tiers without counting as a use and without asking the engine. @throws InvalidSearch */
export async function explain(parameters: SearchParameters, options: ExplainOptions) {
  const { domain, memory, store, clock } = options;
  const prepared = prepareSearch(parameters, [domain]);
  const rawText = parameters.pairs.find(([name]) => name === 'q')?.[1] ?? '';
  const held = memory.peek(prepared.key);
  const tiers: TierExplanation[] = [
    held === undefined ? { tier: 'l1', state: 'absent' } : { tier: 'l1', ...(await describe(held, prepared, options)) },
  ];
  if (store !== undefined) {
    const read = await readOnce(store, prepared.storeName, options.storeDeadlineMs);
    if (read.kind === 'absent') tiers.push({ tier: 'l2', state: 'absent' });
    else if (read.kind === 'fault') tiers.push({ tier: 'l2', state: 'fault', detail: read.fault });
    else {
      const decoded = decodeStored(read.value, prepared.canonical, options);
      if (decoded.kind === 'entry') tiers.push({ tier: 'l2', ...(await describe(decoded.entry, prepared, options)) });
      else tiers.push({ tier: 'l2', state: decoded.kind, bytes: read.value.length });
    }
  }
  const lastMiss = options.lastMiss(prepared.key);
  const secondsAgo = (atMs: number): number => Math.round((clock.monotonicMs() - atMs) / 1000);
  return {
    domain: domain.name,
    /** Each canonicalisation rule that changed the text, in the order applied. */
    rules: explainCanonicalQuery(rawText),
    /** Parameters of the request that the domain does not declare; they are not in the key. */
    ignored: ignoredParameters(parameters, domain),
    canonical: prepared.canonical,
    answerProfile: domain.answerProfile,
    key: prepared.key,
    storeName: prepared.storeName,
    bucket: prepared.bucket,
    ...store?.locate(prepared.storeName),
    tiers,
    /** The last miss of this key in this process, while it is remembered (the number of keys is bounded). */
    lastMiss: lastMiss && { reason: lastMiss.reason, secondsAgo: secondsAgo(lastMiss.atMs) },
  };
}

async function describe(
  entry: Entry,
  name: PreparedSearch,
  { rules, clock }: ExplainOptions,
): Promise<Omit<TierExplanation, 'tier'>> {
  const nowMs = clock.monotonicMs();
  const verdict = rules.judge(entry, name);
  const freshness = freshnessOf(entry, nowMs);
  const isFailing = freshness === 'stale-if-error' || (verdict === 'changed' && freshness !== 'expired');
  const age = isFailing ? 'failing' : freshness;
  const change = entry.feed?.change;
  return {
    state: isDenied(verdict) ? verdict : verdict === 'outdated' && age === 'fresh' ? 'stale' : age,
    bytes: entry.encoded.length,
    coding: entry.coding,
    ageSeconds: Math.round((nowMs - entry.bornMs) / 1000),
    freshForSeconds: Math.round((entry.bornMs + entry.freshForMs - nowMs) / 1000),
    generation: entry.generation,
    engineCostMs: entry.costMs,
    etag: entry.etag,
    results: entry.fingerprints.length,
    change: change && (await describeChange(entry, change, rules)),
  };
}

async function describeChange(
  entry: Entry,
  { kind, fingerprint: changed, position }: PageChange,
  { secondsSince }: Pick<EntryRules, 'secondsSince'>,
): Promise<NonNullable<TierExplanation['change']>> {
  // The body of an entry that others wrote may be anything.
  const page = await pageIn(entry).catch(() => undefined);
  return {
    kind,
    secondsAgo: position === undefined ? undefined : secondsSince?.(position),
    document: page?.results.find(({ id }) => fingerprint(id) === changed)?.id,
  };
}
