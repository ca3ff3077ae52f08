import assert from 'node:assert/strict';
import { Script } from 'node:vm';

/** The page has a strict policy, and nothing inline. @returns its policy */
export async function assertStrict(response: Response): Promise<string> {
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|\*|data:|blob:|https?:/);
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
  assert.doesNotMatch(await response.text(), /<style|style=|<script(?![^>]+src=)| on\w+=/);
  return policy;
}

const TYPES: Readonly<Record<string, RegExp>> = {
  'icon.svg': /^image\/svg/,
  'main.css': /^text\/css/,
  'main.mjs': /^text\/javascript/,
};

/** Every file of a page is typed, cached permanently and revalidated by a strong tag; its modules are one script. */
export async function assertFiles(baseUrl: string, path: string): Promise<void> {
  const html = await (await fetch(baseUrl + path)).text();
  const head = html.slice(0, html.indexOf('</head>'));
  const files = [...head.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file = '']) => file);
  const names = files.map((file) => file.replace(/^.*\//, ''));
  assert.deepEqual(names, Object.keys(TYPES));
  for (const [i, file] of files.entries()) {
    const response = await fetch(baseUrl + file);
    assert.equal(response.status, 200, file);
    assert.match(response.headers.get('content-type') ?? '', TYPES[names[i] ?? ''] ?? assert.fail(file));
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    const etag = response.headers.get('etag') ?? '';
    assert.match(etag, /^"[\w-]{16}(-gz|-br)?"$/);
    assert.equal((await fetch(baseUrl + file, { headers: { 'if-none-match': etag } })).status, 304);
    if (!file.endsWith('.mjs')) continue;
    const script = await response.text();
    assert.doesNotThrow(() => new Script(script));
    assert.doesNotMatch(script, /^(?:import|export)\b/m);
  }
}
