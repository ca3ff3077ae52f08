import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrape, start } from './start.ts';

test('what happens to the control document is counted by kind', async (context) => {
  const metrics = start(context);
  metrics.observeControl({ kind: 'control-changed', domain: 'goods', revision: 3, own: true });
  metrics.observeControl({ kind: 'overlay', domain: 'goods', drill: 'd', state: 'void' });
  metrics.observePopularity({ kind: 'popularity-dropped', domain: 'auto', queries: 30 });
  const page = await scrape(metrics);
  const events = (event: string) => page.value('serpcache_control_events_total', { domain: 'goods', event });
  assert.deepEqual([events('control-changed'), events('drill-void')], [1, 1]);
  const dropped = { domain: 'auto', outcome: 'dropped' };
  assert.equal(page.value('serpcache_popularity_queries_total', dropped), 30);
});

test('the document a process follows is on the page as it is now', async (context) => {
  const page = await scrape(start(context));
  const value = (name: string) => page.value(`serpcache_control_${name}`, { domain: 'goods' });
  assert.deepEqual(['revision', 'heard_seconds', 'drill_live', 'drill_flushed_ratio'].map(value), [7, 0.25, 1, 0.25]);
  assert.deepEqual(['halted', 'suppressed', 'purges', 'corrupt'].map(value), [1, 3, 2, 1]);
});
