import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { K6_FILES } from '../../../loadtest/runner/k6-output.ts';
import { type K6Run, runK6 } from '../../../loadtest/runner/k6-process.ts';
import { k6Environment, plannedMs } from '../../../loadtest/runner/k6-program.ts';
import { temporaryFolder } from '../../folder.ts';
import { plain } from '../../plain.ts';
import { until } from '../../until.ts';

const PROGRAM = { path: join(import.meta.dirname, 'fake-k6.mjs'), version: 'v1.8.1' };
const folder = temporaryFolder({ after });

function wanted(does: string, more: Partial<K6Run> = {}): K6Run {
  const signal = new AbortController().signal;
  return { program: PROGRAM, file: 'smoke.ts', env: { FAKE_K6: does }, folder, limitMs: 120_000, signal, ...more };
}

/** A k6 that ignores its interrupt. It says what happens to it; time passes for the runner alone. */
function deaf(t: TestContext, more: Partial<K6Run>) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const own = mkdtempSync(join(folder, 'told-'));
  let pid = 0;
  const started = (id: number): void => {
    pid = id;
  };
  const end = runK6(wanted('deaf', { folder: own, started, ...more }));
  return {
    end,
    pid: () => pid,
    says: (lines: string) =>
      until(lines, () => assert.equal(readFileSync(join(own, 'k6.log'), 'utf8').trim(), lines.replaceAll(', ', '\n'))),
  };
}

test('a k6 that takes too long is interrupted, and then killed', async (t) => {
  const { end, says } = deaf(t, { limitMs: 500, graceMs: 300 });
  await says('under way');
  t.mock.timers.tick(500);
  await says('under way, not listening');
  t.mock.timers.tick(300);
  assert.deepEqual(await end, { code: undefined, cut: 'too long' });
});

test('a k6 that is already being stopped gets no second signal', async (t) => {
  const stopping = new AbortController();
  const { end, pid, says } = deaf(t, { limitMs: 500, graceMs: 1000, signal: stopping.signal });
  await says('under way');
  t.mock.timers.tick(500);
  await says('under way, not listening');
  stopping.abort();
  // An interrupt would come before it.
  process.kill(pid(), 'SIGUSR2');
  await says('under way, not listening, asked');
  t.mock.timers.tick(1000);
  assert.equal((await end).cut, 'too long');
});

test('k6 sends its figures to the named Prometheus, and to none otherwise', async () => {
  const toldOf = async (more: Partial<K6Run>) => {
    const own = mkdtempSync(join(folder, 'told-'));
    await runK6(wanted('passed', { folder: own, ...more }));
    const { told } = JSON.parse(readFileSync(join(own, K6_FILES.summary), 'utf8'));
    const outputs = told.args.filter((word: string) => word.startsWith('--out='));
    return [told.receiver, outputs.includes('--out=experimental-prometheus-rw')];
  };
  const receiver = 'http://127.0.0.1:9090/api/v1/write';
  assert.deepEqual(await toldOf({ prometheus: 'http://127.0.0.1:9090' }), [receiver, true]);
  assert.deepEqual(await toldOf({}), [undefined, false]);
});

test('the planned time is that of the scenarios, plus set-up and tear-down as limited by the script or k6', async () => {
  assert.equal(await plannedMs({ program: PROGRAM, file: 'smoke.ts', env: {} }), 65_000 + 60_000 + 2000);
});

const RUN = { id: 'run', baseUrls: ['http://a', 'http://b'], adminUrls: [], baseRps: 12.5, queries: '/q.tsv' };

test('a script gets the variables of the given options, and no variable for an option that was not given', () => {
  assert.deepEqual(plain(k6Environment({ ...RUN, numbers: { seed: 0, 'once-share': 0.45 } })), {
    RUN_ID: 'run',
    BASE_URL: 'http://a,http://b',
    ADMIN_URL: '',
    QUERIES: '/q.tsv',
    SEED: '0',
    ONCE_SHARE: '0.45',
    BASE_RPS: '12.5',
  });
});
