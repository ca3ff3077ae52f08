import { dirname, join, relative } from 'node:path';

/**
 * One script made of our own modules, so that a page asks once for its code. Each module becomes a function that returns
 * its exports; it stands after the modules that it imports. `import { a, b as c }`, `import a`, and `export` before a
 * declaration are understood: the forms that these modules use. Block comments that begin a line are left out.
 * @param entry file of the module to begin with.
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
      .replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
      .replace(IMPORT, (_, whole: string | undefined, some: string | undefined, from: string) => {
        const names = whole === undefined ? (some ?? '').replaceAll(' as ', ': ') : `default: ${whole}`;
        return `const { ${names.trim()} } = ${add(join(dirname(file), from), path)};`;
      })
      .replace(EXPORT, (_, name: string) => {
        exported.push(name);
        return '';
      })
      .replace(EXPORT_DEFAULT, (_, name: string) => {
        exported.push(`default: ${name}`);
        return '';
      })
      .replace(/^export \{\};$/gm, '');
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

const IMPORT = /^import (?:(\w+)|\{([^}]*)\}) from '([^']+)';$/gm;
const EXPORT = /^export (?=(?:async )?(?:function\*?|const|class) (\w+))/gm;
const EXPORT_DEFAULT = /^export default (\w+);$/gm;
