import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LOW_CONTRAST, submit } from './browser.ts';
import {
  describeConsole,
  giveToken,
  HOSTILE_MARKUP,
  startConsoleService,
  TOKEN,
  textOf,
  waitForText,
} from './console-harness.ts';

describeConsole('the console when things go wrong', { token: TOKEN }, ({ service, enter, open }) => {
  it('a lost connection is shown at once, old figures become grey, and the console reconnects by itself', async () => {
    const own = await startConsoleService({ token: TOKEN });
    const { page } = await enter();
    try {
      await page.goto(`${own.baseUrl}/ops`);
      await submit(page, 'dialog [name=token]', TOKEN);
      await waitForText(page, '.link', 'live');
      await page.waitForSelector('.plot .drawing');
      await own.stop();
      await waitForText(page, '.link.lost', 'connection lost');
      await waitForText(page, '.banner.bad', 'What is shown is of');
      await page.waitForSelector('main.stale');
      assert.deepEqual(await page.evaluate(LOW_CONTRAST), []);
      assert.match(await page.title(), /^no connection/);
      await waitForText(page, '#announcements', 'Connection lost.');
      const again = await startConsoleService({ token: TOKEN, port: Number(new URL(own.baseUrl).port) });
      try {
        // The button is drawn again each second: on a busy machine a click with the pointer misses it.
        await page.locator('[data-action=retry]').dispatchEvent('click');
        await page.waitForSelector('main:not(.stale)');
        await waitForText(page, '.link', 'live');
        assert.equal(await page.locator('dialog').count(), 0, 'the token is still known');
      } finally {
        await page.context().close();
        await again.stop();
      }
    } finally {
      await own.stop();
    }
  });

  it('a stream that is silent without ending is closed and opened again', async () => {
    const { page } = await open();
    // A broken network path: the connection stays open, but nothing arrives after one line.
    await page.evaluate(`(() => {
      const real = window.fetch;
      let cut = false;
      const seen = new Promise((resolve) => { window.goOn = resolve; });
      window.fetch = async (path, init) => {
        if (path === '/admin/live' && cut) await seen;
        const response = await real(path, init);
        if (path !== '/admin/live' || !response.ok || cut) return response;
        cut = true;
        const reader = response.body.getReader();
        return new Response(new ReadableStream({
          start: async (body) => {
            init.signal.addEventListener('abort', () => body.error(init.signal.reason));
            body.enqueue((await reader.read()).value);
          },
        }));
      };
    })()`);
    await giveToken(page, TOKEN);
    // Its one line makes it live for 5 s, which a busy machine may not see. The console reconnects soon and then removes these
    // messages, so its request waits here.
    await Promise.all([
      waitForText(page, '.link.lost', 'silent'),
      page.waitForSelector('main.stale'),
      waitForText(page, '.banner.bad', 'Nothing was heard for 5 s'),
    ]);
    await page.evaluate('window.goOn()');
    await waitForText(page, '.link', 'live');
    await page.waitForSelector('main:not(.stale)');
  });

  it('markup in a reason, a query or a name is shown as text', async () => {
    await service().operations.drills.halt({ by: HOSTILE_MARKUP, reason: HOSTILE_MARKUP });
    await service().operations.drills.lift();
    await service().operations.drills.start({
      plan: 'canary',
      domains: ['goods'],
      by: HOSTILE_MARKUP,
      reason: HOSTILE_MARKUP,
    });
    const { page, complaints } = await enter('#/goods/drills');
    await waitForText(page, '[data-key=watch]', HOSTILE_MARKUP.slice(0, 20));
    await page.click('.views a:has-text("Changes")');
    await page.fill('[data-form=purge] [name=q]', HOSTILE_MARKUP);
    await submit(page, '[data-form=purge] [name=reason]', HOSTILE_MARKUP);
    await waitForText(page, '.feedback.done', '<script>');
    await page.fill('[data-form=suppress] textarea', '<img/src=x>');
    await page.click('[data-form=suppress] button');
    await waitForText(page, '.ids', '<img/src=x>');
    await page.click('.views a:has-text("Audit")');
    await waitForText(page, '[data-key=audit]', HOSTILE_MARKUP.slice(2, 30));
    await page.route('**/admin/popular?*', (route) =>
      route.fulfill({
        json: { domain: 'goods', source: 'fleet', queries: [{ search: `q=${HOSTILE_MARKUP}`, count: 1 }] },
      }),
    );
    await page.click('.views a:has-text("Popular")');
    await waitForText(page, '[data-key=popular]', '<script>');
    assert.equal(await page.locator('#app img, #app script').count(), 0);
    assert.deepEqual(complaints(), []);
  });

  it('a report with scripts keeps its styles and runs no script', async () => {
    const { page, complaints } = await enter('#/goods/drills');
    const { id } = await service().operations.drills.start({
      plan: 'canary',
      domains: ['goods'],
      by: 'a',
      reason: 'b',
    });
    await service().operations.drills.abort(id, { by: 'a', reason: 'b' });
    const body = `<!doctype html><html><head><style>h1{color:rgb(1,2,3)}</style></head><body><h1>Report</h1><p style="margin:0">x</p><script>parent.document.title='owned'</script><img src=x onerror="parent.document.title='owned'"></body></html>`;
    await page.route('**/report', (route) =>
      route.request().resourceType() === 'fetch' ? route.fulfill({ body, contentType: 'text/html' }) : route.continue(),
    );
    await waitForText(page, '[data-key=past-drills]', 'aborted');
    await page.click('[data-action=report]');
    await page.frameLocator('dialog iframe').locator('h1').waitFor();
    const colour = `getComputedStyle(document.querySelector('dialog iframe').contentDocument.querySelector('h1')).color`;
    assert.equal(await page.evaluate(colour), 'rgb(1, 2, 3)');
    assert.doesNotMatch(await page.title(), /owned/);
    // The browser logs each script that it refused, and no style.
    assert.doesNotMatch(complaints().join('\n'), /style/);
  });

  it('erase needs a reason and the typed name of the domain, and changes nothing before', async () => {
    const { page } = await enter('#/goods/changes');
    await page.check('[name=mode][value=erase]');
    await page.click('[data-form=flush-preview] button');
    await waitForText(page, '.feedback.refused', 'say why');
    await page.fill('[data-form=flush-preview] [name=reason]', 'rehearsal');
    await page.click('[data-form=flush-preview] button');
    await page.click('[data-form=flush] button');
    await submit(page, 'dialog [name=typed]', 'good');
    assert.equal(await page.locator('dialog').count(), 1);
    assert.equal(service().entries.filter(({ action }) => action === 'flush').length, 0);
    await submit(page, 'dialog [name=typed]', 'goods');
    await waitForText(page, '.feedback', 'Done: revision');
    const done = service().entries.find(({ action }) => action === 'flush');
    assert.deepEqual([done?.domain, done?.reason, done?.result], ['goods', 'rehearsal', 'done']);
  });

  it('after the token dialog was closed it does not open again by itself, and the token can still be given', async () => {
    const { page } = await open();
    await page.waitForSelector('dialog');
    await page.keyboard.press('Escape');
    await waitForText(page, '.banner.bad', 'asks for a token');
    await page.click('[data-action=retry]');
    await waitForText(page, '.link', 'no connection');
    assert.equal(await page.locator('dialog').count(), 0);
    await page.click('[data-action=give-token]');
    await submit(page, 'dialog [name=token]', TOKEN);
    await page.waitForSelector('.card');
  });

  it('text typed for one domain does not appear for another', async () => {
    const { page } = await enter('#/goods/changes');
    await page.fill('[data-form=purge] [name=q]', 'a query of goods');
    await page.click('.card:has-text("auto")');
    await waitForText(page, '#purge', 'auto');
    assert.equal(await page.inputValue('[data-form=purge] [name=q]'), '');
  });
});

describeConsole('the console of a service without a token', {}, ({ service, open }) => {
  it('shows everything without a token, and says how changes are enabled', async () => {
    const { page, complaints } = await open('#/goods/changes');
    await waitForText(page, '.banner', 'ADMIN_TOKEN');
    await submit(page, '[data-form=purge] [name=q]', 'iphone');
    await waitForText(page, '.feedback.refused', 'Set ADMIN_TOKEN');
    assert.equal(await page.locator('[data-form=purge] button').getAttribute('aria-disabled'), 'true');
    await page.focus('[data-action=halt]');
    await page.keyboard.press('Enter');
    await waitForText(page, '.banner.bad', 'Set ADMIN_TOKEN');
    assert.equal(await page.locator('dialog').count(), 0);
    assert.deepEqual(service().entries, []);
    assert.match(await textOf(page, '.link'), /live/);
    assert.deepEqual(complaints(), []);
  });
});
