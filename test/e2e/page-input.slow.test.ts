import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describePage } from './page-harness.ts';

describePage('typed input', ({ service, open, at }) => {
  it('values with a backslash or a comma are chosen and removed like any other', async () => {
    const { page, complaints } = await open();
    await page.goto(at({ q: 'особое' }));
    for (const name of ['city', 'category']) {
      await page.click(`[aria-labelledby=facet-${name}] .choice`);
      await page.waitForSelector(`[aria-labelledby=facet-${name}] .choice[aria-current]`);
      assert.equal(await page.locator('.list h3').count(), 1, name);
    }
    assert.deepEqual(new URL(page.url()).searchParams.getAll('filter'), ['city:хвост\\\\', 'category:a\\,b']);
    await page.reload();
    assert.equal(await page.locator('.list h3').count(), 1);
    assert.equal(await page.locator('.choice[aria-current]').count(), 2);
    await page.locator('.chips a', { hasText: 'хвост' }).click();
    await page.waitForSelector('.chips a:has-text("хвост")', { state: 'detached' });
    assert.deepEqual(complaints, []);
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
    await page.fill('#query', 'puma');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.list li');
    await page.goBack();
    await page.waitForSelector('[role=alert]');
    assert.match((await page.locator('[role=alert]').textContent()) ?? '', /"q" may be given only once/);
  });

  it('a query without results is one click away from its results in another domain', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { page, complaints } = await open({ javaScriptEnabled });
      await page.goto(at({ q: 'ваз 2107' }));
      await page.click('.elsewhere a');
      await page.waitForSelector('.list li');
      assert.equal(new URL(page.url()).searchParams.get('domain'), 'auto');
      assert.deepEqual(complaints, []);
    }
  });
});
