import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandStats } from '../../../../loadtest/labs/kit/meters.ts';

const info = async (section: string): Promise<Record<string, string>> => {
  assert.equal(section, 'commandstats');
  return {
    cmdstat_get: 'calls=12,usec=345,usec_per_call=28.75,rejected_calls=6,failed_calls=7',
    cmdstat_getex: 'calls=1,usec=2,usec_per_call=2.00,rejected_calls=0,failed_calls=0',
    // The order of the fields does not matter.
    cmdstat_set: 'rejected_calls=3,usec_per_call=4.00,usec=20,calls=5',
  };
};

test('calls and total microseconds are those of this command', async () => {
  assert.deepEqual(await commandStats({ info }, 'get'), { calls: 12, us: 345 });
  assert.deepEqual(await commandStats({ info }, 'set'), { calls: 5, us: 20 });
});

test('a command that was never called took 0 µs', async () => {
  assert.deepEqual(await commandStats({ info }, 'hgetall'), { calls: 0, us: 0 });
});
