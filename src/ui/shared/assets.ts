import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { sendStatic, staticFile } from '../../http/transport/static-file.ts';
import { h, type TreeElement } from '../../report/tree.ts';

export type Assets = ReturnType<typeof readAssets>;

interface AssetSources {
  /** Address below which they are served, without a slash at its end. */
  readonly prefix: string;
  /** It has the module to begin with, `main`, and the folder `style`. */
  readonly folder: string;
  /** Names of its style sheets in the order in which they apply. */
  readonly styles: readonly string[];
  /** Rules that are no file: those of the colours and the plots. They apply after the theme. */
  readonly rules: string;
}

const SHARED = import.meta.dirname;
const BLOCK_COMMENT = /^\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm;
const IMPORT = /^import \{([^}]*)\} from '([^']+)';$/gm;
const EXPORT = /^export (?=(?:async )?(?:function\*?|const|class) (\w+))/gm;
/** Left of types, and the end of a compiled module. */
const BLANK_LINE = /^[ \t]*\n|^\/\/# sourceMappingURL=.*$/gm;

/**
 * The static files of one page: its modules as one script, its style sheets as one, and its icon. They are read once: later
 * changes on disk are not served.
 */
export function readAssets({ prefix, folder, styles, rules }: AssetSources) {
  const text = (...file: readonly string[]): string => readFileSync(join(...file), 'utf8');
  const entry = join(folder, `main${extname(import.meta.filename)}`);
  const sheets = [text(SHARED, 'theme.css'), rules, ...styles.map((name) => text(folder, 'style', `${name}.css`))];
  const byName = new Map([
    ['main.mjs', staticFile(bundle(entry, javaScriptOf), 'text/javascript; charset=utf-8')],
    ['main.css', staticFile(sheets.join('\n'), 'text/css; charset=utf-8')],
    ['icon.svg', staticFile(text(SHARED, 'icon.svg'), 'image/svg+xml')],
  ]);
  const whole = createHash('sha256');
  for (const { etag } of byName.values()) whole.update(etag);
  // A part of every address, so that files of two releases are never mixed.
  const version = whole.digest('base64url').slice(0, 12);
  return { byName, prefix, version };
}

/** A module without its types. In the published package the modules have none. */
function javaScriptOf(file: string): string {
  const source = readFileSync(file, 'utf8');
  if (!file.endsWith('.ts')) return source;
  const { emitWarning } = process;
  // The function warns that it is experimental; Node runs the service itself with the same code.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The head of a document that loads them. */
export function documentHead(title: string, { prefix, version }: Assets): TreeElement {
  const base = `${prefix}/${version}`;
  return h('head')(
    h('meta', { charset: 'utf-8' })(),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' })(),
    h('meta', { name: 'color-scheme', content: 'light dark' })(),
    h('title')(title),
    h('link', { rel: 'icon', href: `${base}/icon.svg`, type: 'image/svg+xml' })(),
    h('link', { rel: 'stylesheet', href: `${base}/main.css` })(),
    h('script', { type: 'module', src: `${base}/main.mjs` })(),
  );
}

/** `GET|HEAD <prefix>/:version/<name>`. */
export function registerAssets(app: FastifyInstance, assets: Assets): void {
  app.route<{ Params: { version: string; '*': string } }>({
    method: ['GET', 'HEAD'],
    url: `${assets.prefix}/:version/*`,
    schema: { hide: true },
    handler: async (request, reply) => {
      const file = assets.byName.get(request.params['*']);
      if (file === undefined) return reply.callNotFound();
      // During a rollout a page may ask a process of the other release. It then gets that release's file, which must
      // not be cached.
      const known = request.params.version === assets.version;
      reply.headers({
        'cache-control': known ? 'public, max-age=31536000, immutable' : 'no-cache',
        'cross-origin-resource-policy': 'same-origin',
      });
      return sendStatic(request, reply, file);
    },
  });
}

/**
 * Joins modules into one script, so that a page loads its code with one request. Each module becomes a function that
 * returns its exports and stands after the modules that it imports. The supported forms are those that the modules use:
 * `import { a, b as c }` and `export` before a declaration. Block comments that stand alone on their lines are left out.
 * @param entry the first module's file.
 * @param read file → source.
 * @throws for every other form of import or export, and for modules that import each other.
 */
export function bundle(entry: string, read: (file: string) => string): string {
  const folder = dirname(entry);
  /** File → the constant that holds its exports. */
  const constants = new Map<string, string>();
  const parts: string[] = [];

  const add = (file: string, importers: readonly string[]): string => {
    const known = constants.get(file);
    if (known !== undefined) return known;
    const path = [...importers, file];
    if (importers.includes(file)) {
      throw new Error(`modules import each other: ${path.map((each) => relative(folder, each)).join(' → ')}`);
    }
    const exported: string[] = [];
    const source = read(file)
      .replace(BLOCK_COMMENT, '')
      .replace(IMPORT, (_, names: string, from: string) => {
        return `const { ${names.replaceAll(' as ', ': ').trim()} } = ${add(join(dirname(file), from), path)};`;
      })
      .replace(EXPORT, (_, name: string) => {
        exported.push(name);
        return '';
      })
      .replace(/^export \{\};$/gm, '')
      .replace(BLANK_LINE, '');
    const unknown = /^(?:import|export)\b.*$/m.exec(source);
    if (unknown !== null) throw new Error(`${relative(folder, file)} cannot be bundled: ${unknown[0]}`);
    const constant = `module$${constants.size}`;
    constants.set(file, constant);
    const name = relative(folder, file);
    parts.push(`// ${name}\nconst ${constant} = (() => {\n${source}\nreturn { ${exported.join(', ')} };\n})();\n`);
    return constant;
  };

  add(entry, []);
  return parts.join('');
}
