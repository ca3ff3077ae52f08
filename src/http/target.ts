import type { IncomingHttpHeaders } from 'node:http';
import type { PreparedSearch } from '../search/answer.ts';
import type { SearchParameters } from '../search/parameters.ts';
import type { Search } from '../search/search.ts';
import { Refusal } from './problem.ts';
import { parseQueryString } from './query-string.ts';
import { createTargetMemo } from './target-memo.ts';

const MEMO = { maxEntries: 10_000, maxBytes: 32 * 2 ** 20 };

export interface Targets {
  /** @throws Refusal, InvalidSearch. */
  readonly prepare: (target: string, headers: IncomingHttpHeaders) => PreparedSearch;
}

/** Request target → prepared search, at the price of one map look-up when the URL has been seen before. */
export function createTargets(options: { readonly search: Search; readonly maxUrlBytes: number }): Targets {
  const { search, maxUrlBytes } = options;
  const memo = createTargetMemo(MEMO);
  // Where a header is part of the key, the URL alone does not say which search it is.
  const byUrlAlone = new Set(
    search.domains.filter(({ context }) => context.every(({ source }) => source === 'query')).map(({ name }) => name),
  );

  return {
    prepare: (target, headers) => {
      const known = memo.get(target);
      if (known !== undefined) return known;
      const prepared = search.prepare(parametersOf(target, headers, maxUrlBytes));
      if (byUrlAlone.has(prepared.request.domain)) memo.set(target, prepared);
      return prepared;
    },
  };
}

/** @throws Refusal `url-too-long`, `invalid-url`. */
export function parametersOf(target: string, headers: IncomingHttpHeaders, maxUrlBytes: number): SearchParameters {
  checkLength(target, maxUrlBytes);
  const question = target.indexOf('?');
  const pairs = question < 0 ? [] : parseQueryString(target.slice(question + 1));
  return { pairs, header: headerReader(headers) };
}

/** @throws Refusal `url-too-long`. */
export function checkLength(target: string, maxUrlBytes: number): void {
  // Node gives one character per byte of the target.
  if (target.length <= maxUrlBytes) return;
  throw new Refusal({ code: 'url-too-long', detail: `A URL may have at most ${maxUrlBytes} bytes.` });
}

export function headerReader(headers: IncomingHttpHeaders): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

/**
 * The domain a refused search is counted under: a configured name or `none`, never the client's own text, so that bad
 * input cannot grow a metric's labels.
 */
export function domainLabel(search: Pick<Search, 'domains'>, pairs: SearchParameters['pairs'] | undefined): string {
  if (pairs === undefined) return 'none';
  const given = pairs.filter(([name]) => name === 'domain').map(([, value]) => value);
  if (given.length === 0) return search.domains[0]?.name ?? 'none';
  const known = search.domains.find(({ name }) => given.length === 1 && name === given[0]);
  return known?.name ?? 'none';
}
