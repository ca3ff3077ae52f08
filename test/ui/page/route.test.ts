import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SearchError } from '../../../src/resilience/search-error.ts';
import { type FakePageService, startFakePageService } from '../../e2e/page-harness.ts';
import { publicServer } from '../../http/harness.ts';
import { assertFiles, assertStrict } from '../files.ts';

describe('GET /', () => {
  let service: FakePageService;
  before(async () => {
    service = await startFakePageService();
  });
  after(() => service.stop());
  const get = (path: string, init?: RequestInit) => fetch(service.baseUrl + path, init);

  it('sends a strict policy and nothing inline', async () => {
    const response = await get('/?q=iphone');
    await assertStrict(response);
    assert.match(response.headers.get('server-timing') ?? '', /^search;dur=[\d.]+$/);
  });

  it('answers HEAD like GET, without the page', async () => {
    const response = await get('/', { method: 'HEAD' });
    assert.equal(response.status, 200);
    assert.ok(Number(response.headers.get('content-length')) > 1000);
    assert.equal(await response.text(), '');
  });

  it('is in the preferred language, and in Russian for a Russian query', async () => {
    const language = async (path: string, header: string) =>
      (await (await get(path, { headers: { 'accept-language': header } })).text()).match(/<html lang="(\w+)"/)?.[1];
    assert.equal(await language('/', 'de, ru;q=0.8, en;q=0.3'), 'ru');
    assert.equal(await language('/', 'en-GB, ru;q=0.8'), 'en');
    assert.equal(await language('/', 'de'), 'en');
    assert.equal(await language('/?q=ёж', 'en'), 'ru');
    assert.equal(await language('/?q=iphone', 'ru'), 'ru');
  });

  it('shows a refusal as a page, with the status of /search', async () => {
    const cases = {
      '/?q=%ff': 400,
      '/?q=a%00b': 400,
      [`/?q=${'a'.repeat(257)}`]: 400,
      '/?q=a&domain=nope': 404,
      '/?q=a&page=0': 400,
      '/?q=a&page=51': 400,
      '/?q=a&sort=city': 400,
      '/?q=a&filter=price:x': 400,
      '/?q=2107&domain=auto&region=moon': 400,
      '/?q=a&q=b': 400,
      '/?q=&q=b': 400,
      '/?q=a&domain=goods&domain=auto': 404,
      '/?q=a&page=1&page=2': 400,
      '/?q=2107&domain=auto&region=msk&region=spb': 400,
      '/?q=a&price.from=1&price.from=2': 400,
    };
    for (const [path, status] of Object.entries(cases)) {
      const response = await get(path);
      assert.equal(response.status, status, path);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.match(await response.text(), /role="alert"/);
    }
  });

  it('says which parameter was given twice', async () => {
    const html = await (await get('/?q=a&q=b')).text();
    assert.match(html, /role="alert".*&quot;q&quot; may be given only once/);
  });

  it('accepts 256 characters, also those of two UTF-16 units', async () => {
    const emoji = '🦊'.repeat(256);
    assert.equal((await get(`/?q=${emoji}`)).status, 200);
    assert.equal((await get(`/?q=${emoji}🦊`)).status, 400);
    const html = await (await get('/')).text();
    assert.doesNotMatch(html, /maxlength/);
  });

  it('without results links the same query in every other domain, without its filters', async () => {
    const html = await (await get('/?q=ваз+2107&filter=city:Тула&limit=5')).text();
    const [, links = ''] = html.match(/<ul class="elsewhere">(.*?)<\/ul>/) ?? assert.fail('no links');
    const hrefs = [...links.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
    assert.deepEqual(hrefs, [`/?${new URLSearchParams({ q: 'ваз 2107', domain: 'auto', limit: '5' })}`]);
    assert.match(await (await get(hrefs[0] ?? '')).text(), /class="list"/);
    assert.doesNotMatch(await (await get('/?q=iphone')).text(), /elsewhere/);
  });

  it('counts its search once, with its outcome', async () => {
    service.events.length = 0;
    for (const path of ['/', '/?q=puma', '/?q=puma', '/?q=puma&domain=nope', '/?q=%ff']) await (await get(path)).text();
    service.search.before = () => Promise.reject(new SearchError('engine-deadline'));
    assert.equal((await get('/?q=puma+suede')).status, 504);
    service.search.before = async () => {};
    const told = service.events.map(({ outcome, domain, status }) => `${outcome} ${domain} ${status}`);
    assert.deepEqual(told, [
      'engine goods 200',
      'hit-l1 goods 200',
      'rejected none 404',
      'rejected none 400',
      'failed goods 504',
    ]);
  });

  it('makes the same search as its script, so that both share one entry', async () => {
    await (await get('/?q=reebok&filter=category:обувь&sort=-price&utm_source=x')).text();
    const response = await get(
      '/search?q=reebok&domain=goods&sort=-price&filter=category:%D0%BE%D0%B1%D1%83%D0%B2%D1%8C&facet=category&facet=city',
    );
    assert.match(response.headers.get('cache-status') ?? '', /^serpcache-l1; hit/);
  });

  it('passes declared context to the search, and no other parameter', async () => {
    const seen: string[] = [];
    service.search.before = async ({ canonical }) => void seen.push(canonical);
    await (await get('/?q=2107&domain=auto&region=spb&utm_source=x')).text();
    service.search.before = async () => {};
    assert.match(seen[0] ?? '', /spb/);
    assert.doesNotMatch(seen[0] ?? '', /utm/);
  });

  it('its files are typed, cached permanently and revalidated, and its modules are one script', () =>
    assertFiles(service.baseUrl, '/'));

  it('files of another release get the current file, which is not cached', async () => {
    const response = await get('/assets/page/older/main.mjs');
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'no-cache');
  });

  it('these files are the only ones served: nothing above or beside their folder is found', async () => {
    for (const path of [
      'x/../route.ts',
      'x/%2e%2e/route.ts',
      'x/tsconfig.json',
      'x/',
      'x/view/page.mjs',
      'x/..%2froute.ts',
      'x/__proto__',
    ]) {
      const response = await get(`/assets/page/${path}`);
      assert.equal(response.status, 404, path);
      assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
      const problem = (await response.json()) as { type: string; code: string };
      assert.equal(problem.type, 'urn:problem-type:serpcache:not-found', path);
      assert.equal(problem.code, 'not-found', path);
    }
  });
});

