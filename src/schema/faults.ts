export type Path = readonly (string | number)[];

/** One fault of a configuration file, a plan file or a request, safe to print: secrets are hidden. */
export interface Fault {
  readonly path: Path;
  /** The value given, shortened; `(missing)` without a value, `***` for a possible secret. */
  readonly value: string;
  /** The values that would be accepted. */
  readonly allowed: string;
  /** Line in the file, from 1, when the value is from a file. */
  readonly line?: number;
}

/** `stages[2].hold (line 7): "10 sec"; allowed: …` */
export function describeFault({ path, value, allowed, line }: Omit<Fault, 'path'> & { readonly path: string }): string {
  return `${path}${line === undefined ? '' : ` (line ${line})`}: ${value}; allowed: ${allowed}`;
}

/** `['domains', 'goods', 'nodes', 0]` → `domains.goods.nodes[0]`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!/^[\w-]{1,64}$/.test(step)) return `${text}[${JSON.stringify(shorten(step))}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** A JSON pointer (RFC 6901) below `base`. */
export function pointerOf(path: Path, base: string): string {
  return [base, ...path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

export const HIDDEN = '***';
export const MISSING = '(missing)';

/** Whether a variable or a setting of this name is likely to hold a secret. */
export function looksSecret(name: string): boolean {
  return /pass|secret|token|auth|credential|private|api.?key|signing|key$/i.test(name);
}

/** A value as a fault shows it. Contents of lists and mappings are never shown, because they may hold secrets. */
export function showValue(value: unknown): string {
  if (typeof value !== 'string') return showKind(value);
  // Credentials inside an address: redis://user:password@host
  return JSON.stringify(shorten(value.replace(/^.*@/s, `${HIDDEN}@`)));
}

/** Shown where a mapping is expected: a text there may be a secret that belongs inside the mapping. */
export function showKind(value: unknown): string {
  if (value === undefined || value === null) return MISSING;
  if (typeof value === 'string') return 'a text';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'a mapping' : String(value);
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}

/** `did you mean ttl?`, or the known names when none is near enough. */
export function knownNames(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`;
}

/** The known name nearest to a mistyped one, or undefined when none is near enough. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const other = plain(candidate);
    // Users of other tools write ttlMs, ttl_seconds and connectTimeoutMs.
    const contained = other.length >= 3 && (wanted.startsWith(other) || other.startsWith(wanted)) && wanted.length >= 3;
    const distance = contained ? 1 : editDistance(wanted, other);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return bestDistance <= Math.max(wanted.length < 4 ? 1 : 2, Math.floor(wanted.length / 3)) ? best : undefined;
}

function plain(name: string): string {
  return name.slice(0, 64).toLowerCase().replace(/[-_]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
