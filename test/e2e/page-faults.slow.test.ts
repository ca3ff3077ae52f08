import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { describePage, HOSTILE_MARKUP } from './page-harness.ts';

describePage('the page when things go wrong', ({ service, open, at }) => {
  it('markup in a document is text, on the first page and on fetched pages', async () => {
    const { page, complaints } = await open();
    await page.goto(at({ q: 'пакость' }));
    for (const visit of ['first', 'fetched', 'filtered by the hostile value']) {
      assert.equal(await page.locator('.list h3').textContent(), `пакость ${HOSTILE_MARKUP}`, visit);
      assert.equal(await page.locator('.list em').first().textContent(), 'пакость');
      assert.equal(await page.locator('#app img, #app script, #app svg').count(), 0);
      if (visit === 'first') await page.click('.search button');
      if (visit === 'fetched') await page.locator('.choice', { hasText: 'with a comma' }).click();
      await page.waitForSelector(visit === 'first' ? '.took:has-text("всего")' : '.chips');
    }
    assert.deepEqual(complaints, []);
  });

  it('markup in the address is text: query, domain, filter, sort, page', async () => {
    const { page, complaints } = await open();
    for (const [name, status] of Object.entries({ q: 200, domain: 404, filter: 400, sort: 400, page: 400 })) {
      const response = await page.goto(at({ q: 'кроссовки', [name]: HOSTILE_MARKUP }));
      assert.equal(response?.status(), status, name);
      await page.click('.search button');
      await page.waitForSelector('#app:not([aria-busy])');
      assert.equal(await page.locator('#app img, #app script').count(), 0);
      // The browser logs every refused fetch; another message would come from the markup.
      assert.deepEqual(
        complaints.filter((text) => !text.startsWith('Failed to load resource')),
        [],
        name,
      );
    }
  });

  it('an engine that does not escape can write no markup but <em> into the page', async () => {
    const { page, complaints } = await open();
    await page.goto(at({}));
    const snippet =
      '<em>a</em><img src=x onerror=alert(1)><em onclick=alert(2)>b</em>&lt;i&gt;<script>alert(3)</script>';
    const results = [{ id: '1', title: 't', snippet, score: 1, attributes: {} }];
    const answer = {
      query: 'a',
      domain: 'goods',
      page: 1,
      limit: 20,
      total: 1,
      totalRelation: 'eq',
      results,
      facets: {},
    };
    await page.route('**/search?*', (route) => route.fulfill({ json: answer }));
    await page.fill('#query', 'a');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.snippet');
    assert.equal(
      await page.locator('.snippet').innerHTML(),
      '<em>a</em>&lt;img src=x onerror=alert(1)&gt;&lt;em onclick=alert(2)&gt;b&lt;i&gt;&lt;script&gt;alert(3)&lt;/script&gt;',
    );
    assert.deepEqual(complaints, []);
  });

  it('a shed search says when to try again, with and without scripts, and the second try works', async () => {
    service().search.before = () => Promise.reject(new SearchError('queue-full', undefined, { retryAfterMs: 3000 }));
    const plain = await open({ javaScriptEnabled: false });
    const response = await plain.page.goto(at({ q: 'asics gel' }));
    assert.equal(response?.status(), 503);
    assert.equal(response?.headers()['retry-after'], '3');
    assert.match((await plain.page.locator('[role=alert]').textContent()) ?? '', /Too many searches.*again in 3 sec/);

    const { page } = await open();
    await page.goto(at({}));
    await page.fill('#query', 'asics gel');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
    assert.match((await page.locator('[role=alert]').textContent()) ?? '', /Too many searches.*again in 3 sec/);
    service().search.before = async () => {};
    await page.click('[role=alert] .button');
    await page.waitForSelector('.list li');
  });

  it('a refused filter lists the allowed ones and offers the query without filters', async () => {
    const { page } = await open({ locale: 'ru-RU' });
    await page.goto(at({ q: 'кроссовки', filter: 'nope:1' }));
    const alert = page.locator('[role=alert]');
    assert.match((await alert.textContent()) ?? '', /не имеет смысла.*category, city, price, date/);
    assert.equal(await alert.locator('.detail').getAttribute('lang'), null);
    await alert.locator('.button').click();
    await page.waitForSelector('.list li');
    assert.equal(new URL(page.url()).searchParams.has('filter'), false);
  });

  it('an unreachable service is reported, and the page stays usable', async () => {
    const { page } = await open();
    await page.goto(at({ q: 'iphone' }));
    await page.route('**/search?*', (route) => route.abort('connectionrefused'));
    await page.click('.sorts a >> nth=1');
    await page.waitForSelector('[role=alert]');
    assert.match((await page.locator('[role=alert]').textContent()) ?? '', /cannot be reached/);
    await page.unroute('**/search?*');
    await page.click('[role=alert] .button');
    await page.waitForSelector('.sorts a[aria-current]:has-text("Price")');
  });

  it('a newer search aborts the older one, whose late answer is never shown', async () => {
    const { page, complaints } = await open();
    await page.goto(at({}));
    let release = (): void => {};
    service().search.before = ({ request }) =>
      request.text === 'slow' ? new Promise((resolve) => (release = resolve)) : Promise.resolve();
    const aborted = page.waitForEvent('requestfailed');
    await page.fill('#query', 'slow');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=status]:has-text("Searching")');
    await page.fill('#query', 'iphone');
    await page.keyboard.press('Enter');
    assert.match((await aborted).url(), /q=slow/);
    await page.waitForSelector('h1:text-is("iphone")');
    release();
    await page.click('.search button');
    await page.waitForSelector('[data-source=memory]');
    assert.equal(await page.locator('h1').textContent(), 'iphone');
    assert.deepEqual(complaints, []);
  });

  it('text typed while a search is in flight stays in the box', async () => {
    const { page } = await open();
    await page.goto(at({}));
    let release = (): void => {};
    service().search.before = () => new Promise((resolve) => (release = resolve));
    await page.fill('#query', 'samba');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#app[aria-busy]');
    await page.keyboard.type(' adidas');
    release();
    await page.waitForSelector('h1:text-is("samba")');
    assert.equal(await page.inputValue('#query'), 'samba adidas');
  });

  it('every source has its text: store, stale, failed engine, shared, lifeboat', async () => {
    const hit = { kind: 'hit' } as const;
    const missed = { kind: 'forward', why: 'uri-miss' } as const;
    const failed = { kind: 'forward', why: 'stale', forwardStatus: 504 } as const;
    const shared = { kind: 'forward', why: 'uri-miss', collapsed: true } as const;
    const cases = [
      [{ outcome: 'hit-l2', l1: missed, l2: hit }, 'from the store'],
      [{ outcome: 'stale', l1: hit, remainingMs: -12_000 }, 'stale, being refreshed'],
      [{ outcome: 'stale', l1: failed, remainingMs: -12_000 }, 'stale: the engine could not answer'],
      [{ outcome: 'collapsed', l1: shared }, 'computed by the engine, shared with another request'],
      [{ outcome: 'lifeboat', l1: missed }, 'from the reserve index'],
    ] as const;
    const { page } = await open();
    for (const [parts, words] of cases) {
      service().search.dress = ({ l2: _, ...answer }) => ({ ...answer, ...parts });
      await page.goto(at({ q: 'iphone 13' }));
      assert.equal(await page.locator('.source').textContent(), words);
      await page.click('.search button');
      await page.waitForSelector('.took:has-text("in all")');
      assert.equal(await page.locator('.source').textContent(), words);
    }
  });

  it('very long words break at 390 px, and nothing scrolls sideways', async () => {
    const { page } = await open({ viewport: { width: 390, height: 844 } });
    const word = 'ж'.repeat(200);
    const searches: Record<string, string>[] = [
      { q: 'бесконечное' },
      { q: word },
      { q: 'бесконечное', filter: `city:${word}` },
    ];
    for (const parameters of searches) {
      await page.goto(at(parameters));
      await page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })');
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, JSON.stringify(parameters));
    }
  });

  it('results in the other language have a lang attribute, and the page follows the query', async () => {
    const { page } = await open();
    await page.goto(at({ q: '2107', domain: 'auto' }));
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    assert.equal(await page.locator('.list h3').first().getAttribute('lang'), 'ru');
    await page.fill('#query', 'ваз 2107');
    await page.keyboard.press('Enter');
    await page.waitForSelector('html[lang=ru]');
    assert.equal(await page.locator('.search button').textContent(), 'Найти');
    assert.equal(await page.locator('.list h3').first().getAttribute('lang'), null);
  });
});
