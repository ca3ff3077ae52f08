import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminService, callCli } from './harness.ts';

const PLAN = `name: my-own
title: Half of it
stages:
  - { fraction: 0.5, hold: 5s }
`;

test('a plan in a file is sent whole; its faults are reported with their lines', async (t) => {
  const { url, posted } = await adminService(t);
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-plan-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'plan.yaml');
  writeFileSync(file, PLAN);
  const words = ['drill', 'preview', file, '--domain', 'goods', '--admin', url];
  const { code, out, err } = await callCli(words, { answers: [] });
  assert.equal(code, 0, err);
  assert.match(out, /^my-own: Half of it\n[\s\S]*drop 50 % of goods\n/);
  const [{ plan }] = posted('/admin/drills/preview') as [{ plan: { name: string; stages: unknown[] } }];
  assert.equal(plan.name, 'my-own');
  assert.deepEqual(plan.stages, [{ kind: 'fraction', fraction: 0.5, holdMs: 5000 }]);
  writeFileSync(file, PLAN.replace('0.5', '7'));
  const wrong = await callCli(words, { answers: [] });
  assert.equal(wrong.code, 64);
  assert.match(wrong.err, /is not a plan:\n.*fraction \(line 4\): 7; allowed: /);
  assert.equal(posted('/admin/drills/preview').length, 1);
});

test('the ready-made plans are listed with their stages and guards, and a report is written as a page', async (t) => {
  const { url, operations } = await adminService(t);
  const plans = await callCli(['drill', 'plans', '--admin', url], { answers: [] });
  assert.match(
    plans.out,
    /^1-5-25-100: In four stages\n {2}baseline .*\n {2}stage 1 +5\.0 s {2}drop 1 % of the keys$/m,
  );
  assert.match(plans.out, /guard {2}p99Ms > 800 ms +for 2\.0 s: hold/);
  assert.match(plans.out, /the engine is taken for dead/);
  const asked = { plan: 'canary', domains: ['goods'], by: 'test', reason: 'r' };
  const { id } = await operations.drills.start(asked);
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-report-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'report.html');
  const written = await callCli(['drill', 'report', '--out', file, '--admin', url], { answers: [] });
  assert.equal(written.out, `the report of ${id} is in ${file}\n`);
  assert.ok(readFileSync(file, 'utf8').startsWith('<!doctype html>'));
});
