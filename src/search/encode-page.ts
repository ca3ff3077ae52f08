import { type Coding, compress, encodeEntry, etagOf } from '../cache/codec.ts';
import type { Entry } from '../cache/entry.ts';
import { type LifetimePolicy, lifetimesOf } from '../cache/freshness.ts';
import type { Signing } from '../cache/signing.ts';
import type { Clock } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { ResultPage } from './engine.ts';
import type { PreparedSearch } from './read-path.ts';

export interface EncodePageOptions {
  readonly lifetimes: LifetimePolicy;
  readonly compression: { readonly coding: Coding; readonly minBytes: number };
  readonly clock: Clock;
  readonly random: () => number;
  /** Signs every entry, when given. */
  readonly signing?: Signing | undefined;
}

/** What is known of a page beside its content. */
export interface PageFacts {
  readonly generation: number;
  /** Wall and monotonic time at the start of the engine call. */
  readonly createdAtMs: number;
  readonly bornMs: number;
  readonly costMs: number;
}

/** A page becomes bytes, once: what is stored in both tiers and sent to every client. */
export async function encodePage(
  prepared: PreparedSearch,
  page: ResultPage,
  facts: PageFacts,
  { lifetimes, compression, clock, random, signing }: EncodePageOptions,
): Promise<Entry> {
  const identity = encodeBody(prepared.request, page);
  const coding = identity.length < compression.minBytes ? 'identity' : compression.coding;
  const kind = { empty: page.results.length === 0, degraded: page.partial !== undefined };
  return encodeEntry(
    {
      ...facts,
      ...kind,
      ...lifetimesOf(kind, lifetimes, random),
      coding,
      etag: etagOf(identity),
      canonical: prepared.canonical,
      resultIds: page.results.map((result) => result.id),
      body: await compress(identity, coding),
    },
    clock,
    signing,
  );
}

/** The JSON body of design §4: a fixed member order, so that the same page is the same bytes in every process. */
export function encodeBody(request: SearchRequest, page: ResultPage): Buffer {
  return Buffer.from(
    JSON.stringify({
      query: request.text,
      domain: request.domain,
      page: request.page,
      limit: request.limit,
      total: page.total,
      totalRelation: page.totalRelation,
      ...(page.partial === undefined ? {} : { degraded: true }),
      results: page.results.map(({ id, title, snippet, score, attributes }) => ({
        id,
        title,
        snippet,
        score,
        attributes,
      })),
      facets: Object.fromEntries(request.facets.map((name) => [name, page.facets[name] ?? []])),
    }),
  );
}
