import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { DEPLOY_ROOMS, LIBRARIES, LOADTEST_ROOMS, ROOMS } from './architecture/rooms.ts';
import {
  commentOn,
  exportsOf,
  type Import,
  importsOf,
  proseless,
  sourceFiles,
  spreadLiterals,
} from './architecture/source.ts';

const root = join(import.meta.dirname, '..');
const src = join(root, 'src');

/** They connect the rooms, and no room imports them; together they stay short. */
const ROOTS = ['main.ts', 'cli.ts', 'app.ts'];
const MAX_ROOT_LINES = 420;
/** A chapter is comfortable at 80 to 300 lines. */
const MAX_LINES = 400;
const SHORT_LINES = 60;
/** Short files that stand apart from their single reader, each with its reason. */
const SHORT: Readonly<Record<string, string>> = {
  'loadtest/labs/peers/collect-garbage.ts': 'works on a process of any program; its test starts one',
};

const NESTED = ['labs', 'engines', 'stores', 'operations', 'http', 'ui'];
const files = sourceFiles(src);
const everywhere = ['src', 'test', 'loadtest', 'deploy'].flatMap((top) =>
  sourceFiles(join(root, top)).map((file) => join(top, file)),
);
const everyImport = ['src', 'loadtest', 'deploy'].flatMap(importsUnder);

interface Arrow extends Import {
  /** Relative to the project's root, like `target`. */
  readonly file: string;
  /** Undefined for a library. */
  readonly target: string | undefined;
}

function importsUnder(top: string): readonly Arrow[] {
  return sourceFiles(join(root, top)).flatMap((each) => {
    const file = join(top, each);
    return importsOf(join(root, file)).map((one) => ({
      ...one,
      file,
      target: one.from.startsWith('.') ? relative(root, join(root, dirname(file), one.from)) : undefined,
    }));
  });
}

function show({ file, line, text }: Pick<Arrow, 'file' | 'line' | 'text'>): string {
  return `${file}:${line}: ${text.replaceAll(/\s+/g, ' ')}`;
}

/** `src/engines/sphinx/reply.ts` → `engines/sphinx`; a file at the top is a room of its own. */
function roomOf(path: string): string {
  const [, first = '', second = '', third] = path.split('/');
  if (second === '') return first;
  return NESTED.includes(first) && third !== undefined ? `${first}/${second}` : first;
}

function mayImport(room: string, target: string): boolean {
  return (ROOMS[room] ?? []).some((entry) =>
    entry.endsWith('/*') ? target.startsWith(entry.slice(0, -1)) : target === entry,
  );
}

function isAllowed({ file, target = '' }: Arrow): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  if (from === to) return true;
  if (file.startsWith('loadtest/')) {
    if (target.startsWith('src/')) return !ROOTS.includes(to);
    // The rehearsal sends every query of the dashboards to a real Prometheus.
    if (target.startsWith('deploy/grafana/')) return from === 'rehearsal';
    const [own, other] = [LOADTEST_ROOMS.indexOf(from), LOADTEST_ROOMS.indexOf(to)];
    return own >= 0 && other >= 0 && other < own;
  }
  if (file.startsWith('deploy/')) {
    if (target.startsWith('src/')) return !ROOTS.includes(to);
    return DEPLOY_ROOMS[from]?.some((room) => target.startsWith(`${room}/`)) ?? false;
  }
  if (!target.startsWith('src/')) return false;
  // `index --serve` runs the service.
  if (ROOTS.includes(to)) return `${from} ${to}` === 'main.ts app.ts' || `${from} ${to}` === 'cli.ts main.ts';
  return ROOTS.includes(from) || to === 'runtime.ts' || mayImport(from, to);
}

test('imports between rooms follow the arrows of the design, types included', () => {
  const wrong = everyImport.filter((one) => one.target !== undefined && !isAllowed(one));
  assert.deepEqual(wrong.map(show), []);
});

test('each room is listed after every room that it imports, and exists', () => {
  const names = Object.keys(ROOMS);
  for (const [at, room] of names.entries()) {
    const later = names.slice(at + 1).filter((other) => mayImport(room, other));
    assert.deepEqual(later, [], `${room} imports rooms that stand above it`);
  }
  const rooms = new Set(files.map((file) => roomOf(join('src', file))));
  assert.deepEqual([...rooms].sort(), [...names, ...ROOTS, 'runtime.ts', 'bootstrap.mjs'].sort());
});

