import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertNone, rowsOf } from '../pluck.ts';
import { LOW_CONTRAST, submit, tabTo } from './browser.ts';
import { describeConsole, giveToken, TOKEN, textOf, waitForText } from './console-harness.ts';

describeConsole('the console', { token: TOKEN }, ({ service, open, enter }) => {
  it('asks for the token, says when it is wrong, and keeps it in memory only', async () => {
    const { page, complaints } = await open();
    await giveToken(page, 'not-the-token');
    await waitForText(page, 'dialog [role=alert]', 'not accepted');
    await giveToken(page, TOKEN);
    await page.waitForSelector('.card');
    const kept = await page.evaluate(
      '[localStorage.length, sessionStorage.length, document.cookie, location.href, document.body.innerHTML].join(" ")',
    );
    assert.match(String(kept), /^0 0 {2}http/);
    assert.doesNotMatch(String(kept), new RegExp(TOKEN));
    await page.click('[data-action=forget-token]');
    await page.waitForSelector('dialog [name=token]');
    assert.deepEqual(complaints(), []);
  });

  it('shows each domain and draws its plots without an error', async () => {
    const { page, complaints } = await enter();
    await waitForText(page, '.card >> nth=0', '%');
    assert.equal(await page.locator('.card').count(), 4);
    assert.equal(await page.locator('.plot .drawing').count(), 5);
    assert.match(await textOf(page, '.state [data-key=store]'), /redis-2:6379.*closed/);
    assert.match(await textOf(page, '.state [data-key=engine]'), /sphinx.*of 8, ceiling 8/);
    await page.click('.card:has-text("auto")');
    await page.waitForSelector('[data-plots=auto] .drawing');
    assert.match(page.url(), /#\/auto\/live$/);
    await page.emulateMedia({ colorScheme: 'dark' });
    await waitForText(page, '.link', 'live');
    assert.deepEqual(complaints(), []);
  });

  it('shows an unknown figure as a dash, never as zero', async () => {
    service().changeLook = ({ figures: _, ...look }) => look;
    const { page } = await enter();
    const glance = await page.locator('.card >> nth=0 >> dd').allTextContents();
    assert.deepEqual(glance, ['–', '–', '–', '0/4']);
    const values = await page.locator('[data-key=outcomes] li .soft').allTextContents();
    assert.deepEqual([...new Set(values.map((text) => text.trim()))], ['–']);
    assert.match(await textOf(page, '.state [data-key=engine]'), /calls\/s–, mean –failures–/);
  });

  it('a drill is started by keyboard alone: plan, dry run, reason, confirmation', async () => {
    const { page, complaints } = await enter();
    await tabTo(page, '.views a[href$="/drills"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[name=plan]');
    await tabTo(page, '[name=plan]');
    await page.keyboard.press('ArrowDown');
    assert.ok(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle !== "none"'));
    await tabTo(page, '[data-form=dry-run] button');
    await page.keyboard.press('Enter');
    await waitForText(page, '#dry-run-title', 'Dry run of 1-5-25-100 on goods');
    assert.equal(await page.evaluate('document.activeElement.id'), 'dry-run-title');
    assert.match(await textOf(page, '.dry-run'), /keys in the store.*survivable f\*.*roll back/s);
    await tabTo(page, '[data-form=start-drill] [name=reason]');
    await page.keyboard.type('rehearsal');
    await page.keyboard.press('Enter');
    await waitForText(page, 'dialog', '1 % → 5 % → 25 % → 100 %');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.deepEqual((await service().operations.drills.list()).drills, []);
    await page.keyboard.press('Enter');
    await tabTo(page, 'dialog button[type=submit]');
    await page.keyboard.press('Enter');
    await waitForText(page, '.strip', 'In four stages on goods');
    await waitForText(page, '.phase', 'stage 1 of 4');
    await waitForText(page, '.stages [aria-current]', '1 %');
    await page.waitForSelector('[data-cohorts] .drawing');
    await waitForText(page, '#announcements', 'The drill In four stages runs on goods.');
    assert.equal(service().entries.find(({ action }) => action === 'drill-start')?.reason, 'rehearsal');
    assert.deepEqual(complaints(), []);
  });

  it('a running drill is aborted with one click and no dialog, and its report can be read', async () => {
    const { page, complaints } = await enter('#/goods/live');
    await service().operations.drills.start({ plan: 'full-loss', domains: ['goods'], by: 'a', reason: 'b' });
    await page.waitForSelector('.abort:not([aria-disabled])');
    await page.click('.abort');
    await waitForText(page, '.banner', 'Aborted, and the cache restored');
    await page.waitForSelector('.strip', { state: 'detached' });
    assertNone((await service().operations.drills.list()).drills, ({ running }) => running);
    await page.click('.views a:has-text("Drills")');
    await waitForText(page, '.watch-head', 'aborted');
    await page.click('text=Open the report');
    await page.frameLocator('dialog iframe').locator('h1').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.deepEqual(complaints(), []);
  });

  it('the halt needs a reason, shows it at every scroll position, and can be lifted', async () => {
    const { page, complaints } = await enter('#/goods/drills', { viewport: { width: 1280, height: 400 } });
    await page.click('[data-action=halt]');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('dialog').count(), 1, 'without a reason nothing is halted');
    await submit(page, 'dialog [name=reason]', 'incident 4711');
    await waitForText(page, '.banner.bad', 'incident 4711');
    await page.waitForSelector('[data-form=dry-run]');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    assert.ok(Number(await page.evaluate('scrollY')) > 0, 'there is something to scroll');
    const seen = await page.locator('.halted').boundingBox();
    const height = Number(await page.evaluate('innerHeight'));
    assert.ok(seen !== null && seen.y >= 0 && seen.y + seen.height <= height, 'it stays in sight');
    await waitForText(page, '.card >> nth=3', 'halted');
    await waitForText(page, '#announcements', 'Drills are halted.');
    await page.click('text=Dry run');
    await submit(page, '[data-form=start-drill] [name=reason]', 'in vain');
    await page.click('dialog button[type=submit]');
    await waitForText(page, '.feedback.refused', 'lift the halt first');
    await page.click('[data-action=lift]');
    await submit(page, 'dialog [name=reason]', 'over');
    await page.waitForSelector('.banner.bad', { state: 'detached' });
    await page.waitForSelector('[data-action=halt]');
    assert.deepEqual(complaints(), []);
  });

  it('a shadow is started, its curves are drawn, and a cut-over needs force, a reason and the name of the domain', async () => {
    const { page, complaints } = await enter('#/jobs/live');
    await page.click('.views a:has-text("Shadow")');
    await page.click('[data-action=shadow-start]');
    await page.selectOption('dialog [name=candidate]', 'keydb');
    await page.fill('dialog [name=percent]', '25');
    await page.fill('dialog [name=reads]', '3');
    await page.click('dialog button[type=submit]');
    await waitForText(page, '.shadow .feedback', 'The shadow of jobs to keydb has begun.');
    await waitForText(page, '[data-key=stores]', '25\u00a0% of the keys to keydb, 3 copies of each read');
    await waitForText(page, '[data-key=verdict]', 'not measured');
    assert.equal(await page.locator('.shadow .plot .drawing').count(), 4);
    await waitForText(page, '[data-key=shadow-reads] li', 'candidate');
    await page
      .locator('[data-key=shadow-reads] li .soft', { hasText: /^\s*\d/ })
      .first()
      .waitFor();
    await page.click('[data-action=cut-over]');
    const send = 'dialog button[type=submit]';
    await page.fill('dialog [name=reason]', 'incident 4711');
    await page.fill('dialog [name=typed]', 'goods');
    await page.click(send);
    await page.check('dialog [name=force]');
    await page.click(send);
    assert.equal(await page.locator('dialog').count(), 1, 'without force or with another name nothing moves');
    await page.fill('dialog [name=typed]', 'jobs');
    await page.click(send);
    await waitForText(page, '.shadow .feedback', 'keydb is the store of jobs');
    await waitForText(page, '[data-key=stores]', 'keydb is read first, main where it has no page');
    await waitForText(page, '[data-key=shadow-reports]', 'main → keydb');
    await page.click('[data-action=shadow-report]');
    await page.frameLocator('dialog iframe').locator('h1').waitFor();
    await page.keyboard.press('Escape');
    await page.click('[data-action=cut-over-back]');
    await page.fill('dialog [name=reason]', 'over');
    await page.click(send);
    await waitForText(page, '.shadow .feedback', 'main is the store of jobs');
    const asked = service().entries.filter(({ action }) => action.startsWith('cut-over'));
    assert.deepEqual(rowsOf(asked, 'action', 'reason'), [
      ['cut-over', 'incident 4711'],
      ['cut-over-back', 'over'],
    ]);
    assert.deepEqual(complaints(), []);
  });

  it('an examination shows its findings, and what was opened stays open while the page is drawn again', async () => {
    const { page, complaints } = await enter('#/goods/live');
    await waitForText(page, '.views', 'Doctor 2');
    await page.click('.views a:has-text("Doctor")');
    await page.click('[data-action=examine]');
    await waitForText(page, '[data-key=examination] .finding', 'very large values');
    await page.click('[data-key=examination] summary:has-text("acknowledged")');
    await page.click('[data-action=examine]:has-text("Examine now")');
    await page.locator('.finding >> text=accepted until 2099-12-31').waitFor();
    await page.waitForTimeout(1200);
    assert.ok(await page.locator('.finding >> text=accepted until 2099-12-31').isVisible());
    assert.deepEqual(complaints(), []);
  });

  for (const width of [390, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`at ${width} px in ${colorScheme} no view scrolls sideways and every text has a contrast of 4.5`, async () => {
        const { drills, shadows } = service().operations;
        await drills.start({ plan: 'full-loss', domains: ['goods'], by: 'a', reason: 'b' });
        // A halt in a test before ends it.
        if ((await shadows.status('goods')).shadow === undefined) {
          const copies = { candidate: 'valkey', fraction: 0.1, reads: 1, forMs: 3_600_000 };
          await shadows.start({ domain: 'goods', ...copies }, { by: 'a', reason: 'b' });
        }
        const { page } = await enter('#/goods/live', { viewport: { width, height: 844 }, colorScheme });
        await page.waitForSelector('.strip');
        for (const view of ['Live', 'Drills', 'Shadow', 'Doctor', 'Changes', 'Popular', 'Audit']) {
          await page.click(`.views a:has-text("${view}")`);
          if (view === 'Drills') await page.click('text=Dry run');
          if (view === 'Drills') await page.waitForSelector('.dry-run');
          if (view === 'Shadow') await page.waitForSelector('.shadow .plot .drawing');
          if (view === 'Doctor') await page.click('[data-action=examine]');
          if (view === 'Doctor') await page.waitForSelector('[data-key=examination] .finding');
          await page.getByText('Reading…').first().waitFor({ state: 'detached' });
          assert.ok(
            await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
            view,
          );
          assert.deepEqual(await page.evaluate(LOW_CONTRAST), [], view);
        }
      });
    }
  }
});
