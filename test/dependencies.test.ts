import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sourceFiles } from './architecture/source.ts';

const root = join(import.meta.dirname, '..');

/** Used by their command, or by the compiler for the types of a library, and imported nowhere. */
const TOOLS = ['@biomejs/biome', 'typescript', '@types/k6', '@types/node', '@types/opossum'];

test('every dependency is imported somewhere, or is a known tool', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const used = new Set(
    ['src', 'loadtest', 'deploy', 'test'].flatMap((top) =>
      sourceFiles(join(root, top)).flatMap((file) => packagesIn(readFileSync(join(root, top, file), 'utf8'))),
    ),
  );
  const isUsed = (name: string): boolean => used.has(name) || TOOLS.includes(name);
  const declared = Object.keys({ ...dependencies, ...devDependencies });
  assert.deepEqual(
    declared.filter((name) => !isUsed(name)),
    [],
  );
  assert.deepEqual(
    TOOLS.filter((name) => !declared.includes(name)),
    [],
  );
});

/** Packages that a text imports or resolves: `@scope/name` or `name`, without the path inside. */
function packagesIn(text: string): string[] {
  const named = text.matchAll(
    /(?:\bfrom|\bimport|\bimport\(|\bimport\.meta\.resolve\()\s*['"`]((?:@[\w-]+\/)?[\w-]+)/g,
  );
  return [...named].map(([, name = '']) => name);
}
