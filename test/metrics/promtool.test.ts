import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { filled } from './harness.ts';

/** Published before promtool was asked; dashboards use them. */
const PUBLISHED = ['redis_pipeline_batch_size_summary', 'redis_pipeline_execution_failures'];

test('promtool finds no fault in the text format, except the names of two published metrics', async (context) => {
  const { body } = await filled(context).text();
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
  assert.equal(error, undefined);
  const named = `${stdout}${stderr}`.split('\n').flatMap((line) => line.split(' ')[0] || []);
  assert.deepEqual(named.toSorted(), PUBLISHED);
});