test('imports form no circle of files or rooms, types included', () => {
  for (const [what, nameOf, arrows] of [
    ['file', (path: string) => path, [...everyImport, ...importsUnder('test')]],
    ['room', (path: string) => join(path.split('/')[0] ?? '', roomOf(path)), everyImport],
  ] as const) {
    const next = new Map<string, Map<string, Arrow>>();
    for (const arrow of arrows) {
      if (arrow.target === undefined || nameOf(arrow.file) === nameOf(arrow.target)) continue;
      next.set(nameOf(arrow.file), (next.get(nameOf(arrow.file)) ?? new Map()).set(nameOf(arrow.target), arrow));
    }
    assert.deepEqual(circlesOf(next), [], `circles between ${what}s`);
  }
});

/** For each circle that a depth-first walk finds, an import of each of its steps. */
function circlesOf(next: ReadonlyMap<string, ReadonlyMap<string, Arrow>>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      const circle = [...path.slice(path.indexOf(name)), name];
      circles.push(
        circle
          .slice(1)
          .flatMap((to, at) => next.get(circle[at] ?? '')?.get(to) ?? [])
          .map(show),
      );
    }
    if (path.includes(name) || done.has(name)) return;
    for (const target of next.get(name)?.keys() ?? []) visit(target, [...path, name]);
    done.add(name);
  };
  for (const name of next.keys()) visit(name, []);
  return circles;
}

test('the roots connect the rooms in few lines', () => {
  const lines = ROOTS.map((file) => linesOf(join('src', file)));
  assert.ok(
    lines.reduce((sum, each) => sum + each, 0) <= MAX_ROOT_LINES,
    `${ROOTS.join(', ')} have ${lines.join(', ')} lines`,
  );
});

test('a short file with a single reader, in its own room, belongs in the file that reads it', () => {
  const readers = Map.groupBy(
    everyImport.filter((one) => one.target !== undefined && one.target !== one.file),
    (one) => one.target ?? '',
  );
  const short = [...readers].flatMap(([file, [first, ...others]]) => {
    if (first === undefined || others.some((one) => one.file !== first.file)) return [];
    const isShort = everywhere.includes(file) && linesOf(file) < SHORT_LINES;
    return isShort && roomOf(first.file) === roomOf(file) ? [{ file, reader: show(first) }] : [];
  });
  assert.deepEqual(
    short.filter(({ file }) => !(file in SHORT)),
    [],
  );
  const known = short.map(({ file }) => file);
  assert.deepEqual(
    Object.keys(SHORT).filter((file) => !known.includes(file)),
    [],
    'no longer short, or no longer with a single reader',
  );
});

test('what is imported exists, with its extension', () => {
  const missing = everyImport.filter(
    ({ target }) => target !== undefined && !(/\.(?:ts|mjs|json)$/.test(target) && existsSync(join(root, target))),
  );
  assert.deepEqual(missing.map(show), []);
});

test('a library is imported in its own room only', () => {
  const wrong = everyImport.filter((one) => {
    const name = Object.keys(LIBRARIES).find((library) => one.from === library || one.from.startsWith(`${library}/`));
    return name !== undefined && !LIBRARIES[name]?.some((folder) => one.file.startsWith(`${folder}/`));
  });
  assert.deepEqual(wrong.map(show), []);
});

