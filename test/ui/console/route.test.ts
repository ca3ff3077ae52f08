import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Script } from 'node:vm';
import { type ConsoleService, startConsoleService, TOKEN } from '../../e2e/console-harness.ts';

describe('GET /ops', () => {
  let service: ConsoleService;
  before(async () => {
    service = await startConsoleService({ token: TOKEN });
  });
  after(() => service.stop());
  const get = (path: string, init?: RequestInit) => fetch(service.baseUrl + path, init);
  const textOf = async (path: string) => (await get(path)).text();

  it('needs no token, has a strict policy and nothing inline', async () => {
    const response = await get('/ops');
    assert.equal(response.status, 200);
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|data:|blob:|https?:/);
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    assert.doesNotMatch(await response.text(), /<style|style=|<script(?![^>]+src=)| on\w+=/);
  });

  it('the frame for reports allows styles and no scripts', async () => {
    const policy = (await get('/ops/report')).headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; style-src 'unsafe-inline';/);
    assert.doesNotMatch(policy, /script-src|connect-src/);
    assert.match(policy, /frame-ancestors 'self'/);
  });

  it('its data needs the token', async () => {
    for (const path of ['/admin/live', '/admin/domains', '/admin/drills', '/admin/audit']) {
      assert.equal((await get(path)).status, 401, path);
    }
  });

  it('every file of the document is served, typed and cached permanently, and its modules are one script', async () => {
    const html = await textOf('/ops');
    const asked = [...html.matchAll(/(?:src|href)="(\/ops\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.deepEqual(
      asked.map((path) => path.replace(/^.*\//, '')),
      ['icon.svg', 'main.css', 'main.mjs'],
    );
    for (const path of asked) {
      const response = await get(path);
      assert.equal(response.status, 200, path);
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.match(response.headers.get('etag') ?? '', /^"[\w-]{16}(-gz|-br)?"$/);
      if (!path.endsWith('.mjs')) continue;
      assert.match(response.headers.get('content-type') ?? '', /^text\/javascript/);
      const script = await response.text();
      assert.doesNotThrow(() => new Script(script));
      assert.doesNotMatch(script, /^(?:import|export)\b/m);
    }
  });

  it('no other file is served', async () => {
    for (const path of ['route.ts', 'tsconfig.json', 'view/page.ts', 'main.ts', '__proto__']) {
      assert.equal((await get(`/ops/assets/x/${path}`)).status, 404, path);
    }
  });
});
