import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describeInBrowser, LOW_CONTRAST, submit, tabTo } from './browser.ts';
import { numberIn, type PageService, pricesOf, titlesOf, totalOf } from './page-harness.ts';

/** A query of the first domain with several pages of results, facets with a city among them, and a sortable price. */
const QUERY = 'кроссовки';
/** A query without a cache entry, also on a service that was searched before. */
const newQuery = (): string => `${QUERY} ${randomUUID()}`;

/**
 * User journeys on the page in Chromium, over any service with the page. Every journey also asserts that the browser
 * logged no error and no refused script or style.
 */
export function pageJourneys(name: string, start: () => Promise<PageService>): void {
  describeInBrowser(name, start, ({ service, open }) => {
    const journey = (
      fact: string,
      walk: (page: Page) => Promise<void>,
      options: BrowserContextOptions & { path?: string } = {},
    ) =>
      it(fact, async () => {
        const { path = '/', ...context } = options;
        const { page, complaints } = await open(context);
        await page.goto(service().baseUrl + path);
        await walk(page);
        assert.deepEqual(complaints, []);
      });

    const asked = `/?q=${encodeURIComponent(QUERY)}`;

    journey('typing a query and pressing Enter brings results without loading the page anew', async (page) => {
      await page.evaluate('window.stillHere = true');
      await submit(page, '#query', QUERY);
      await page.waitForSelector('.list li h3');
      assert.equal(await page.evaluate('window.stillHere'), true);
      assert.equal(new URL(page.url()).searchParams.get('q'), QUERY);
      assert.equal(await page.locator('h1').textContent(), QUERY);
      assert.match((await page.locator('.snippet em').first().textContent()) ?? '', /кроссовк/i);
      assert.equal(await page.locator('html').getAttribute('lang'), 'ru');
      assert.equal(await page.title(), `${QUERY} · serpcache`);
    });

    journey('the same search a second time is answered from memory', async (page) => {
      const query = newQuery();
      await submit(page, '#query', query);
      await page.waitForSelector('[data-source=engine]');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[data-source=memory]');
      assert.match((await page.locator('[role=status]').textContent()) ?? '', /из памяти · [^,·]+ всего/);
    });

    journey(
      'a facet narrows the results, is shown as a filter and can be removed',
      async (page) => {
        const all = await totalOf(page);
        const choice = page.locator('.choice').first();
        const value = (await choice.locator('.value').textContent()) ?? '';
        const count = numberIn(await choice.locator('.count').textContent());
        await choice.click();
        await page.waitForSelector('.chips');
        assert.match(
          new URL(page.url()).searchParams.get('filter') ?? '',
          new RegExp(`^\\w+:${RegExp.escape(value)}$`),
        );
        assert.equal(await totalOf(page), count);
        assert.match(
          (await page.locator('.choice[aria-current]').textContent()) ?? '',
          new RegExp(RegExp.escape(value)),
        );
        assert.equal(await page.evaluate('document.activeElement.dataset.focus.length > 0'), true);
        await page.locator('.chips a').first().click();
        await page.waitForSelector('.chips', { state: 'detached' });
        assert.equal(await totalOf(page), all);
      },
      { path: asked },
    );

    journey(
      'a price range written in the form becomes a filter',
      async (page) => {
        const all = await totalOf(page);
        await page.fill('input[name="price.to"]', '3000');
        await page.click('.ranges button');
        await page.waitForSelector('.chips');
        assert.equal(new URL(page.url()).searchParams.get('filter'), 'price:..3000');
        assert.ok((await totalOf(page)) < all);
        await page.click('.chips .plain');
        await page.waitForSelector('.chips', { state: 'detached' });
        assert.equal(await page.inputValue('input[name="price.to"]'), '');
      },
      { path: asked },
    );

    journey(
      'sorting by price puts the cheapest first, and a second click the most expensive',
      async (page) => {
        const byPrice = page.locator('.sorts a', { hasText: 'Цена' });
        await byPrice.click();
        await page.waitForSelector('.sorts a[aria-current]:has-text("↑")');
        const rising = await pricesOf(page);
        assert.deepEqual(
          rising,
          rising.toSorted((a, b) => a - b),
        );
        await byPrice.click();
        await page.waitForSelector('.sorts a[aria-current]:has-text("↓")');
        const falling = await pricesOf(page);
        assert.deepEqual(
          falling,
          falling.toSorted((a, b) => b - a),
        );
      },
      { path: asked },
    );

    journey(
      'the pager and the back button show the results and the address of their page',
      async (page) => {
        const first = await titlesOf(page);
        await page.click('.pager [rel=next]');
        await page.waitForSelector('.pager [aria-current=page]:text-is("2")');
        assert.equal(new URL(page.url()).searchParams.get('page'), '2');
        assert.equal(await page.locator('.list').getAttribute('start'), '21');
        assert.equal(await page.evaluate('document.activeElement.localName'), 'h1');
        assert.notDeepEqual(await titlesOf(page), first);
        await page.goBack();
        await page.waitForSelector('.pager [aria-current=page]:text-is("1")');
        assert.equal(new URL(page.url()).searchParams.get('page'), null);
        assert.deepEqual(await titlesOf(page), first);
        await page.goForward();
        await page.waitForSelector('.pager [aria-current=page]:text-is("2")');
      },
      { path: asked },
    );

    journey('going back over two queries restores the box with the results', async (page) => {
      for (const query of [QUERY, 'iphone 13']) {
        await submit(page, '#query', query);
        await page.waitForSelector(`h1:text-is("${query}")`);
      }
      await page.goBack();
      await page.waitForSelector(`h1:text-is("${QUERY}")`);
      assert.equal(await page.inputValue('#query'), QUERY);
      await page.goBack();
      await page.waitForSelector('h1.start');
      assert.equal(await page.inputValue('#query'), '');
    });

    journey(
      'with the keyboard alone one can search, filter, turn the page and return to the box',
      async (page) => {
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
        await page.keyboard.press('/');
        assert.equal(await page.evaluate('document.activeElement.id'), 'query');
        await page.keyboard.type(QUERY);
        await page.keyboard.press('Enter');
        // Only a fetched answer has a total time.
        await page.waitForSelector('.took:has-text("всего")');
        assert.equal(await page.evaluate('document.activeElement.id'), 'query');
        await tabTo(page, '.choice');
        assert.ok(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle !== "none"'));
        await page.keyboard.press('Enter');
        await page.waitForSelector('.chips');
        assert.ok(await page.evaluate('document.activeElement.matches(".choice[aria-current]")'));
        await page.keyboard.press('Enter');
        await page.waitForSelector('.chips', { state: 'detached' });
        await tabTo(page, '.pager [rel=next]');
        await page.keyboard.press('Enter');
        await page.waitForSelector('.pager [aria-current=page]:text-is("2")');
        await page.keyboard.press('/');
        assert.equal(await page.evaluate('getSelection().toString()'), QUERY);
      },
      { path: asked },
    );

    journey(
      'without scripts the page has results, filters and pages',
      async (page) => {
        assert.equal(await page.locator('.list > li').count(), 20);
        const city = page.locator('[aria-labelledby=facet-city] .choice').first();
        const count = numberIn(await city.locator('.count').textContent());
        await city.click();
        await page.waitForSelector('.chips');
        assert.equal(await totalOf(page), count);
        await page.goto(`${service().baseUrl}${asked}&page=2`);
        assert.equal(await page.locator('.list').getAttribute('start'), '21');
        await submit(page, '#query', 'iphone 13');
        await page.waitForSelector('h1:text-is("iphone 13")');
        assert.match((await page.locator('.source').textContent()) ?? '', /engine|memory|store/);
      },
      { path: asked, javaScriptEnabled: false },
    );

    for (const width of [390, 1280]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        journey(
          `at ${width} px in ${colorScheme} nothing scrolls sideways and every text has a contrast of 4.5`,
          async (page) => {
            await page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })');
            assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
            assert.deepEqual(await page.evaluate(LOW_CONTRAST), []);
          },
          { path: asked, viewport: { width, height: 844 }, colorScheme },
        );
      }
    }

    journey(
      'a page without results says what to try',
      async (page) => {
        assert.equal(await page.locator('.notice .lead').textContent(), 'Nothing found');
        assert.match((await page.locator('.notice').textContent()) ?? '', /Check the spelling/);
      },
      { path: '/?q=qqzzxxwwvv' },
    );
  });
}
