import { after, afterEach, before, beforeEach, describe } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser, type TestBrowser } from './browser.ts';
import { type FakePageService, startFakePageService } from './page-service.ts';

export const EVIL = '"><img src=x onerror="alert(1)"><script>alert(2)</script>';

/** The page over a catalogue with documents nobody would wish for. */
export interface PageScene {
  readonly service: () => FakePageService;
  readonly open: (options?: BrowserContextOptions) => ReturnType<TestBrowser['open']>;
  /** The page's address with these parameters. */
  readonly at: (parameters: Readonly<Record<string, string>>) => string;
}

export function pageScene(name: string, tests: (scene: PageScene) => void): void {
  describe(name, () => {
    let service: FakePageService;
    let browser: TestBrowser;
    before(async () => {
      const attributes = { category: EVIL, city: `${EVIL}, with a comma`, price: 1, date: '2026-01-01' };
      const extra = [
        { id: 'evil', title: `пакость ${EVIL}`, description: `пакость ${EVIL} javascript:alert(3)`, attributes },
      ];
      extra.push({
        id: 'tail',
        title: 'особое',
        description: 'особое',
        attributes: { category: 'a,b', city: 'хвост\\', price: 7_200_000, date: '2026-01-01' },
      });
      const long = 'W'.repeat(120);
      extra.push({
        id: 'long',
        title: `бесконечное ${long}`,
        description: `бесконечное ${long}`,
        attributes: { category: long, city: long, price: 999_999_999_999, date: '2026-01-01' },
      });
      service = await startFakePageService({ extra });
      browser = await startBrowser();
    });
    after(async () => {
      await browser?.close();
      await service?.stop();
    });
    beforeEach(() => {
      service.search.before = async () => {};
      service.search.dress = (answer) => answer;
    });
    // Idle contexts keep their connections, and the listener takes only so many.
    const opened: Page[] = [];
    const open = async (options?: BrowserContextOptions) => {
      const tab = await browser.open(options);
      opened.push(tab.page);
      return tab;
    };
    afterEach(async () => {
      for (const page of opened.splice(0)) await page.context().close();
    });
    const at = (parameters: Readonly<Record<string, string>>) =>
      `${service.baseUrl}/?${new URLSearchParams(parameters)}`;

    tests({ service: () => service, open, at });
  });
}
