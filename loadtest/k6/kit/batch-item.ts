import type { Ask } from './queries.ts';

/** One search as `/msearch` takes it: repeated parameters are lists. */
export function itemOf(ask: Pick<Ask, 'domain' | 'q' | 'page' | 'parameters'>): Readonly<Record<string, unknown>> {
  const { domain, q, page, parameters } = ask;
  const item: Record<string, unknown> = {
    q,
    ...(domain === undefined ? {} : { domain }),
    ...(page === 1 ? {} : { page }),
  };
  for (const pair of parameters === '' ? [] : parameters.split('&')) {
    const equals = pair.indexOf('=');
    const name = decoded(pair.slice(0, equals));
    const value = decoded(pair.slice(equals + 1));
    const before = item[name];
    item[name] = before === undefined ? value : [before, value].flat();
  }
  return item;
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
