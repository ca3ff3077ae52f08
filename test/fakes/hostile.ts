/** Hostile values of a field that others write: a planted entry, a report of another process, a client's text. */

const ELEMENT = { tag: 'iframe', attributes: { onload: 'alert(1)', srcdoc: '<script>' }, children: ['x'] };

/** Parsed from JSON, as a planted value is. */
const HOSTILE: Readonly<Record<string, unknown>> = JSON.parse(
  JSON.stringify({
    'an object like an element': ELEMENT,
    'an object like the markup of a report': { markup: '<iframe onload=alert(1)></iframe>' },
    'elements in lists': [[ELEMENT], 'x', [[ELEMENT, { markup: '<iframe>' }]]],
    'a script': '</title></script><script>alert(1)</script><!--',
    'the end of an attribute': '"\' onload="alert(1)" href="javascript:alert(1)"><iframe>',
    'an address that runs': 'javascript:alert(1)//<iframe>',
    'a number where text is meant': 1e308,
    'a truth': true,
    'a long text': '<iframe>'.repeat(500),
    'a name that every object has': 'constructor',
    nothing: null,
  }),
);
/** From JSON `__proto__` is an ordinary member, and not the prototype. */
const PROTO: unknown = JSON.parse('{"__proto__":{"tag":"iframe","attributes":{},"children":[]},"constructor":{"x":1}}');
export const HOSTILE_VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ...Object.entries(HOSTILE),
  ['a prototype', PROTO],
];

/**
 * Each member of a payload, at any depth: its path, and a function that returns the payload with another value in that
 * place. A list gives its first element only, because the same code renders the others.
 */
export function* eachPlace<T>(payload: T): Generator<readonly [path: string, put: (value: unknown) => T]> {
  for (const path of pathsOf(payload)) yield [path.join('.'), (value) => placed(payload, path, value) as T];
}

function* pathsOf(value: unknown): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return;
  const members = Object.entries(value);
  for (const [name, member] of Array.isArray(value) ? members.slice(0, 1) : members) {
    yield [name];
    for (const rest of pathsOf(member)) yield [name, ...rest];
  }
}

function placed(payload: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(payload)) {
    return payload.map((member, i) => (String(i) === name ? placed(member, rest, value) : member));
  }
  const members = Object.entries(payload ?? {});
  return Object.fromEntries(members.map(([key, member]) => [key, key === name ? placed(member, rest, value) : member]));
}

/**
 * Every element of a document and every attribute with its element, as `a` and `a href`; `stray` for a `<` or `>` outside
 * of a tag, and `runs` for an address that is a script.
 */
export function partsOf(html: string): ReadonlySet<string> {
  const parts = new Set<string>();
  const bare = html.replace(/^<!doctype html>/i, '').replace(/<style>[^<]*<\/style>/g, '<style></style>');
  const text = bare.replace(TAG, (_, tag: string, attributes: string) => {
    parts.add(tag);
    for (const [, name = '', value = ''] of attributes.matchAll(ATTRIBUTE)) {
      parts.add(`${tag} ${name}`);
      if (/^(?:href|src|action)$/.test(name) && !/^(?:[/?#]|https?:|data:,$|$)/.test(value))
        parts.add(`runs: ${value}`);
    }
    return '';
  });
  const stray = text.search(/[<>]/);
  if (stray >= 0) parts.add(`stray: ${text.slice(stray, stray + 40)}`);
  return parts;
}

const TAG = /<\/?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"<>]*")?)*)\s*\/?>/g;
const ATTRIBUTE = /\s([a-zA-Z:-]+)(?:="([^"]*)")?/g;