describe('an address longer than the limit', () => {
  it('is refused by every route, and by the page with a readable page', async (context) => {
    const { server } = publicServer(context, { maxUrlBytes: 1024 });
    const asked = (path: string) => server.app.inject({ url: `${path}?q=${'a'.repeat(1024)}` });
    for (const path of [
      '/search',
      '/readyz',
      '/healthz',
      '/docs/',
      '/openapi.json',
      '/assets/page/x/main.mjs',
      '/nothing',
    ]) {
      const { statusCode, headers } = await asked(path);
      assert.deepEqual([statusCode, headers['content-type']], [414, 'application/problem+json'], path);
    }
    const page = await asked('/');
    assert.deepEqual([page.statusCode, page.headers['content-type']], [414, 'text/html; charset=utf-8']);
    assert.match(page.payload, /role="alert".*A URL may have at most 1024 bytes/);
  });
});

describe('the filters in force', () => {
  it('have a chip for each value, and with very many values a chip for each filter: the page stays below 1 MiB', async (context) => {
    const { server } = publicServer(context, { maxUrlBytes: 16 * 1024 });
    const chips = async (filter: string) => {
      const { payload } = await server.app.inject({ url: `/?q=a&filter=${filter}` });
      assert.ok(payload.length < 2 ** 20, String(payload.length));
      return payload.match(/class="chips".*?<\/nav>/s)?.[0].match(/<li>/g)?.length;
    };
    assert.equal(await chips('category:a,b,c'), 3 + 1);
    assert.equal(await chips(`category:${'a,'.repeat(7000)}`), 1 + 1);
  });
});
