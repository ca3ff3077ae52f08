import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Import {
  readonly from: string;
  readonly typesOnly: boolean;
  readonly line: number;
  readonly text: string;
}

/** Sorted paths of the `.ts` files below a folder, relative to it, without node_modules. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

const STATEMENT = /^(?:import|export)\b(?:[^;'"]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
const CALL = /\b(?:import|new URL)\(\s*['"](\.[^'"]+\.ts|[a-z@][^'"]*)['"]/g;

/** Static imports, re-exports, `import()` and `new URL()` of a worker, with their specifiers unresolved. */
export function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(STATEMENT), ...text.matchAll(CALL)].map((match) => ({
    from: match[1] ?? '',
    typesOnly: /^(?:import|export) type\b/.test(match[0]),
    line: text.slice(0, match.index).split('\n').length,
    text: match[0],
  }));
}

/** The text with comments and strings replaced by spaces; line numbers stay. */
export function proseless(text: string): string {
  return text.replaceAll(PROSE, (match) => match.replaceAll(/[^\n]/g, ' '));
}

const PROSE = /\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;
