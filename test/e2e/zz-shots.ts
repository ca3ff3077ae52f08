import { startBrowser } from './browser.ts';
import { startConsoleService, giveToken, TOKEN, waitForText } from './console-harness.ts';
const service = await startConsoleService({ token: TOKEN });
const browser = await startBrowser();
try {
  for (const [width, colorScheme] of [[1280,'light'],[390,'dark'],[1280,'dark'],[390,'light']] as const) {
    const { page, complaints } = await browser.open({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(`${service.baseUrl}/ops#/goods/shadow`);
    await giveToken(page, TOKEN);
    await page.waitForSelector('.shadow .plot canvas');
    await waitForText(page, '.shadow-hits li b', '%');
    await new Promise(r=>setTimeout(r,1500));
    await page.screenshot({ path: `/tmp/shots/${width}-${colorScheme}.png`, fullPage: true });
    if (colorScheme==='light') {
      await page.click('[data-action=cut-over]');
      await page.waitForSelector('dialog');
      await page.screenshot({ path: `/tmp/shots/dialog-${width}.png` });
      await page.keyboard.press('Escape');
      await page.goto(`${service.baseUrl}/ops#/auto/shadow`);
      await page.waitForSelector('[data-action=shadow-start]');
      await page.click('[data-action=shadow-start]');
      await page.waitForSelector('dialog');
      await page.screenshot({ path: `/tmp/shots/start-${width}.png` });
    }
    console.log(width, colorScheme, complaints, await page.evaluate('[document.documentElement.scrollWidth, innerWidth]'));
    await page.context().close();
  }
} finally { await browser.close(); await service.stop(); }
