import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { reportPage } from '../../../../src/operations/drills/report/report-page.ts';
import { assertFits, assertWidensNothing, startBrowser, type TestBrowser } from '../../../e2e/browser.ts';
import { journalOf, SCENES, STAGED } from '../../../fakes/journal.ts';

const PAGES = Object.fromEntries(Object.entries(SCENES).map(([name, scene]) => [name, reportPage(scene())]));

// Each test has its own browser context.
suite('the report in a browser', { concurrency: 3 }, () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser?.close());

  for (const [name, html] of Object.entries(PAGES)) {
    test(`${name}: fits a desktop in light mode and a telephone in dark mode, without console messages`, async () => {
      await assertFits(browser, html);
    });
  }

  test('very long words of operators do not make the page wider', async () => {
    const word = 'x'.repeat(400);
    const plan = { ...STAGED, title: word, stages: STAGED.stages.map((stage) => ({ ...stage, title: word })) };
    const verdict = { kind: 'aborted', detail: word } as const;
    const html = reportPage(journalOf({ plan, reason: word, domains: [word, 'auto'], end: { atMs: 90_000, verdict } }));
    await assertWidensNothing(browser, html);
  });

  test('the browser also accepts the page as XML', async () => {
    const { page } = await browser.open();
    const fault = `(text) => new DOMParser().parseFromString(text, 'application/xml').querySelector('parsererror')?.textContent ?? ''`;
    for (const html of Object.values(PAGES)) {
      const text = JSON.stringify(html);
      assert.equal(await page.evaluate(`(${fault})(${text})`), '');
    }
    await page.context().close();
  });

  test('every plot is drawn: its curves have a size, and the shared backdrop exists', async () => {
    const { page } = await browser.open();
    await page.setContent(PAGES['failed-by-guard'] ?? assert.fail());
    const flat = `[...document.querySelectorAll('svg.drawing')].filter((svg) => {
      const has = (query) => [...svg.querySelectorAll(query)].some((part) => part.getBoundingClientRect().width > 100);
      return !has('path') || !has('use');
    }).length`;
    assert.equal(await page.evaluate('document.querySelectorAll("svg.drawing").length'), 11);
    assert.equal(await page.evaluate(flat), 0);
    await page.context().close();
  });

  test('printed pages have the light colours, also when the screen is dark', async () => {
    const { page } = await browser.open({ colorScheme: 'dark', viewport: { width: 700, height: 900 } });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setContent(PAGES['passed'] ?? assert.fail());
    assert.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(29, 31, 33)');
    assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('table')).display`), 'table');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 700);
    await page.context().close();
  });
});
