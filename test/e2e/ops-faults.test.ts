import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LOW_CONTRAST } from './contrast.ts';
import { EVIL, giveToken, opsScene, says, text } from './ops-scene.ts';
import { startOpsService, TOKEN } from './ops-service.ts';

opsScene('the console when things go wrong', { token: TOKEN }, ({ service, enter, open }) => {
  it('a lost connection is said at once, what is shown is greyed, and it comes back by itself', async () => {
    const own = await startOpsService({ token: TOKEN });
    const { page } = await enter();
    try {
      await page.goto(`${own.baseUrl}/ops`);
      await page.fill('dialog [name=token]', TOKEN);
      await page.keyboard.press('Enter');
      await says(page, '.link', 'live');
      await page.waitForSelector('.plot canvas');
      await own.stop();
      await says(page, '.link.lost', 'connection lost');
      await says(page, '.banner.bad', 'What is shown is of');
      await page.waitForSelector('main.stale');
      assert.deepEqual(await page.evaluate(LOW_CONTRAST), []);
      assert.match(await page.title(), /^no connection/);
      await says(page, '#announcements', 'Connection lost.');
      const again = await startOpsService({ token: TOKEN, port: Number(new URL(own.baseUrl).port) });
      try {
        // The button is drawn anew each second: on a busy machine a pointer comes too late to it.
        await page.locator('[data-action=retry]').dispatchEvent('click');
        await page.waitForSelector('main:not(.stale)');
        await says(page, '.link', 'live');
        assert.equal(await page.locator('dialog').count(), 0, 'the token is still known');
      } finally {
        await page.context().close();
        await again.stop();
      }
    } finally {
      await own.stop();
    }
  });

  it('a stream that falls silent without ending is given up and taken up again', async () => {
    const { page } = await open();
    // What a half-dead path does: the connection stands, one line has come, and nothing comes any more.
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
    await says(page, '.link', 'live');
    // The console takes the stream up again within a moment, and then shows none of them: that request waits here.
    await Promise.all([
      says(page, '.link.lost', 'silent'),
      page.waitForSelector('main.stale'),
      says(page, '.banner.bad', 'Nothing was heard for 5 s'),
    ]);
    await page.evaluate('window.goOn()');
    await says(page, '.link', 'live');
    await page.waitForSelector('main:not(.stale)');
  });

  it('markup in a reason, a query or a name is shown as the text it is', async () => {
    await service().operations.drills.halt({ by: EVIL, reason: EVIL });
    await service().operations.drills.lift({ by: EVIL, reason: EVIL });
    await service().operations.drills.start({ plan: 'canary', domains: ['goods'], by: EVIL, reason: EVIL });
    const { page, complaints } = await enter('#/goods/drills');
    await says(page, '[data-key=watch]', EVIL.slice(0, 20));
    await page.click('.views a:has-text("Changes")');
    await page.fill('[data-form=purge] [name=q]', EVIL);
    await page.fill('[data-form=purge] [name=reason]', EVIL);
    await page.keyboard.press('Enter');
    await says(page, '.feedback.done', '<script>');
    await page.fill('[data-form=suppress] textarea', '<img/src=x>');
    await page.click('[data-form=suppress] button');
    await says(page, '.ids', '<img/src=x>');
    await page.click('.views a:has-text("Audit")');
    await says(page, '[data-key=audit]', EVIL.slice(2, 30));
    await page.route('**/admin/popular?*', (route) =>
      route.fulfill({ json: { domain: 'goods', source: 'fleet', queries: [{ search: `q=${EVIL}`, count: 1 }] } }),
    );
    await page.click('.views a:has-text("Popular")');
    await says(page, '[data-key=popular]', '<script>');
    assert.equal(await page.locator('#app img, #app script').count(), 0);
    assert.deepEqual(complaints(), []);
  });

  it('a report that brings scripts has its styles and runs none of them', async () => {
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
    await says(page, '[data-key=past-drills]', 'aborted');
    await page.click('[data-action=report]');
    await page.frameLocator('dialog iframe').locator('h1').waitFor();
    const colour = `getComputedStyle(document.querySelector('dialog iframe').contentDocument.querySelector('h1')).color`;
    assert.equal(await page.evaluate(colour), 'rgb(1, 2, 3)');
    assert.doesNotMatch(await page.title(), /owned/);
    // The browser says of each script that it did not run it; the styles are all allowed.
    assert.doesNotMatch(complaints().join('\n'), /style/);
  });

  it('erase wants a reason and the name of the domain typed, and nothing goes before', async () => {
    const { page } = await enter('#/goods/changes');
    await page.check('[name=mode][value=erase]');
    await page.click('[data-form=flush-preview] button');
    await says(page, '.feedback.refused', 'say why');
    await page.fill('[data-form=flush-preview] [name=reason]', 'rehearsal');
    await page.click('[data-form=flush-preview] button');
    await page.click('[data-form=flush] button');
    await page.fill('dialog [name=typed]', 'good');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('dialog').count(), 1);
    assert.equal(service().entries.filter(({ action }) => action === 'flush').length, 0);
    await page.fill('dialog [name=typed]', 'goods');
    await page.keyboard.press('Enter');
    await says(page, '.feedback', 'Done: revision');
    const done = service().entries.find(({ action }) => action === 'flush');
    assert.deepEqual([done?.domain, done?.reason, done?.result], ['goods', 'rehearsal', 'done']);
  });

  it('who closes the question for the token is not asked again every second, and can still give it', async () => {
    const { page } = await open();
    await page.waitForSelector('dialog');
    await page.keyboard.press('Escape');
    await says(page, '.banner.bad', 'asks for a token');
    await page.click('[data-action=retry]');
    await says(page, '.link', 'no connection');
    assert.equal(await page.locator('dialog').count(), 0);
    await page.click('[data-action=give-token]');
    await page.fill('dialog [name=token]', TOKEN);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.card');
  });

  it('what is typed for one domain is not kept for another', async () => {
    const { page } = await enter('#/goods/changes');
    await page.fill('[data-form=purge] [name=q]', 'a query of goods');
    await page.click('.card:has-text("auto")');
    await says(page, '#purge', 'auto');
    assert.equal(await page.inputValue('[data-form=purge] [name=q]'), '');
  });
});

opsScene('the console of a service without a token', {}, ({ service, open }) => {
  it('shows everything, asks for nothing, and says how changes are turned on', async () => {
    const { page, complaints } = await open('#/goods/changes');
    await says(page, '.banner', 'ADMIN_TOKEN');
    await page.fill('[data-form=purge] [name=q]', 'iphone');
    await page.keyboard.press('Enter');
    await says(page, '.feedback.refused', 'Set ADMIN_TOKEN');
    assert.equal(await page.locator('[data-form=purge] button').getAttribute('aria-disabled'), 'true');
    await page.focus('[data-action=halt]');
    await page.keyboard.press('Enter');
    await says(page, '.banner.bad', 'Set ADMIN_TOKEN');
    assert.equal(await page.locator('dialog').count(), 0);
    assert.deepEqual(service().entries, []);
    assert.match(await text(page, '.link'), /live/);
    assert.deepEqual(complaints(), []);
  });
});
