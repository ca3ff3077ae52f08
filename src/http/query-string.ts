import { Refusal } from './problem.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

/** More than any search needs; bounds what one URL or one batch item can make us do. */
export const MAX_PAIRS = 64;

/**
 * The part after `?` → decoded pairs in the order given. Duplicates stay: which parameters may repeat is for the
 * search to judge. Percent-encoding and UTF-8 are strict, because two readings of one URL would be two keys.
 * @throws Refusal `invalid-url` that names the parameter.
 */
export function parseQueryString(text: string): Pairs {
  const pairs: (readonly [string, string])[] = [];
  for (let from = 0; from < text.length; ) {
    const ampersand = text.indexOf('&', from);
    const to = ampersand < 0 ? text.length : ampersand;
    if (to > from) {
      if (pairs.length === MAX_PAIRS) {
        throw new Refusal({ code: 'invalid-url', detail: `A URL may carry at most ${MAX_PAIRS} parameters.` });
      }
      pairs.push(parsePair(text.slice(from, to)));
    }
    from = to + 1;
  }
  return pairs;
}

function parsePair(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  const rawName = equals < 0 ? text : text.slice(0, equals);
  const name = decode(rawName, rawName);
  return [name, equals < 0 ? '' : decode(text.slice(equals + 1), name)];
}

function decode(raw: string, parameter: string): string {
  if (!/[%+\u0080-\uffff]/.test(raw)) return raw;
  // Node hands over a request target's bytes as Latin-1; curl and old clients send UTF-8 there unescaped.
  const escaped = raw.replaceAll('+', ' ').replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    // Strict by specification: it refuses malformed escapes, overlong forms and encoded surrogates.
    return decodeURIComponent(escaped);
  } catch {
    throw new Refusal({
      code: 'invalid-url',
      detail: 'Parameters must be percent-encoded UTF-8: each % is followed by two hexadecimal digits.',
      parameter: clip(parameter),
    });
  }
}

function clip(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}
