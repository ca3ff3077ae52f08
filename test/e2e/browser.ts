import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import { after, afterEach, before, describe } from 'node:test';
import { type BrowserContextOptions, chromium, type LaunchOptions, type Page } from 'playwright-core';

const BROWSER_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The background flags keep Chromium from contacting its vendor's hosts at every start. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Playwright's 30 s are too short for a slow machine. */
const PATIENCE_MS = 120_000;

export interface TestBrowser {
  /** A page in a context of its own, with the errors and warnings that the browser logs. */
  readonly open: (
    options?: BrowserContextOptions,
  ) => Promise<{ readonly page: Page; readonly complaints: readonly string[] }>;
  readonly close: () => Promise<void>;
}

/** @throws with the paths where no browser was found. */
export async function startBrowser(options: LaunchOptions = {}): Promise<TestBrowser> {
  const executablePath = BROWSER_PATHS.find(isExecutable);
  if (executablePath === undefined) {
    throw new Error(
      `no Chromium for the page's tests; looked at ${BROWSER_PATHS.join(', ')} (Debian: apt install chromium)`,
    );
  }
  // Playwright gives it a new profile and removes it afterwards.
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: PATIENCE_MS, ...options });

  return {
    open: async (options = {}) => {
      const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 }, ...options });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('dialog', (dialog) => {
        complaints.push(`a dialog opened: ${dialog.message()}`);
        void dialog.dismiss();
      });
      return { page, complaints };
    },
    close: () => browser.close(),
  };
}

export interface BrowserHarness<Service> {
  readonly service: () => Service;
  readonly open: TestBrowser['open'];
}

/** Tests of one service in one browser. Each page is closed after its test: idle contexts keep their connections. */
export function describeInBrowser<Service extends { readonly stop: () => Promise<void> }>(
  name: string,
  start: () => Promise<Service>,
  tests: (harness: BrowserHarness<Service>) => void,
): void {
  describe(name, () => {
    let service: Service;
    let browser: TestBrowser;
    const opened: Page[] = [];
    before(async () => {
      service = await start();
      browser = await startBrowser();
    });
    after(async () => {
      await browser?.close();
      await service?.stop();
    });
    afterEach(async () => {
      for (const page of opened.splice(0)) await page.context().close();
    });
    const open: TestBrowser['open'] = async (options) => {
      const tab = await browser.open(options);
      opened.push(tab.page);
      return tab;
    };
    tests({ service: () => service, open });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** For `page.evaluate`: texts with a contrast below 4.5 : 1 to the first background that is not transparent. */
export const LOW_CONTRAST = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // Remembered by element, because many elements share a parent.
  const backgrounds = new Map([[null, 'rgb(255, 255, 255)']]);
  const background = (element) => {
    const known = backgrounds.get(element);
    if (known !== undefined) return known;
    const colour = getComputedStyle(element).backgroundColor;
    const found = (channels(colour)[3] ?? 1) > 0 ? colour : background(element.parentElement);
    backgrounds.set(element, found);
    return found;
  };
  const low = [];
  for (const element of document.querySelectorAll('body *')) {
    const ownText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim() !== '');
    if (!ownText && !element.matches('input, select')) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(background(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(element.className + ' ' + element.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return low;
})()`;

/** Texts of the plots outside the page: overflow of an SVG does not widen the document. */
const OUTSIDE = `[...document.querySelectorAll('svg.drawing text, svg.values text')].flatMap((text) => {
  const box = text.getBoundingClientRect();
  return box.width > 0 && (box.left < 0 || box.right > innerWidth) ? [text.textContent] : [];
})`;

const DESKTOP_PX = 1280;
const PHONE_PX = 390;

/** A report fits a light desktop and a dark phone, without browser errors. */
export async function assertFits(browser: TestBrowser, html: string): Promise<void> {
  const { page, complaints } = await browser.open();
  for (const [width, colorScheme] of [
    [DESKTOP_PX, 'light'],
    [PHONE_PX, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.setContent(html);
    const where = `${width} px, ${colorScheme}`;
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, where);
    assert.deepEqual(await page.evaluate(OUTSIDE), [], where);
    assert.deepEqual(await page.evaluate(LOW_CONTRAST), [], where);
    assert.deepEqual(complaints, [], where);
  }
  await page.context().close();
}

/** No word of a report, of any length, makes the page scroll sideways. */
export async function assertWidensNothing(browser: TestBrowser, html: string): Promise<void> {
  const { page } = await browser.open();
  for (const width of [DESKTOP_PX, PHONE_PX]) {
    await page.setViewportSize({ width, height: 900 });
    await page.setContent(html);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  }
  await page.context().close();
}

/** Writes into a field of a form, and presses Enter. */
export async function submit(page: Page, selector: string, text: string): Promise<void> {
  await page.fill(selector, text);
  await page.keyboard.press('Enter');
}

/** Presses Tab until the focused element matches. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 150; presses += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  assert.fail(`Tab never reached ${selector}`);
}
