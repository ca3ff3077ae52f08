import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EVENT_MARK } from '../../../loadtest/k6/kit/event.ts';
import { eventIn, eventsIn } from '../../../loadtest/runner/k6-output.ts';

const folder = mkdtempSync(join(tmpdir(), 'serpcache-events-'));
after(() => rmSync(folder, { recursive: true }));

function line(event: unknown): string {
  return `${EVENT_MARK}${JSON.stringify(event)}`;
}

test('events are found among the other log lines of k6, in time order', async () => {
  const file = join(folder, 'k6.log');
  const late = { atMs: 2000, kind: 'drill-ended', text: 'passed', drill: 'd-1' };
  const early = { atMs: 1000, kind: 'note', text: 'a "quoted" word' };
  writeFileSync(file, `Request Failed\n${line(late)}\n  ${line(late)}\n${line(early)}\n${EVENT_MARK}{"atMs":3`);
  assert.deepEqual(await eventsIn(file), [early, late]);
});

test('a line without a time, a kind or a text is not an event', () => {
  for (const wrong of [
    { kind: 'note', text: '' },
    { atMs: 1, text: '' },
    { atMs: '1', kind: 'note', text: '' },
    [],
    1,
    null,
  ]) {
    assert.equal(eventIn(line(wrong)), undefined);
  }
});

test('a run without a log has no events', async () => {
  assert.deepEqual(await eventsIn(join(folder, 'none.log')), []);
});
