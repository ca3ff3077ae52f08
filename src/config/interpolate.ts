import type { Path, RawFault } from './faults.ts';
import { formatPath, HIDDEN, looksSecret, showValue } from './faults.ts';

export interface Interpolated {
  readonly value: unknown;
  readonly faults: readonly RawFault[];
  /** Paths (formatted) whose value came, in part, from a variable named like a secret: never shown. */
  readonly secretPaths: ReadonlySet<string>;
}

const REFERENCE = /\$(\$?)\{([^}]*)\}/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * `${NAME}` and `${NAME:-default}` in every text of the tree; `$${` stands for a plain `${`. As in a shell, an empty
 * variable takes the default. A value at fault is left out, so that it is reported once.
 */
export function interpolate(tree: unknown, env: Readonly<Record<string, string | undefined>>): Interpolated {
  const faults: RawFault[] = [];
  const secretPaths = new Set<string>();

  const text = (given: string, path: Path): string | undefined => {
    let failed = false;
    const fail = (allowed: string): string => {
      faults.push({ path, value: looksSecret(String(path.at(-1))) ? HIDDEN : showValue(given), allowed });
      failed = true;
      return '';
    };
    const result = given.replace(REFERENCE, (whole, escaped: string, inside: string) => {
      if (escaped !== '') return whole.slice(1);
      const [, name, fallback] = NAME.exec(inside) ?? [];
      if (name === undefined) return fail(`$\{NAME} or $\{NAME:-default}; write $$\{ for a plain $\{`);
      if (looksSecret(name)) secretPaths.add(formatPath(path));
      const found = env[name];
      if (found !== undefined && (found !== '' || fallback === undefined)) return found;
      return fallback ?? fail(`the variable ${name} set in the environment, or \${${name}:-default}`);
    });
    return failed ? undefined : result;
  };

  const walk = (node: unknown, path: Path): unknown => {
    if (typeof node === 'string') return text(node, path) ?? FAULTY;
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value, [...path, key])]));
  };

  return { value: walk(tree, []), faults, secretPaths };
}

/** Stands where a value was at fault and has been reported: later steps pass over it. */
export const FAULTY: unique symbol = Symbol('faulty');
