import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { bundle } from '../../../src/ui/shared/assets.ts';

function bundled(files: Readonly<Record<string, string>>): string {
  return bundle('/page/main.mjs', (file) => files[file] ?? assert.fail(`${file} was read`));
}

test('every form of import and export that the modules use has the same meaning in a bundle', () => {
  const script = bundled({
    '/page/main.mjs': [
      "import { Problem, sum as add } from './view/sum.mjs';",
      'import {',
      '  LIMIT,',
      '  later,',
      "} from './view/limit.mjs';",
      'done({ add: add(1, 2), limit: LIMIT, problem: new Problem().name, later });',
    ].join('\n'),
    '/page/view/sum.mjs':
      "import { LIMIT } from './limit.mjs';\nexport function sum(a, b) {\n  return a + b + LIMIT;\n}\nexport class Problem {\n  name = 'problem';\n}",
    '/page/view/limit.mjs': 'export const LIMIT = 10;\nexport async function* later() {}\nexport {};',
  });
  const seen: Record<string, unknown>[] = [];
  runInNewContext(script, { done: (found: Record<string, unknown>) => seen.push(found) });
  assert.partialDeepStrictEqual(seen, [{ add: 13, limit: 10, problem: 'problem' }]);
  assert.equal(typeof seen[0]?.['later'], 'function');
});

test('a module that two others import runs once, before both, and its own names stay its own', () => {
  const script = bundled({
    '/page/main.mjs':
      "import { a } from './a.mjs';\nimport { b } from './b.mjs';\nconst own = 'main';\nnote(a + b + own);",
    '/page/a.mjs': "import { c } from './c.mjs';\nconst own = 'a';\nexport const a = own + c;",
    '/page/b.mjs': "import { c } from './c.mjs';\nconst own = 'b';\nexport const b = own + c;",
    '/page/c.mjs': "note('c runs');\nexport const c = 1;",
  });
  const noted: string[] = [];
  runInNewContext(script, { note: (text: string) => noted.push(text) });
  assert.deepEqual(noted, ['c runs', 'a1b1main']);
});

test('block comments on lines of their own are left out, and no path of the machine gets in', () => {
  const script = bundled({ '/page/main.mjs': '/**\n * For readers.\n */\nconst a = /** @type {1} */ (1);' });
  assert.doesNotMatch(script, /For readers|\/page\//);
  assert.match(script, /const a = \/\*\* @type \{1\} \*\/ \(1\);/);
});

test('code between a comment before a parameter and a later block comment stays', () => {
  const source = 'const f = (\n  /** @type {number} */ n,\n) => n + 1;\n/** Later. */\nnote(f(1));';
  const noted: number[] = [];
  runInNewContext(bundled({ '/page/main.mjs': source }), { note: (n: number) => noted.push(n) });
  assert.deepEqual(noted, [2]);
});

test('modules that import each other are refused by name', () => {
  const files = { '/page/main.mjs': "import { a } from './a.mjs';", '/page/a.mjs': "import { b } from './main.mjs';" };
  assert.throws(() => bundled(files), /main\.mjs → a\.mjs → main\.mjs/);
});

for (const line of [
  "import a from './a.mjs';",
  "import * as all from './a.mjs';",
  "import './a.mjs';",
  "export * from './a.mjs';",
  "export { a } from './a.mjs';",
  'export default a;',
  'export default function () {}',
  'export const { a } = all;',
  'export let a = 1;',
]) {
  test(`a form that would mean something else in a bundle is refused: ${line}`, () => {
    assert.throws(() => bundled({ '/page/main.mjs': line, '/page/a.mjs': '' }), {
      message: `main.mjs cannot be bundled: ${line}`,
    });
  });
}
