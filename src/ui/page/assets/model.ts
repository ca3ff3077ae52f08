import { shownText } from '../../../report/tree.ts';
import type { ResultPage } from '../../../search/engine.ts';
import { type PageAddress, type Site, searchPairs } from './address.ts';
import type { Language } from './locale.ts';
import { type Provenance, provenanceOf } from './provenance.ts';

/** Everything that one state of the page shows. The server makes it from an answer, the browser from a response. */
export interface PageModel {
  readonly site: Site;
  readonly address: PageAddress;
  readonly language: Language;
  readonly shown: Shown;
}

export type Shown =
  | { readonly kind: 'start' }
  | { readonly kind: 'answer'; readonly answer: AnswerBody; readonly provenance: Provenance }
  | Failure;

export interface Failure {
  readonly kind: 'failure';
  /** A code of the service, or `unreachable`, `slow`, `other`. */
  readonly code: string;
  /** The service's own text, in English. */
  readonly detail?: string;
  /** The parameter at fault. */
  readonly parameter?: string;
  readonly retryAfterSeconds?: number;
}

/** The 200 body of `/search`. */
export interface AnswerBody extends Omit<ResultPage, 'partial'> {
  /** Canonical text. */
  readonly query: string;
  readonly domain: string;
  readonly page: number;
  readonly limit: number;
  readonly degraded?: boolean;
}

/** The service's maximum of `page × limit`. */
export const MAX_RESULTS = 1000;
/** Maximum number of results on a page, which is more than the maximum number of values of a facet. */
const MAX_SHOWN = 100;
/** Longer than any deadline of the service: only a lost network causes such a wait. */
const TIMEOUT_MS = 20_000;

/** The page's title in the browser's tab. */
export function documentTitle(model: PageModel) {
  return model.address.query === '' ? 'serpcache' : `${model.address.query} · serpcache`;
}

/**
 * The body of an answer as the page shows it. It may come from a store that others can write, so its types are not
 * trusted: each member becomes a text or a number, and a missing one becomes empty. @param body Parsed JSON.
 */
export function answerFrom(body: unknown): AnswerBody {
  const { query, domain, page, limit, total, totalRelation, results, facets, degraded } = membersOf(body);
  return {
    query: shownText(query ?? ''),
    domain: shownText(domain ?? ''),
    page: countOf(page, 1, MAX_RESULTS),
    limit: countOf(limit, 1, MAX_SHOWN),
    total: countOf(total, 0, Number.MAX_SAFE_INTEGER),
    totalRelation: totalRelation === 'gte' ? 'gte' : 'eq',
    results: listOf(results).map(resultFrom),
    facets: Object.fromEntries(Object.entries(membersOf(facets)).map(([name, counts]) => [name, countsFrom(counts)])),
    degraded: degraded === true ? true : undefined,
  };
}

/**
 * Makes the search behind an address. @param signal Aborted when the reader starts another search. @returns Rejects
 * only when `signal` has aborted.
 */
export async function fetchAnswer(address: PageAddress, site: Site, signal: AbortSignal): Promise<Shown> {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    // The browser's cache would return the old Cache-Status; the page shows where this answer came from.
    const response = await fetch(`/search?${new URLSearchParams(searchPairs(address, site))}`, {
      cache: 'no-store',
      headers: { accept: 'application/json, application/problem+json' },
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) return await failureOf(response);
    const answer = answerFrom(await response.json());
    const header = (name: string) => response.headers.get(name) ?? '';
    const tookMs = performance.now() - startedAt;
    const provenance = provenanceOf(header('cache-status'), header('server-timing'), tookMs);
    return { kind: 'answer', answer, provenance };
  } catch (error) {
    if (signal.aborted) throw error;
    return { kind: 'failure', code: timeout.aborted ? 'slow' : 'unreachable' };
  }
}

function resultFrom(result: unknown) {
  const { id, title, snippet, score, attributes } = membersOf(result);
  return {
    id: shownText(id ?? ''),
    title: shownText(title ?? ''),
    snippet: shownText(snippet ?? ''),
    score: numberOf(score),
    attributes: Object.fromEntries(
      Object.entries(membersOf(attributes)).map(([name, value]) => [
        name,
        Array.isArray(value) ? listOf(value).map(scalar) : scalar(value),
      ]),
    ),
  };
}

function countsFrom(counts: unknown) {
  return listOf(counts).map((each) => {
    const { value, count } = membersOf(each);
    return { value: scalar(value), count: numberOf(count) };
  });
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_SHOWN) : [];
}

function countOf(value: unknown, min: number, max: number) {
  return Math.min(max, Math.max(min, Math.trunc(numberOf(value))));
}

function numberOf(value: unknown) {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function scalar(value: unknown) {
  return typeof value === 'number' ? value : shownText(value ?? '');
}

async function failureOf(response: Response): Promise<Failure> {
  const isProblem = (response.headers.get('content-type') ?? '').startsWith('application/problem+json');
  const { code, detail, parameter } = membersOf(isProblem ? await response.json() : undefined);
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return {
    kind: 'failure',
    code: typeof code === 'string' ? code : 'other',
    detail: typeof detail === 'string' ? detail : undefined,
    parameter: typeof parameter === 'string' ? parameter : undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  };
}
