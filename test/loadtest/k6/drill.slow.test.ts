import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import type { RunEvent } from '../../../loadtest/judge/record.ts';
import type { ScriptSummary } from '../../../loadtest/k6/kit/summary.ts';
import { eventIn } from '../../../loadtest/runner/k6-output.ts';
import { listeningServer } from '../../http/harness.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import { type DrillServiceOptions, drillService, OURS } from './drill-service.ts';
import { environment, k6, SCRIPTS_FOLDER } from './k6-inspect.ts';

/** full-loss with steps of one second, against a service that answers every request. */
async function fullLoss(context: TestContext, options: DrillServiceOptions) {
  const [service, drills] = await Promise.all([listeningServer(context), drillService(context, options)]);
  const env = environment();
  const summaryFile = join(dirname(env['QUERIES'] ?? ''), 'summary.json');
  const words = ['run', '--quiet', '--no-usage-report', '--log-format', 'raw', join(SCRIPTS_FOLDER, 'full-loss.ts')];
  const hosts = { BASE_URL: service.url, ADMIN_URL: drills.url, SUMMARY: summaryFile };
  // The pages of the fake service are not checked.
  const small = { BASE_RPS: '20', STEP_SECONDS: '1', SAMPLE: '0' };
  const child = spawn(k6.path, words, { env: { ...process.env, ...env, ...hosts, ...small } });
  context.after(() => child.kill('SIGKILL'));
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)));
  const over = exitCode(child);
  return {
    drills,
    interrupt: () => child.kill('SIGINT'),
    end: async () => {
      const code = await over;
      const lines = said.join('').split('\n');
      const events = lines.flatMap((line): RunEvent[] => [eventIn(line)].filter((event) => event !== undefined));
      const summary: ScriptSummary = JSON.parse(readFileSync(summaryFile, 'utf8'));
      return { code, events, summary, said: said.join('') };
    },
  };
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  await once(child, 'close');
  return child.exitCode;
}

suite('a script that drills', { concurrency: true }, () => {
  test('passes when its drill passes, and reports the begin of each stage', async (context) => {
    const run = await fullLoss(context, { verdict: { kind: 'passed', detail: 'Every stage was survived.' } });
    const { code, events, summary, said } = await run.end();
    assert.equal(code, 0, said);
    assert.equal(summary.verdict.kind, 'passed');
    assert.deepEqual(pluck(summary.steps, 'drill'), [undefined, 'passed', undefined]);
    const ours = events.filter(({ drill }) => drill === OURS);
    assert.deepEqual(pluck(ours, 'kind'), ['drill-started', 'drill-stage', 'drill-ended']);
    const [started, stage] = ours;
    assert.equal((stage?.atMs ?? 0) - (started?.atMs ?? 0), 250);
    const [{ domains, reason } = { domains: [], reason: '' }] = run.drills.begun;
    assert.deepEqual(domains, ['goods']);
    assert.match(reason, /^full-loss, step loss, run of \d{4}-/);
    assert.deepEqual(run.drills.aborted, []);
  });

  test('fails when its drill is refused, even if every search was answered', async (context) => {
    const run = await fullLoss(context, { verdict: { kind: 'refused', detail: 'Only 3 searches.' } });
    const { code, events, summary } = await run.end();
    assert.notEqual(code, 0);
    assert.equal(summary.verdict.kind, 'failed');
    assert.equal(summary.steps[1]?.errorRate, 0);
    assert.deepEqual(summary.steps[1]?.broken, ['drill refused (has to pass)']);
    assert.ok(events.some(({ kind, text }) => kind === 'drill-ended' && text === 'refused: Only 3 searches.'));
  });

  test('ends its own drill, and no other, when the drill is not over with its steps', async (context) => {
    const run = await fullLoss(context, {});
    const { code, summary } = await run.end();
    assert.notEqual(code, 0);
    assert.equal(summary.steps[1]?.drill, 'unfinished');
    assert.deepEqual(run.drills.aborted, [OURS]);
  });

  test('ends its own drill, and no other, when it is interrupted', async (context) => {
    const run = await fullLoss(context, {});
    await until('the drill to begin', () => run.drills.begun.length > 0);
    assert.equal(run.drills.aborted.length, 0);
    run.interrupt();
    const { code, events } = await run.end();
    assert.notEqual(code, 0);
    assert.deepEqual(run.drills.aborted, [OURS]);
    assert.ok(events.some(({ kind, text }) => kind === 'drill-ended' && text.startsWith('aborted: ')));
  });
});
