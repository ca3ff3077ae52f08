import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { contentPolicy, documentFields, INLINE_STYLES, OWN_FILES } from '../../src/http/transport/static-file.ts';
import { sourceFiles } from '../architecture/source.ts';
import { adminHarness } from './admin/harness.ts';
import { publicServer } from './harness.ts';

const src = join(import.meta.dirname, '../../src');

test('a policy allows only the named sources, and a framed page names its frame', () => {
  assert.equal(
    contentPolicy({ ...INLINE_STYLES, 'frame-ancestors': "'self'" }),
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; form-action 'none'; base-uri 'none'",
  );
  assert.match(contentPolicy({ ...OWN_FILES, sandbox: '' }), /; sandbox; form-action 'none'; base-uri 'none'; frame-/);
});

test('a sandboxed document has no opener policy, because browsers would refuse it', () => {
  assert.ok('cross-origin-opener-policy' in documentFields(contentPolicy(OWN_FILES)));
  assert.ok(!('cross-origin-opener-policy' in documentFields(contentPolicy({ sandbox: '' }))));
});

test('every answer of both listeners forbids type sniffing', async (context) => {
  const servers = [publicServer(context).server, adminHarness(context).server];
  for (const url of [
    '/',
    '/search?q=a',
    '/search',
    '/nope',
    '/docs',
    '/openapi.json',
    '/ops',
    '/metrics',
    '/admin/x',
  ]) {
    for (const { app } of servers) {
      assert.equal((await app.inject({ url })).headers['x-content-type-options'], 'nosniff', url);
    }
  }
});

test('each policy is written, and entity tags are parsed, in one file', () => {
  const files = ['http', 'ui'].flatMap((room) => sourceFiles(join(src, room)).map((file) => join(room, file)));
  const holding = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(src, file), 'utf8')));
  assert.deepEqual(holding(/'nosniff'/), ['http/transport/problem.ts']);
  assert.deepEqual(holding(/default-src/), ['http/transport/static-file.ts']);
  assert.deepEqual(holding(/\(W\\\/\)\?"|replace\(\/\^W/), ['http/transport/content-coding.ts']);
});
