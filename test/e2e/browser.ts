import { accessSync, constants } from 'node:fs';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Without the background flags Chromium looks up its vendor's hosts at every start. */
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

export interface TestBrowser {
  /** A page in a context of its own, and everything it complained about. */
  readonly open: (
    options?: BrowserContextOptions,
  ) => Promise<{ readonly page: Page; readonly complaints: readonly string[] }>;
  readonly close: () => Promise<void>;
}

/** @throws with one line that says where a browser was looked for. */
export async function startBrowser(): Promise<TestBrowser> {
  const executablePath = USUAL_PLACES.find(isExecutable);
  if (executablePath === undefined) {
    throw new Error(
      `no Chromium for the page's tests; looked at ${USUAL_PLACES.join(', ')} (Debian: apt install chromium)`,
    );
  }
  // Playwright gives it a new, empty profile of its own and removes it afterwards.
  const browser = await chromium.launch({ executablePath, args: FLAGS });

  return {
    open: async (options = {}) => {
      const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 }, ...options });
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
