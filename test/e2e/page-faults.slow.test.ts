import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { submit } from './browser.ts';
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

  it('a shed search says when to try again, with and without scripts, and the second try works', async () => {
    service().search.before = () => Promise.reject(new SearchError('queue-full', undefined, { retryAfterMs: 3000 }));
    const plain = await open({ javaScriptEnabled: false });
    const response = await plain.page.goto(at({ q: 'asics gel' }));
    assert.equal(response?.status(), 503);
    assert.equal(response?.headers()['retry-after'], '3');
    assert.match((await plain.page.locator('[role=alert]').textContent()) ?? '', /Too many searches.*again in 3 sec/);

    const { page } = await open();
    await page.goto(at({}));
    await submit(page, '#query', 'asics gel');
    await page.waitForSelector('[role=alert]');
    assert.match((await page.locator('[role=alert]').textContent()) ?? '', /Too many searches.*again in 3 sec/);
    service().search.before = async () => {};
    await page.click('[role=alert] .button');
    await page.waitForSelector('.list li');
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
    await submit(page, '#query', 'slow');
    await page.waitForSelector('[role=status]:has-text("Searching")');
    await submit(page, '#query', 'iphone');
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
    await submit(page, '#query', 'samba');
    await page.waitForSelector('#app[aria-busy]');
    await page.keyboard.type(' adidas');
    release();
    await page.waitForSelector('h1:text-is("samba")');
    assert.equal(await page.inputValue('#query'), 'samba adidas');
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
    await submit(page, '#query', 'ваз 2107');
    await page.waitForSelector('html[lang=ru]');
    assert.equal(await page.locator('.search button').textContent(), 'Найти');
    assert.equal(await page.locator('.list h3').first().getAttribute('lang'), null);
  });

  it('a bound typed as the page prints it is accepted, and one that is no number is refused by the input', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { page, complaints } = await open({ javaScriptEnabled });
      await page.setViewportSize({ width: 1280, height: 844 });
      await page.goto(at({ q: 'особое' }));
      await page.fill('input[name="price.from"]', '7\u00a0200\u202f000');
      await page.fill('input[name="price.to"]', '7 200 001');
      await page.click('.ranges button');
      await page.waitForSelector('.chips');
      assert.equal(await page.locator('.list h3').count(), 1);
      assert.equal(await page.inputValue('input[name="price.from"]'), '7200000');
      await page.fill('input[name="price.from"]', '1.2.3');
      await page.click('.ranges button');
      assert.equal(await page.locator('input[name="price.from"]:invalid').count(), 1);
      assert.equal(await page.locator('[role=alert]').count(), 0);
      assert.deepEqual(complaints, []);
    }
  });

  it('a long query of emoji is not cut, and one that is too long is refused by the box', async () => {
    const { page, complaints } = await open();
    await page.goto(at({}));
    await page.focus('#query');
    await page.keyboard.insertText('🦊'.repeat(200));
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice');
    assert.equal(new URL(page.url()).searchParams.get('q'), '🦊'.repeat(200));
    await page.fill('#query', '🦊'.repeat(257));
    assert.equal(await page.locator('#query:invalid').count(), 1);
    await page.fill('#query', ` ${'🦊'.repeat(256)} `);
    assert.equal(await page.locator('#query:invalid').count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('an address with two queries is refused again after going back to it', async () => {
    const { page } = await open();
    await page.goto(`${service().baseUrl}/?q=iphone&q=puma`);
    assert.match((await page.locator('[role=alert]').textContent()) ?? '', /"q" may be given only once/);
    await submit(page, '#query', 'puma');
    await page.waitForSelector('.list li');
    await page.goBack();
    await page.waitForSelector('[role=alert]');
    assert.match((await page.locator('[role=alert]').textContent()) ?? '', /"q" may be given only once/);
  });
});
