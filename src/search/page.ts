import { compress, type EntryParts, encodeEntry, etagOf } from '../cache/codec.ts';
import { type Coding, type Entry, type FeedMark, type LifetimePolicy, lifetimesOf } from '../cache/entry.ts';
import type { EntryRules } from '../cache/invalidation.ts';
import type { Signing } from '../cache/signing.ts';
import type { EnginePermit } from '../resilience/guard.ts';
import { isRefusedBy } from '../resilience/search-error.ts';
import type { Clock } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { Engine, ResultPage } from './engine.ts';
import type { SearchEvent } from './events.ts';
import type { PreparedSearch } from './key.ts';
import { faultOf, formatTraceparent, type Span } from './trace.ts';

export interface EncodePageOptions {
  readonly lifetimes: LifetimePolicy;
  readonly compression: { readonly coding: Coding; readonly minBytes: number };
  readonly clock: Clock;
  readonly random: () => number;
  /** Signs every entry, when given. */
  readonly signing?: Signing | undefined;
}

export interface ComputeEntryOptions extends EncodePageOptions {
  /** `generation`: the generation of a new entry. `hides`: documents that must not be shown. */
  readonly rules: Pick<EntryRules, 'generation' | 'hides' | 'birth'>;
}

/**
 * One engine call under its permit, and its page as an entry. The entry is as old as the start of the call, and carries
 * the generation and the place in the feed of that moment, so that what is flushed or changed during the call counts.
 * @throws SearchError of the guard, or what `ask` throws
 */
export async function computeEntry(
  prepared: PreparedSearch,
  permit: Pick<EnginePermit, 'run'>,
  ask: (endpoint: number, signal: AbortSignal) => Promise<ResultPage>,
  options: ComputeEntryOptions,
): Promise<Entry> {
  const { rules, clock } = options;
  let [generation, createdAtMs, bornMs] = [0, 0, 0];
  let feed: FeedMark | undefined;
  const page = await permit.run((endpoint, signal) => {
    generation = rules.generation();
    feed = rules.birth?.();
    createdAtMs = clock.wallMs();
    bornMs = clock.monotonicMs();
    return ask(endpoint, signal);
  });
  const costMs = clock.monotonicMs() - bornMs;
  const shown = withoutSuppressed(page, rules.hides());
  return encodePage(prepared, shown, { generation, createdAtMs, bornMs, costMs, feed }, options);
}

export interface AskEngineOptions {
  readonly domain: string;
  /** One per endpoint, all over the same index; the guard chooses the endpoint. */
  readonly engines: readonly Engine[];
  /** The engine's deadline. A later reply is reported as late. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/** One search on one endpoint, reported with its result. @throws what the engine throws */
export async function askEngine(
  { request }: PreparedSearch,
  call: { readonly endpoint: number; readonly signal: AbortSignal; readonly above: Span | undefined },
  { domain, engines, deadlineMs, clock, observe }: AskEngineOptions,
): Promise<ResultPage> {
  const { endpoint, signal, above } = call;
  const startedMs = clock.monotonicMs();
  const span = above?.begin('engine', { 'serpcache.endpoint': endpoint });
  const report = (result: Extract<SearchEvent, { kind: 'engine' }>['result'], detail?: string): void => {
    const durationMs = clock.monotonicMs() - startedMs;
    const late = durationMs > deadlineMs;
    observe({ kind: 'engine', domain, result, late, durationMs, detail, traceId: span?.traceId });
  };
  try {
    const engine = engines[endpoint];
    if (engine === undefined) throw new Error(`no engine ${endpoint}`);
    const page = await engine.search(request, signal, span && formatTraceparent(span));
    const result = page.partial !== undefined ? 'partial' : page.results.length === 0 ? 'empty' : 'whole';
    span?.end({ 'serpcache.result': result, 'serpcache.results': page.results.length });
    report(result, page.partial);
    return page;
  } catch (error) {
    span?.end(undefined, faultOf(error));
    if (isRefusedBy('engine', error)) report(error.reason, error.message);
    throw error;
  }
}

/**
 * The suppression filter: an engine still finds a document after operators have suppressed it (sold, banned). Until the
 * index has dropped it too, new pages leave it out: they are shorter and have a lower total.
 */
export function withoutSuppressed(page: ResultPage, hides: ((id: string) => boolean) | undefined): ResultPage {
  if (hides === undefined) return page;
  const results = page.results.filter(({ id }) => !hides(id));
  const hidden = page.results.length - results.length;
  return hidden === 0 ? page : { ...page, results, total: Math.max(results.length, page.total - hidden) };
}

/** Encodes a page to bytes, once: both tiers store these bytes, and every client receives them. */
async function encodePage(
  prepared: PreparedSearch,
  page: ResultPage,
  facts: Pick<EntryParts, 'generation' | 'createdAtMs' | 'bornMs' | 'costMs' | 'feed'>,
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

/** The JSON body of a page: a fixed member order, so that the same page is the same bytes in every process. */
export function encodeBody(request: SearchRequest, page: ResultPage): Buffer {
  return Buffer.from(
    JSON.stringify({
      query: request.text,
      domain: request.domain,
      page: request.page,
      limit: request.limit,
      total: page.total,
      totalRelation: page.totalRelation,
      degraded: page.partial === undefined ? undefined : true,
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML. The only function for this: snippets, page content and quoted attributes all use it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
