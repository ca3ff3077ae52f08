import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConsoleService, startConsoleService, TOKEN } from '../../e2e/console-harness.ts';
import { assertFiles, assertStrict } from '../files.ts';

describe('GET /ops', () => {
  let service: ConsoleService;
  before(async () => {
    service = await startConsoleService({ token: TOKEN });
  });
  after(() => service.stop());
  const get = (path: string, init?: RequestInit) => fetch(service.baseUrl + path, init);

  it('needs no token, has a strict policy and nothing inline', async () => {
    const response = await get('/ops');
    assert.equal(response.status, 200);
    assert.match(await assertStrict(response), /frame-ancestors 'none'/);
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

  it('its files are typed, cached permanently and revalidated, and its modules are one script', () =>
    assertFiles(service.baseUrl, '/ops'));

  it('no other file is served', async () => {
    for (const path of ['route.ts', 'tsconfig.json', 'view/page.ts', 'main.ts', '__proto__']) {
      assert.equal((await get(`/ops/assets/x/${path}`)).status, 404, path);
    }
  });
});
