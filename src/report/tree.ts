/** Elements as plain data, which become HTML on the server and DOM in the browser: no view joins strings into markup. */
export type Tree = string | TreeElement;
export type Child = Tree | number | false | undefined | readonly Child[];

/**
 * An element, made by `h` only. A private member marks it: an object from JSON is not an element, whatever members it
 * has, and becomes text.
 */
export class TreeElement {
  #made = true;
  readonly tag: string;
  /** `data-key` marks an element that an update keeps wherever it moves. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Without empty strings and without two strings in a row, as a parser would give them. */
  readonly children: readonly Tree[];

  constructor(tag: string, attributes: Readonly<Record<string, string>>, children: readonly Tree[]) {
    this.tag = tag;
    this.attributes = attributes;
    this.children = children;
  }

  static is(value: unknown): value is TreeElement {
    return typeof value === 'object' && value !== null && #made in value && value.#made;
  }
}

/**
 * `true` is an empty attribute; `false`, `undefined` and a number that is not finite leave it out. Numbers have two
 * decimals. A `href` that could run as a script is left out too.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * `h('p', { class: 'soft' })('text', more)`: an element is written as in markup, its children after its opening tag. Tags
 * and attribute names are constants; texts and values may be anything and stay text.
 */
export function h(tag: string, attributes: Attributes = {}): (...children: readonly Child[]) => TreeElement {
  const kept: Record<string, string> = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (value === undefined || value === false) continue;
    if (typeof value === 'number' && !Number.isFinite(value)) continue;
    const text = value === true ? '' : shownText(typeof value === 'number' ? Math.round(value * 100) / 100 : value);
    if (name !== 'href' || isSafeAddress(text)) kept[name] = text;
  }
  return (...children) => {
    const flat: Tree[] = [];
    flatten(children, flat);
    return new TreeElement(tag, kept, flat);
  };
}

/** Maximum nesting of lists: views write three levels, and JSON may have a million. */
const MAX_DEPTH = 16;

function flatten(children: readonly Child[], into: Tree[], depth = 0): void {
  for (const child of children) {
    if (child === undefined || child === false || child === '') continue;
    if (Array.isArray(child) && depth < MAX_DEPTH) {
      flatten(child, into, depth + 1);
      continue;
    }
    if (TreeElement.is(child)) {
      into.push(child);
      continue;
    }
    const text = shownText(child);
    if (text === '') continue;
    const last = into.at(-1);
    if (typeof last === 'string') into[into.length - 1] = last + text;
    else into.push(text);
  }
}

/**
 * Allows addresses of this site, of http and https, the files that the console makes for saving, and the empty icon of a
 * report. Leading white space and control characters are not allowed: browsers drop them before they look for a scheme.
 */
function isSafeAddress(address: string): boolean {
  return /^(?:\/(?![/\\])|[?#]|https?:\/\/|blob:https?:\/\/|data:,$)/i.test(address) && !/\p{Cc}/u.test(address);
}

/** Maximum number of characters shown for a value that is not text. */
const MAX_JSON_CHARACTERS = 200;

/**
 * The text of a value. The types promise text and numbers, but a store or another process may send anything: that is
 * shown as JSON, cut to a maximum.
 */
export function shownText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (value === null) return '';
  try {
    const json = JSON.stringify(value) ?? '';
    return json.length > MAX_JSON_CHARACTERS ? `${json.slice(0, MAX_JSON_CHARACTERS)}…` : json;
  } catch {
    return '…';
  }
}
