import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../folder.ts';
import { attacks } from './attacks.ts';
import { type DifferentialResult, runDifferential, summaryOf } from './differential.ts';
import { faultOf } from './folder.ts';
import type { Played } from './play.ts';
import { HIT_TARGETS } from './requests.ts';
import { STREAM_KINDS } from './streams.ts';

const STREAMS = 5000;
/** Another seed, and more streams: `node test/http/lane/differential.ts --streams 200000`. */
const SEED = 19;
/** Maximum share of streams with the difference that compare.ts knows. */
const MAX_KNOWN = 0.005;

test('5,000 byte streams have the same answers, ends, events and log lines with the lane and without it', async (t) => {
  const result = await runDifferential({ streams: STREAMS, seed: SEED });
  t.diagnostic(summaryOf(result));
  assert.deepEqual(result.differences, [], `seed ${SEED}`);
  assert.equal(result.streams, STREAMS);
  assert.ok(result.known <= MAX_KNOWN * STREAMS, `${result.known} streams with the known difference`);
  const { kinds, statuses } = result;
  assert.ok(shareByLane(kinds.usual) > 0.99, 'the lane answers searches that it understands');
  assert.ok(shareByLane(kinds.slow) > 0.5, 'the lane waits for answers that come late');
  assert.ok(shareByLane(kinds.mixed) < 0.5, 'other requests leave the lane, with all that follow them');
  for (const kind of STREAM_KINDS) assert.ok(kinds[kind].streams > STREAMS / 100);
  for (const status of ['100', '200', '304', '400', '404', '405', '414', '417', '431', '500', '503'])
    assert.ok((statuses[status] ?? 0) > 10, `${statuses[status]} answers ${status}`);
});

test('two servers without a lane differ in no stream', async () => {
  const result = await runDifferential({ streams: 1000, seed: SEED, lane: 'off' });
  assert.deepEqual(result.differences, []);
  assert.equal(result.known, 0);
  assert.equal(shareByLane(result.kinds.usual), 0);
});

test('the files of a folder are sent whole, in pieces and between searches, and no answer is out of its place', async (t) => {
  const files = attacks(HIT_TARGETS[0] ?? '').filter((_, at) => at % 3 === 0);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'inner'));
  for (const [at, bytes] of files.entries())
    writeFileSync(join(folder, at % 2 === 0 ? '.' : 'inner', `${at}.http`), bytes, 'latin1');
  const { streams, differences, kinds } = await runDifferential({ streams: 10_000, seed: SEED, folder });
  assert.deepEqual(differences, []);
  assert.deepEqual([streams, kinds.file.streams], [5 * files.length, 5 * files.length]);
  assert.ok(kinds.file.byLane > files.length, 'the searches before them');
});

test('an answer out of its place is a fault of the server', () => {
  const search = (id: string): string => `GET /search?q=a HTTP/1.1\r\nHost: t\r\nX-Request-Id: ${id}\r\n\r\n`;
  const answer = (id: string): string => `HTTP/1.1 200 OK\r\nx-request-id: ${id}\r\nContent-Length: 2\r\n\r\n`;
  const chunks = [search('before'), 'GET / HTTP/1.1\r\n\r\n', search('after')];
  const stream = { kind: 'file', word: 'n', chunks, pauses: [0, 0, 0], ending: 'quiet' } as const;
  const fault = (text: string, closedBy: Played['closedBy'] = 'client') =>
    faultOf(stream, { text, closedBy, beforeEnd: 0, written: 3, requests: 0 });
  const [first, last] = [`${answer('before')}{}`, `${answer('after')}{}`];
  const between = `${answer('x')}{}`;
  for (const whole of [first + between + last, first + between, first, first + answer('head') + last])
    assert.equal(fault(whole), undefined);
  assert.equal(fault(first, 'stuck'), 'the connection is not closed');
  assert.equal(fault(`${answer('before')}HTTP/1.1 100 Continue\r\n\r\n{}`), 'there are bytes between two answers');
  assert.match(fault(between + first + last) ?? '', /not answered first/);
  assert.match(fault(first + last + between) ?? '', /not answered last/);
});

function shareByLane({ answers, byLane }: DifferentialResult['kinds']['usual']): number {
  return byLane / answers;
}
