import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { type Import, importsOf, proseless, sourceFiles } from './architecture/source.ts';

const root = join(import.meta.dirname, '..');
const src = join(root, 'src');

/**
 * The arrows of the design, between rooms. `uses` may be imported as values, `reads` as types alone. A room, or one
 * file of it. What is not here is forbidden; a new room adds its line.
 */
const ARROWS: Readonly<Record<string, { readonly uses: readonly string[]; readonly reads: readonly string[] }>> = {
  cache: { uses: [], reads: [] },
  resilience: { uses: [], reads: [] },
  search: { uses: ['cache', 'resilience'], reads: [] },
  engines: { uses: ['search', 'resilience/retry-budget.ts'], reads: ['config/settings.ts'] },
  popularity: { uses: [], reads: [] },
  control: { uses: ['cache'], reads: [] },
  operations: { uses: ['control', 'cache', 'report', 'search/events.ts'], reads: ['http/transport/events.ts'] },
  // Pages with tables and plots: of drills here, of load tests in loadtest/.
  report: { uses: ['search/escape-html.ts'], reads: [] },
  stores: {
    uses: ['cache', 'operations/flush/content.ts', 'popularity'],
    reads: ['config/settings.ts', 'control/control-store.ts'],
  },
  http: {
    uses: ['search', 'cache', 'control', 'config/faults.ts', 'ui'],
    reads: ['config', 'operations', 'popularity'],
  },
  ui: { uses: ['http', 'search', 'cache'], reads: [] },
  metrics: {
    uses: ['cache', 'search', 'http/transport/events.ts', 'http/transport/client.ts'],
    reads: ['config/settings.ts', 'control', 'operations', 'popularity', 'resilience', 'engines', 'http'],
  },
  catalogue: { uses: ['search/domain.ts'], reads: [] },
  config: { uses: ['catalogue', 'search/domain.ts'], reads: ['cache/codec.ts'] },
};
/** Whoever counts or logs may read what any room says happened. */
const READS_EVENTS = ['metrics', 'meter'];
/** These put the parts together, so they alone see concrete engines and stores. Nobody but they import them. */
const ROOTS = [
  'main.ts',
  'cli.ts',
  'compose.ts',
  'compose-domain.ts',
  'compose-domain-operations.ts',
  'compose-engine.ts',
  'compose-lifeboat.ts',
  'compose-control.ts',
  'compose-operations.ts',
  'compose-stores.ts',
  'compose-upkeep.ts',
  'first-start.ts',
  'commands/',
];

/** A library is known to the room that wraps it and to nobody else. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['stores/redis'],
  mysql2: ['engines/sphinx'],
  opossum: ['resilience'],
  'node:sqlite': ['engines/sqlite'],
  fastify: ['http', 'ui'],
  'prom-client': ['metrics'],
  yaml: ['config', 'operations/drills'],
  'csv-parse': ['catalogue'],
};

const files = sourceFiles(src);
const imports = files.flatMap((file) => importsOf(join(src, file)).map((one) => ({ ...one, file })));

function show(file: string, line: number, text: string): string {
  return `src/${file}:${line}: ${text.replaceAll(/\s+/g, ' ')}`;
}

function targetOf(file: string, one: Import): string | undefined {
  return one.from.startsWith('.') ? relative(src, join(src, dirname(file), one.from)) : undefined;
}

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file;
}

/** engines/sqlite and engines/sphinx are adapters of one port: neighbours, but strangers. */
function adapterOf(file: string): string | undefined {
  return /^(?:engines|stores)\/[^/]+(?=\/)/.exec(file)?.[0];
}

function isRoot(file: string): boolean {
  return ROOTS.some((root) => file === root || (root.endsWith('/') && file.startsWith(root)));
}

function allowed(file: string, target: string, typesOnly: boolean): boolean {
  if (isRoot(file)) return true;
  if (!target.includes('/')) return ['runtime.ts', 'throttle.ts'].includes(target);
  const room = roomOf(file);
  if (room === roomOf(target)) return adapterOf(target) === undefined || adapterOf(file) === adapterOf(target);
  const arrows = ARROWS[room];
  if (arrows === undefined) return false;
  if (typesOnly && READS_EVENTS.includes(room) && target.endsWith('/events.ts')) return true;
  const reachable = typesOnly ? [...arrows.uses, ...arrows.reads] : arrows.uses;
  return reachable.some((entry) => target === entry || target.startsWith(`${entry}/`));
}

test('imports between rooms follow the arrows of the design', () => {
  const wrong = imports.filter((one) => {
    const target = targetOf(one.file, one);
    return target !== undefined && !allowed(one.file, target, one.typesOnly);
  });
  assert.deepEqual(
    wrong.map((one) => show(one.file, one.line, one.text)),
    [],
  );
});

test('no file imports itself by a detour', () => {
  const next = new Map<string, string[]>();
  for (const one of imports) {
    const target = one.typesOnly ? undefined : targetOf(one.file, one);
    if (target !== undefined) next.set(one.file, [...(next.get(one.file) ?? []), target]);
  }
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), [...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    for (const target of next.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

test('what is imported exists, with its extension', () => {
  const missing = imports.filter((one) => {
    const target = targetOf(one.file, one);
    return target !== undefined && !files.includes(target) && !/\.(mjs|json)$/.test(target);
  });
  assert.deepEqual(
    missing.map((one) => show(one.file, one.line, one.text)),
    [],
  );
});

test('a library is imported in its own room only', () => {
  const wrong = imports.filter((one) => {
    const name = Object.keys(LIBRARIES).find((library) => one.from === library || one.from.startsWith(`${library}/`));
    return name !== undefined && !LIBRARIES[name]?.some((room) => one.file.startsWith(`${room}/`));
  });
  assert.deepEqual(
    wrong.map((one) => show(one.file, one.line, one.text)),
    [],
  );
});

test('the environment is read in config, main and cli only', () => {
  assert.deepEqual(
    matches(/\bprocess\.env\b/, (file) => !file.startsWith('config/') && file !== 'main.ts' && file !== 'cli.ts'),
    [],
  );
});

test('nothing is typed any', () => {
  assert.deepEqual(
    matches(/(?:[:<,|&([=]|\bas|\bextends|=>)\s*any\b(?!\s*[(.'])/, () => true),
    [],
  );
});

test('every file is short and named for its thought', () => {
  const everywhere = ['src', 'test', 'loadtest'].flatMap((top) =>
    sourceFiles(join(root, top)).map((file) => join(top, file)),
  );
  const wrong = everywhere.flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    return [
      ...(lines > 400 ? [`${file} has ${lines} lines`] : []),
      ...(/(?:^|\/)(?:utils?|helpers?|types|index|common|misc)\.ts$/.test(file)
        ? [`${file} is named for nothing`]
        : []),
    ];
  });
  assert.deepEqual(wrong, []);
});

/** Lines of code, without comments and strings, that match. */
function matches(pattern: RegExp, among: (file: string) => boolean): string[] {
  return files.filter(among).flatMap((file) => {
    const lines = proseless(readFileSync(join(src, file), 'utf8')).split('\n');
    return lines.flatMap((line, at) => (pattern.test(line) ? [show(file, at + 1, line.trim())] : []));
  });
}

test('nothing of the project is hidden from git by a name it shares with something else', () => {
  const patterns = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean);
  const loose = patterns.filter((pattern) => !pattern.startsWith('/') && !pattern.startsWith('*.'));
  assert.deepEqual(loose, []);
});
