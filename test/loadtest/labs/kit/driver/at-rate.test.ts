import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timedFrom } from '../../../../../loadtest/http-driver/loops.ts';
import { type Connection, createTally } from '../../../../../loadtest/labs/kit/driver/connection.ts';
import { atRate } from '../../../../../loadtest/labs/kit/driver/drive.ts';

/** 1000 commands a second for one second, by a clock that only the pauses move; each is answered when it is sent. */
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
  return { send: nothing, waiting, open: async () => true, sweep: nothing, close: nothing };
}

test('a stall of 100 ms delays every command that was due during it: p99 is about 100 ms', async () => {
  // A tenth of all commands was due during the stall, each waiting a millisecond less than the one before.
  const { answered, maxMs, p99Ms, p50Ms } = await aSecond((pause) => (pause === 500 ? 100 : 1));
  assert.equal(answered, 1000);
  isAbout(maxMs, 99);
  isAbout(p99Ms, 90);
  isAbout(p50Ms, 0);
});

test('a stall that lasts beyond the end does not drop the commands that were due before the end', async () => {
  const { answered, maxMs } = await aSecond((pause) => (pause === 950 ? 200 : 1));
  assert.equal(answered, 1000);
  isAbout(maxMs, 199);
});

test('a command sent later than the timer tolerance is timed from when it was due', () => {
  assert.deepEqual([timedFrom(10, 12.4), timedFrom(10, 12.5), timedFrom(10, 110)], [12.4, 10, 10]);
});

test('a command due on a connection with 5000 in flight is not sent, and is counted', async () => {
  const [full, roomy] = [waitingFor(() => 5000), waitingFor(() => 4999)];
  const { sent, errors, eachSecond } = await aSecond(() => 1, [full, roomy]);
  assert.deepEqual([sent.length, errors.unsent, eachSecond[0]?.failed], [500, 500, 500]);
  assert.ok(sent.every((connection) => connection === roomy));
});
