import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Import {
  readonly from: string;
  readonly typesOnly: boolean;
  readonly line: number;
  readonly text: string;
}

/** Sorted paths of the `.ts` and `.mjs` files below a folder, relative to it, without node_modules. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|mjs)$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

const STATEMENT = /^(?:import|export)\b(?:[^;'"]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
const CALL = /\b(?:import|new URL)\(\s*['"](\.[^'"]+\.(?:ts|mjs)|[a-z@][^'"]*)['"]/g;
const IN_COMMENT = /^\s*\*|\/[/*].*$/;

/** Static imports, re-exports, `import()`, also of a type in a comment, and `new URL()` of a worker, unresolved. */
export function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(STATEMENT), ...text.matchAll(CALL)].map((match) => {
    const linesBefore = text.slice(0, match.index).split('\n');
    return {
      from: match[1] ?? '',
      typesOnly: /^(?:import|export) type\b/.test(match[0]) || IN_COMMENT.test(linesBefore.at(-1) ?? ''),
      line: linesBefore.length,
      text: match[0],
    };
  });
}

const COMMENT = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s*(.*)|\s\/\/ (.*)/;

/** The words of the comment on a line; a line of a template that looks like a comment counts. Undefined without one. */
export function commentOn(line: string): string | undefined {
  const [, whole, trailing] = COMMENT.exec(line) ?? [];
  return whole ?? trailing;
}

/** The text with comments and strings replaced by spaces; line numbers stay. */
export function proseless(text: string): string {
  return text.replaceAll(PROSE, (match) => match.replaceAll(/[^\n]/g, ' '));
}

const PROSE = /\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;

/** Object literals that are spread into another one: `...{ a, b }`, `...(x === undefined ? {} : { x })`, `...(x && { x })`. */
const SPREAD = /\.\.\.(?:\{|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?(?:[?:]\s*\{\s*\}|&&\s*\{))/g;

/** The lines on which a literal is spread, from 1. Comments and strings are left out. */
export function spreadLiterals(text: string): number[] {
  const code = proseless(text);
  return [...code.matchAll(SPREAD)].map(({ index }) => code.slice(0, index).split('\n').length);
}

const EXPORTED = /^export (?:async |abstract |declare )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/** The names that a file declares and exports; those that it passes on from another file are left out. */
export function exportsOf(text: string): string[] {
  return [...text.matchAll(EXPORTED)].map(([, name = '']) => name);
}
