import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { reportPage } from '../../../src/drills/page/report-page.ts';
import { startBrowser, type TestBrowser } from '../../e2e/browser.ts';
import { LOW_CONTRAST } from '../../e2e/contrast.ts';
import { journalOf, STAGED } from '../../fakes/journal.ts';
import { SCENES } from '../../fakes/journal-scenes.ts';

/** Texts of the plots that stick out of the page: what an SVG lets overflow does not widen the document. */
const OUTSIDE = `[...document.querySelectorAll('svg.drawing text, svg.values text')].flatMap((text) => {
  const box = text.getBoundingClientRect();
  return box.width > 0 && (box.left < 0 || box.right > innerWidth) ? [text.textContent] : [];
})`;

suite('the report in a browser', () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser?.close());

  for (const [name, scene] of Object.entries(SCENES)) {
    test(`${name}: fits a light desk and a dark telephone, and complains of nothing`, async () => {
      const html = reportPage(scene());
      for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
      ] as const) {
        const { page, complaints } = await browser.open({ colorScheme, viewport: { width, height: 900 } });
        await page.setContent(html);
        const where = `${width} px, ${colorScheme}`;
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, where);
        assert.deepEqual(await page.evaluate(OUTSIDE), [], where);
        assert.deepEqual(await page.evaluate(LOW_CONTRAST), [], where);
        assert.deepEqual(complaints, [], where);
        await page.context().close();
      }
    });
  }

  test('endless words of operators widen nothing', async () => {
    const word = 'x'.repeat(400);
    const plan = { ...STAGED, title: word, stages: STAGED.stages.map((stage) => ({ ...stage, title: word })) };
    const verdict = { kind: 'aborted', detail: word } as const;
    const html = reportPage(journalOf({ plan, reason: word, domains: [word, 'auto'], end: { atMs: 90_000, verdict } }));
    for (const width of [1280, 390]) {
      const { page } = await browser.open({ viewport: { width, height: 900 } });
      await page.setContent(html);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      await page.context().close();
    }
  });

  test('the browser takes it for well-formed XML as well', async () => {
    const { page } = await browser.open();
    const fault = `(text) => new DOMParser().parseFromString(text, 'application/xml').querySelector('parsererror')?.textContent ?? ''`;
    for (const scene of Object.values(SCENES)) {
      const text = JSON.stringify(reportPage(scene()));
      assert.equal(await page.evaluate(`(${fault})(${text})`), '');
    }
    await page.context().close();
  });

  test('plots are drawn: the curves have a size, the backdrop that they share is there', async () => {
    const { page } = await browser.open();
    await page.setContent(reportPage(SCENES['failed-by-guard']?.() ?? assert.fail()));
    const flat = `[...document.querySelectorAll('svg.drawing')].filter((svg) => {
      const has = (query) => [...svg.querySelectorAll(query)].some((part) => part.getBoundingClientRect().width > 100);
      return !has('path') || !has('use');
    }).length`;
    assert.equal(await page.evaluate('document.querySelectorAll("svg.drawing").length'), 11);
    assert.equal(await page.evaluate(flat), 0);
    await page.context().close();
  });

  test('on paper the colours are those of paper, whatever the screen prefers', async () => {
    const { page } = await browser.open({ colorScheme: 'dark', viewport: { width: 700, height: 900 } });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setContent(reportPage(SCENES['passed']?.() ?? assert.fail()));
    assert.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(29, 31, 33)');
    assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('table')).display`), 'table');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 700);
    await page.context().close();
  });
});
