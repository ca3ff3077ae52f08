import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

export async function totalOf(page: Page): Promise<number> {
  return numberIn(await page.locator('.status .count').textContent());
}

export function numberIn(text: string | null): number {
  return Number((text ?? '').replace(/\D/g, ''));
}

export async function titlesOf(page: Page): Promise<string[]> {
  return page.locator('.list h3').allTextContents();
}

export async function pricesOf(page: Page): Promise<number[]> {
  return (await page.locator('.money dd').allTextContents()).map(numberIn);
}

/** Presses Tab until what is focused matches. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 150; presses += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  assert.fail(`Tab never came to ${selector}`);
}
