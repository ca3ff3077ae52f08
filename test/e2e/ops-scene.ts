import { after, afterEach, before, describe } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser, type TestBrowser } from './browser.ts';
import { dressLook } from './ops-look.ts';
import { type OpsService, startOpsService, TOKEN } from './ops-service.ts';

export const EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>';

export interface OpsScene {
  readonly service: () => OpsService;
  /** The console with its token given, and the first figures on it. */
  readonly enter: (hash?: string, options?: BrowserContextOptions) => Promise<OpsPage>;
  readonly open: (hash?: string, options?: BrowserContextOptions) => Promise<OpsPage>;
}

export interface OpsPage {
  readonly page: Page;
  /** Of the browser, without the refusals that it notes by itself: an error, a refused script or style. */
  readonly complaints: () => readonly string[];
}

/** The console over a service with a token, or without one. */
export function opsScene(name: string, options: { readonly token?: string }, tests: (scene: OpsScene) => void): void {
  describe(name, () => {
    let service: OpsService;
    let browser: TestBrowser;
    const opened: Page[] = [];
    before(async () => {
      service = await startOpsService(options);
      browser = await startBrowser();
    });
    after(async () => {
      await browser?.close();
      await service?.stop();
    });
    afterEach(async () => {
      for (const page of opened.splice(0)) await page.context().close();
      service.dress = dressLook;
      const caller = { by: 'test', reason: 'over' };
      for (const { id, running } of (await service.operations.drills.list()).drills) {
        if (running) await service.operations.drills.abort(id, caller);
      }
      await service.operations.drills.lift(caller);
    });

    const open = async (hash = '', context: BrowserContextOptions = {}): Promise<OpsPage> => {
      const { page, complaints } = await browser.open(context);
      opened.push(page);
      await page.goto(`${service.baseUrl}/ops${hash}`);
      return { page, complaints: () => complaints.filter((text) => !text.startsWith('Failed to load resource')) };
    };
    const enter = async (hash = '', context: BrowserContextOptions = {}): Promise<OpsPage> => {
      const opening = await open(hash, context);
      await giveToken(opening.page, TOKEN);
      await opening.page.waitForSelector('.card');
      return opening;
    };
    tests({ service: () => service, open, enter });
  });
}

export async function giveToken(page: Page, token: string): Promise<void> {
  await page.fill('dialog [name=token]', token);
  await page.keyboard.press('Enter');
}

export async function text(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent()) ?? '';
}

/** Waits until an element says it. */
export async function says(page: Page, selector: string, words: string): Promise<void> {
  const saying = page.locator(selector).filter({ hasText: words }).first();
  await saying.waitFor({ state: 'attached', timeout: 15_000 });
}