/** Used by their command, or by the compiler for the types of a library, and imported nowhere. */
const TOOLS = ['@biomejs/biome', 'typescript', '@types/k6', '@types/node', '@types/opossum'];
const PACKAGE = /(?:\bfrom|\bimport|\bimport\(|\bimport\.meta\.resolve\()\s*['"`]((?:@[\w-]+\/)?[\w-]+)/g;

test('every dependency is imported somewhere, or is a known tool', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const texts = everywhere.map((file) => readFileSync(join(root, file), 'utf8'));
  const used = new Set(texts.flatMap((text) => [...text.matchAll(PACKAGE)].map(([, name = '']) => name)));
  const unused = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !used.has(name));
  assert.deepEqual(unused.toSorted(), TOOLS.toSorted());
});

test('the environment is read in config, main, cli and bootstrap only', () => {
  const readers = ['main.ts', 'cli.ts', 'bootstrap.mjs'];
  assert.deepEqual(
    matches(/\bprocess\.env\b/, (file) => !file.startsWith('config/') && !readers.includes(file)),
    [],
  );
});

test('nothing is typed any', () => {
  assert.deepEqual(
    matches(/(?:[:<,|&([=]|\bas|\bextends|=>)\s*any\b(?!\s*[(.'])/, () => true),
    [],
  );
});

test('the members of an object are written plainly: no literal is spread, and no member depends on a condition', () => {
  const packed = files.flatMap((file) =>
    spreadLiterals(readFileSync(join(src, file), 'utf8')).map((line) => `src/${file}:${line}`),
  );
  assert.deepEqual(packed, []);
});

test('an exported name means one thing', () => {
  const named = files.flatMap((file) =>
    [...new Set(exportsOf(readFileSync(join(src, file), 'utf8')))].map((name) => ({ name, file })),
  );
  const doubles = [...Map.groupBy(named, ({ name }) => name)].filter(([, all]) => all.length > 1);
  assert.deepEqual(
    doubles.map(([name, all]) => `${name}: ${all.map(({ file }) => file)}`),
    [],
  );
});

const INVERTED = /^(?:Of|Who|Whoever|What)\b|\bso (?:many|long)\b/;

test('a comment begins with its subject, and says number or time instead of so many or so long', () => {
  const wrong = everywhere.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((text, at) =>
        INVERTED.test(commentOn(text) ?? '') ? [show({ file, line: at + 1, text: text.trim() })] : [],
      ),
  );
  assert.deepEqual(wrong, []);
});

test('every file is at most a chapter and named for its subject', () => {
  const wrong = everywhere.flatMap((file) => {
    const lines = linesOf(file);
    return [
      ...(lines > MAX_LINES ? [`${file} has ${lines} lines`] : []),
      ...(/(?:^|\/)(?:utils?|helpers?|types|index|common|misc)\.(?:ts|mjs)$/.test(file)
        ? [`${file} is named for nothing`]
        : []),
    ];
  });
  assert.deepEqual(wrong, []);
});

function linesOf(file: string): number {
  return readFileSync(join(root, file), 'utf8').split('\n').length - 1;
}

/** Lines of code, without comments and strings, that match. */
function matches(pattern: RegExp, among: (file: string) => boolean): string[] {
  return files.filter(among).flatMap((file) => {
    const lines = proseless(readFileSync(join(src, file), 'utf8')).split('\n');
    return lines.flatMap((line, at) =>
      pattern.test(line) ? [show({ file: join('src', file), line: at + 1, text: line.trim() })] : [],
    );
  });
}

test('each pattern of .gitignore starts at the root or names an extension, so that it hides no other file', () => {
  const patterns = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean);
  const loose = patterns.filter((pattern) => !pattern.startsWith('/') && !pattern.startsWith('*.'));
  assert.deepEqual(loose, []);
});

const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !/(?:^|\/)(?:node_modules|data|\.)/.test(file),
);

test('every file that a guide names exists', () => {
  const all = ['src', 'test', 'loadtest'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((file) => `/${join(top, file)}`),
  );
  const missing = ['src/README.md', 'CONTRIBUTING.md', 'README.md'].flatMap((page) => {
    const named = readFileSync(join(root, page), 'utf8').matchAll(/`((?:\.\.\/)?[\w./-]+\.(?:ts|mjs))`/g);
    return [...named]
      .map(([, file = '']) => file.replace(/^(?:\.\.?\/)+/, ''))
      .filter((file) => !all.some((each) => each.endsWith(`/${file}`)))
      .map((file) => `${page}: ${file}`);
  });
  assert.deepEqual(missing, []);
});

test('every link of a page leads to a file or a folder', () => {
  const missing = pages.flatMap((page) => {
    const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g);
    return [...links].flatMap(([, link = '']) =>
      existsSync(join(root, dirname(page), link)) ? [] : [`${page}: ${link}`],
    );
  });
  assert.deepEqual(missing, []);
});
