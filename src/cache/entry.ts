/** A page, encoded once to bytes, with its metadata. L1 and L2 hold it, http sends it. */
export interface Entry {
  /** The coding of `body` as stored; it is sent unchanged when the client accepts it. */
  readonly coding: Coding;
  readonly empty: boolean;
  /** A partial page: short-lived, in L1 only, never in place of a whole page. */
  readonly degraded: boolean;
  /** An entry of a generation below the domain's floor is flushed. */
  readonly generation: number;
  /** Wall time at the **start** of the engine call: the age of the page counts from it. */
  readonly createdAtMs: number;
  /** The same instant on this process's monotonic clock: ages are counted from it, so a stepped clock changes none. */
  readonly bornMs: number;
  /** Fresh until this age. Lifetimes are durations, so that a skewed clock cannot extend them. */
  readonly freshForMs: number;
  /** From the end of the fresh lifetime: the time in which the entry is served while one refresh runs. */
  readonly revalidateForMs: number;
  /** Also from the end of the fresh lifetime: the time in which the entry is served when the engine fails. */
  readonly errorForMs: number;
  /** Duration of the engine call. */
  readonly costMs: number;
  /** Hash of the identity body: 16 base64url characters (96 bits of SHA-256), without quotes and coding suffix. */
  readonly etag: string;
  /** 32-bit fingerprints of the result ids: they find a suppressed document without parsing the body. */
  readonly fingerprints: readonly number[];
  /** Present when the feed of changes was on while the page was computed. */
  readonly feed: FeedMark | undefined;
  readonly body: Buffer;
  /** The whole entry as written to L2, `body` included (the same memory). */
  readonly encoded: Buffer;
}

/** The place of an entry in the feed of changes. The rules keep their judgement here, so that a hot page costs a comparison. */
export interface FeedMark {
  /** The position up to which the feed had been read at the start of the engine call: the same in every process. */
  readonly position: number;
  /** Number of the last change by which this process judged the entry. NaN: not judged yet. */
  judged: number;
  /** The first change that made the page stale, or the deletion of a document on it. */
  change: PageChange | undefined;
  /** The interest of the page's search, once it was compiled. */
  interest: Interest | undefined;
}

/**
 * Why a page no longer is what the engine would answer. `deleted`, `changed`: a document on it. `entered`: a document may have entered
 * or left the answer. `unknown`: it is not known what has changed since.
 */
export interface PageChange {
  readonly kind: 'deleted' | 'changed' | 'entered' | 'unknown';
  /** Fingerprint of the document's id. */
  readonly fingerprint?: number;
  /** Position of the change in the feed. */
  readonly position?: number;
}

/**
 * A search as changes of documents are compared with it. Words, names and texts are hashes; a document enters the page only if it
 * has one of the alternatives of each word and passes each filter.
 */
export interface Interest {
  readonly words: readonly (readonly number[])[];
  /** The text as the id of a document. */
  readonly id: number;
  readonly filters: readonly {
    readonly attribute: number;
    /** One value of the document is one of these, or lies from `from` to `to`. */
    readonly values?: readonly number[];
    readonly from?: number;
    readonly to?: number;
  }[];
  /** The attributes that the page filters, sorts or counts by. */
  readonly attributes: readonly number[];
}

/** The content codings in which an entry may be stored and served. */
export type Coding = 'identity' | 'gzip' | 'zstd';

/** The maximum difference of two wall clocks that is tolerated: one an hour ahead, the other an hour behind. */
export const MAX_SKEW_MS = 2 * 3_600_000;

/** `stale`: served while one refresh runs. `stale-if-error`: served only when the engine fails. `expired`: never served. */
export type Freshness = 'fresh' | 'stale' | 'stale-if-error' | 'expired';

export function freshnessOf(entry: Entry, monotonicMs: number): Freshness {
  const pastFreshMs = monotonicMs - entry.bornMs - entry.freshForMs;
  if (pastFreshMs < 0) return 'fresh';
  if (pastFreshMs < entry.revalidateForMs) return 'stale';
  return pastFreshMs < entry.errorForMs ? 'stale-if-error' : 'expired';
}

/** Time until the entry stops being fresh; negative after it. */
export function remainingMs(entry: Entry, monotonicMs: number): number {
  return entry.bornMs + entry.freshForMs - monotonicMs;
}

/** The time to live in a store: to the end of the longest window. At least 1 ms, as `SET … PX` requires. */
export function storedForMs(entry: Entry, monotonicMs: number): number {
  return Math.max(1, Math.ceil(remainingMs(entry, monotonicMs) + Math.max(entry.revalidateForMs, entry.errorForMs)));
}

export interface LifetimePolicy {
  readonly ttlMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  readonly emptyTtlMs: number;
  readonly degradedTtlMs: number;
  /** Maximum deviation of the fresh lifetime, as a part of it: 0–0.5. */
  readonly jitter: number;
}

type Lifetimes = Pick<Entry, 'freshForMs' | 'revalidateForMs' | 'errorForMs'>;

/**
 * Lifetimes of a new entry. The fresh lifetime is spread by ± jitter, so that entries filled together do not expire
 * together. A degraded page has a short, exact lifetime and no stale windows.
 */
export function lifetimesOf(
  page: { readonly empty: boolean; readonly degraded: boolean },
  policy: LifetimePolicy,
  random: () => number,
): Lifetimes {
  if (page.degraded) return { freshForMs: policy.degradedTtlMs, revalidateForMs: 0, errorForMs: 0 };
  const ttlMs = page.empty ? policy.emptyTtlMs : policy.ttlMs;
  return {
    freshForMs: ttlMs * (1 + policy.jitter * (2 * random() - 1)),
    revalidateForMs: page.empty ? Math.min(policy.staleWhileRevalidateMs, ttlMs) : policy.staleWhileRevalidateMs,
    errorForMs: policy.staleIfErrorMs,
  };
}

/**
 * The entry, with no lifetime longer than the policy gives a page of its kind. The lifetimes of a stored value are only
 * a claim: every writer of the store can set them to any value. So a shortened policy holds at once for stored pages
 * too, and a lengthened policy holds for new pages only.
 */
export function heldToPolicy(entry: Entry, policy: LifetimePolicy): Entry {
  const longest = lifetimesOf(entry, policy, () => 1);
  const { freshForMs, revalidateForMs, errorForMs } = entry;
  const isWithin =
    freshForMs <= longest.freshForMs && revalidateForMs <= longest.revalidateForMs && errorForMs <= longest.errorForMs;
  if (isWithin) return entry;
  return {
    ...entry,
    freshForMs: Math.min(freshForMs, longest.freshForMs),
    revalidateForMs: Math.min(revalidateForMs, longest.revalidateForMs),
    errorForMs: Math.min(errorForMs, longest.errorForMs),
  };
}

/** Time from the start of an engine call to the end of the last window of its page, in whole milliseconds. */
export function longestLifeMs(policy: Omit<LifetimePolicy, 'degradedTtlMs'>): number {
  const staleMs = Math.max(policy.staleWhileRevalidateMs, policy.staleIfErrorMs);
  return Math.ceil(Math.max(policy.ttlMs, policy.emptyTtlMs) * (1 + policy.jitter) + staleMs);
}
