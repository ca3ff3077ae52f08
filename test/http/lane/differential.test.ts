import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DifferentialResult, runDifferential, summaryOf } from './differential.ts';

const STREAMS = 20_000;
/** Another seed, and more streams: `node test/http/lane/differential.ts --streams 200000`. */
const SEED = 19;
/** Maximum share of streams with the difference that compare.ts knows. */
const MAX_KNOWN = 0.005;

test('20,000 byte streams have the same answers, ends, events and log lines with the lane and without it', async (t) => {
  const result = await runDifferential({ streams: STREAMS, seed: SEED });
  t.diagnostic(summaryOf(result));
  assert.deepEqual(result.differences, [], `seed ${SEED}`);
  assert.equal(result.streams, STREAMS);
  assert.ok(result.known <= MAX_KNOWN * STREAMS, `${result.known} streams with the known difference`);
  const { kinds, statuses } = result;
  assert.ok(shareByLane(kinds.usual) > 0.99, 'the lane answers searches that it understands');
  assert.ok(shareByLane(kinds.slow) > 0.5, 'the lane waits for answers that come late');
  assert.ok(shareByLane(kinds.mixed) < 0.5, 'other requests leave the lane, with all that follow them');
  for (const kind of Object.values(kinds)) assert.ok(kind.streams > STREAMS / 100);
  for (const status of ['100', '200', '304', '400', '404', '405', '406', '414', '417', '431', '500', '503'])
    assert.ok((statuses[status] ?? 0) > 10, `${statuses[status]} answers ${status}`);
});

test('two servers without a lane differ in no stream', async () => {
  const result = await runDifferential({ streams: 1000, seed: SEED, lane: 'off' });
  assert.deepEqual(result.differences, []);
  assert.equal(result.known, 0);
  assert.equal(shareByLane(result.kinds.usual), 0);
});

function shareByLane({ answers, byLane }: DifferentialResult['kinds']['usual']): number {
  return byLane / answers;
}
