import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gcPausesIn } from '../../../loadtest/freshness/memory.ts';

test('pauses are read from the lines of --trace-gc', () => {
  const log = `{"level":30,"msg":"ready"}
[19074:0x37cb9000]      374 ms: Scavenge 4.8 (5.4) -> 4.4 (6.1) MB, pooled: 0.0 MB, 37.68 / 0.00 ms (average mu = 1.000, current mu = 1.000) allocation failure; 
[19074:0x37cb9000]     6655 ms: Incremental Mark-Compact 73.1 (106.0) -> 61.3 (94.3) MB, pooled: 0.0 MB, 336.31 / 0.00 ms (+ 220.3 ms in 9 steps since start of marking, biggest step 162.1 ms, walltime since start of marking 878 ms) (average mu = 0.916, current mu = 0.916) finalize incremental marking via stack guard; GC in old space requested
`;
  assert.deepEqual(gcPausesIn(log), [37.68, 336.31]);
});
