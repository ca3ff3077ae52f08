import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EVENT_MARK } from '../../../loadtest/k6/kit/event.ts';
import { eventsIn, secondsOf } from '../../../loadtest/runner/k6-output.ts';
import { temporaryFolder } from '../../folder.ts';
import { plain } from '../../plain.ts';
import { pluck } from '../../pluck.ts';

/** From k6 1.8.1 and a server that answered every fourth request with 500 after 80 ms; one VU, 30 requests a second. */
const RECORD = readFileSync(join(import.meta.dirname, 'dashboard-record.ndjson'), 'utf8');

test('each snapshot of the record is one second, with its end time', () => {
  assert.deepEqual(pluck(secondsOf(RECORD), 'atMs'), [1795257127189, 1795257128189, 1795257129189]);
});

test('figures are found even if metrics that appear later shift the positions', () => {
  const [first, , third] = secondsOf(RECORD);
  assert.deepEqual(first, {
    atMs: 1795257127189,
    searches: 20,
    errors: 5,
    dropped: 10,
    vus: 0,
    receivedBytes: 2565,
    outcomes: { 'hit-l1': 20 },
    latencyMs: { p50: 6.4138, p90: 81.293, p99: 82.139, max: 82.234 },
  });
  assert.deepEqual(third?.outcomes, { stale: 20 });
  assert.equal(third?.searches, 20);
});

test('a second without a search has no latency', () => {
  const metric = '{"event":"metric","data":{"time":{},"search_duration":{},"searches":{}}}';
  const [zeros, nothing] = secondsOf(
    `${metric}\n{"event":"snapshot","data":[[0,0,0,0,0,0,0],[0,0],[2000]]}\n{"event":"snapshot","data":[[],[],[3000]]}`,
  );
  for (const second of [zeros, nothing]) {
    assert.equal(second?.searches, 0);
    assert.ok(second !== undefined && second.latencyMs === undefined);
  }
});

const folder = temporaryFolder({ after });

function line(event: unknown): string {
  return `${EVENT_MARK}${JSON.stringify(event)}`;
}

test('events are found among the other log lines of k6, in time order', async () => {
  const file = join(folder, 'k6.log');
  const late = { atMs: 2000, kind: 'drill-ended', text: 'passed', drill: 'd-1' };
  const early = { atMs: 1000, kind: 'note', text: 'a "quoted" word' };
  writeFileSync(file, `Request Failed\n${line(late)}\n  ${line(late)}\n${line(early)}\n${EVENT_MARK}{"atMs":3`);
  assert.deepEqual(plain(await eventsIn(file)), [early, late]);
});
