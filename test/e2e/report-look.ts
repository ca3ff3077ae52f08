import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { TestBrowser } from './browser.ts';
import { LOW_CONTRAST } from './contrast.ts';

/** Texts of the plots that stick out of the page: what an SVG lets overflow does not widen the document. */
const OUTSIDE = `[...document.querySelectorAll('svg.drawing text, svg.values text')].flatMap((text) => {
  const box = text.getBoundingClientRect();
  return box.width > 0 && (box.left < 0 || box.right > innerWidth) ? [text.textContent] : [];
})`;

export const DESK_PX = 1280;
const TELEPHONE_PX = 390;

/** A report fits a light desk and a dark telephone, and complains of nothing. @param look what is to be seen beside. */
export async function assertFits(
  browser: TestBrowser,
  html: string,
  look: (page: Page, widthPx: number, where: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const { page, complaints } = await browser.open();
  for (const [width, colorScheme] of [
    [DESK_PX, 'light'],
    [TELEPHONE_PX, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.setContent(html);
    const where = `${width} px, ${colorScheme}`;
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, where);
    assert.deepEqual(await page.evaluate(OUTSIDE), [], where);
    await look(page, width, where);
    assert.deepEqual(await page.evaluate(LOW_CONTRAST), [], where);
    assert.deepEqual(complaints, [], where);
  }
  await page.context().close();
}

/** However long the words in it are, nothing has to be moved sideways. */
export async function assertWidensNothing(browser: TestBrowser, html: string): Promise<void> {
  const { page } = await browser.open();
  for (const width of [DESK_PX, TELEPHONE_PX]) {
    await page.setViewportSize({ width, height: 900 });
    await page.setContent(html);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  }
  await page.context().close();
}
