import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRate } from '../../../../loadtest/lab/driver/at-rate.ts';
import type { Connection } from '../../../../loadtest/lab/driver/connection.ts';
import { createTally } from '../../../../loadtest/lab/driver/tally.ts';
import { timedFrom } from '../../../../loadtest/lab/timed-from.ts';

/** A thousand commands a second for a second, by a clock that only the pauses move; each is answered as it is sent. */
async function aSecond(pauseMs: (pause: number) => number, connections = [waitingFor(() => 0)]) {
  let [now, pauses] = [0, 0];
  const nowMs = (): number => now;
  const tally = createTally(0, nowMs);
  const sent: Connection[] = [];
  await atRate({
    ratePerSecond: 1000,
    endMs: 1000,
    connections,
    send: (connection, dueMs) => {
      sent.push(connection);
      tally.answered(now - dueMs);
    },
    tally,
    nowMs,
    pause: async () => {
      pauses += 1;
      now += pauseMs(pauses);
    },
  });
  return { sent, ...tally.end() };
}

const isAbout = (ms: number, wanted: number): void => assert.ok(Math.abs(ms - wanted) < 2, `${ms} ms, not ${wanted}`);

function waitingFor(waiting: () => number): Connection {
  const nothing = (): void => undefined;
  return { send: nothing, waiting, pending: waiting, open: async () => true, sweep: nothing, close: nothing };
}

test('a standstill of 100 ms is seen by everything that was due meanwhile: p99 is about that', async () => {
  // A tenth of all commands was due in it, each later one waiting a millisecond less.
  const { answered, latencyMs } = await aSecond((pause) => (pause === 500 ? 100 : 1));
  assert.equal(answered, 1000);
  isAbout(latencyMs.max, 99);
  isAbout(latencyMs.p99, 90);
  isAbout(latencyMs.p95, 50);
  isAbout(latencyMs.p50, 0);
});

test('a standstill across the end takes nothing away that was due before it', async () => {
  const { answered, latencyMs } = await aSecond((pause) => (pause === 950 ? 200 : 1));
  assert.equal(answered, 1000);
  isAbout(latencyMs.max, 199);
});

test('a timer that is late by two milliseconds is no latency of the store', async () => {
  const { answered, latencyMs } = await aSecond(() => 2);
  assert.ok(answered > 995, `${answered}`);
  assert.ok(latencyMs.max < 0.1, `${latencyMs.max} ms`);
});

test('what is sent later than a timer may be is timed from when it was due', () => {
  assert.deepEqual([timedFrom(10, 12.4), timedFrom(10, 12.5), timedFrom(10, 110)], [12.4, 10, 10]);
});

test('commands go to one connection after the other', async () => {
  const connections = [waitingFor(() => 0), waitingFor(() => 0), waitingFor(() => 0)];
  const { sent } = await aSecond(() => 1, connections);
  for (const [at, connection] of sent.entries()) assert.equal(connection, connections[at % 3]);
});

test('what is due on a connection with 5000 under way is not sent, and counted', async () => {
  const [full, roomy] = [waitingFor(() => 5000), waitingFor(() => 4999)];
  const { sent, errors, eachSecond } = await aSecond(() => 1, [full, roomy]);
  assert.deepEqual([sent.length, errors.unsent, eachSecond[0]?.failed], [500, 500, 500]);
  assert.ok(sent.every((connection) => connection === roomy));
});
