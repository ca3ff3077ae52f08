import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { compareRuns } from '../../../loadtest/judge/compare.ts';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { reportPage } from '../../../loadtest/report/page.ts';
import { plotSvg } from '../../../loadtest/report/section.ts';
import { assertFits, assertWidensNothing, DESKTOP_PX, startBrowser, type TestBrowser } from '../../e2e/browser.ts';
import { runOf } from '../../fakes/load-run.ts';
import { hostileRun, SAMPLE_RUNS } from './sample-runs.ts';

/** Tables that are wider than their container on a desktop screen. */
const SIDEWAYS = `[...document.querySelectorAll('.frame')].flatMap((frame) =>
  frame.scrollWidth > frame.clientWidth + 1 ? [frame.getAttribute('aria-label')] : [])`;

function pageOf(record: RunRecord): string {
  return reportPage({ record, judged: judge(record), against: compareRuns(record, runOf()) });
}

// Each test has its own browser context.
suite('the load report in a browser', { concurrency: 3 }, () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser?.close());

  for (const [name, sampleRun] of Object.entries(SAMPLE_RUNS)) {
    test(`${name}: fits a desktop in light mode and a telephone in dark mode, without console messages`, async () => {
      const html = pageOf(sampleRun());
      await assertFits(browser, html, async (page, widthPx, where) => {
        if (widthPx === DESKTOP_PX) assert.deepEqual(await page.evaluate(SIDEWAYS), [], where);
      });
    });
  }

  test('very long words do not make the page wider', async () => {
    const html = pageOf(hostileRun('x'.repeat(300)));
    await assertWidensNothing(browser, html);
  });

  test('every plot is drawn: its curves have a size, and the shared backdrop exists', async () => {
    const { page } = await browser.open();
    await page.setContent(pageOf(runOf({ breaksAt: 4 })));
    const flat = `[...document.querySelectorAll('svg.drawing')].filter((svg) => {
      const has = (query) => [...svg.querySelectorAll(query)].some((part) => part.getBoundingClientRect().width > 100);
      return !has('path') || !has('use');
    }).length`;
    assert.equal(await page.evaluate('document.querySelectorAll("svg.drawing").length'), 10);
    assert.equal(await page.evaluate(flat), 0);
    await page.context().close();
  });

  test('printed on paper the page has the paper colours, and nothing is cut off', async () => {
    const { page } = await browser.open({ colorScheme: 'dark', viewport: { width: 700, height: 900 } });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setContent(pageOf(runOf({ breaksAt: 4 })));
    assert.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(29, 31, 33)');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 700);
    await page.context().close();
  });

  test('a standalone plot is an image that any page can show, with no text beyond its edges', async () => {
    const record = runOf({ script: 'flush-survival' });
    const svg = plotSvg({ record, judged: judge(record) }, 'outcomes') ?? assert.fail();
    const { page, complaints } = await browser.open({ viewport: { width: 1000, height: 900 } });
    const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    await page.setContent(`<img src="${source}">`);
    assert.equal(
      await page.evaluate(`document.querySelector('img').decode().then(() => document.images[0].naturalWidth)`),
      960,
    );
    await page.setContent(svg);
    const outside = `[...document.querySelectorAll('text')].filter((text) => {
      const [box, all] = [text.getBoundingClientRect(), document.querySelector('svg').getBoundingClientRect()];
      return box.width > 0 && (box.left < all.left || box.right > all.right || box.bottom > all.bottom);
    }).length`;
    assert.equal(await page.evaluate(outside), 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
