import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { massImport } from '../../../../loadtest/labs/kit/benchmark.ts';
import { driven } from '../../../../loadtest/labs/kit/driven.ts';
import { coresOf, inLab, type Lab, type LabStore } from '../../../../loadtest/labs/kit/lab.ts';
import { fillCommands } from '../../../../loadtest/labs/kit/mix.ts';
import { createRandom } from '../../../../loadtest/random.ts';
import { accepts } from '../../../../loadtest/stack/process.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';

const MIX = { kind: 'mix', keys: 200, leastBytes: 100, mostBytes: 300, writes: 0.2 } as const;
const options = { cores: coresOf(processorsHere()), say: () => undefined, signal: new AbortController().signal };

let lab: Lab;
let store: LabStore;
let leave: () => void;
let left: Promise<void>;
before(async () => {
  await new Promise<void>((ready, failed) => {
    left = inLab(options, async (own) => {
      lab = own;
      store = await own.startStore();
      await massImport(own, store, fillCommands(MIX, createRandom(1).next));
      ready();
      await new Promise<void>((resolve) => {
        leave = resolve;
      });
    });
    left.catch(failed);
  });
});
after(async () => {
  leave();
  await left;
});

test('a store is filled completely by mass import, and one that refuses a command fails it', async () => {
  assert.equal(await store.command('DBSIZE'), 200);
  await assert.rejects(massImport(lab, store, [['SET', 'only-a-name']]), /wrong number of arguments/);
});

test("the driver's count of answers equals the store's count of commands, four reads to a write", async () => {
  await store.command('CONFIG', 'RESETSTAT');
  const result = await driven(lab, [store], { connections: 10, pipeline: 4, seconds: 1.5, commands: MIX });
  const statistics = await store.info('commandstats');
  const calls = (name: string): number => Number(/calls=(\d+)/.exec(statistics[`cmdstat_${name}`] ?? '')?.[1] ?? 0);
  const [reads, writes] = [calls('get'), calls('set')];
  // One batch of each connection at least, however busy the machine is.
  assert.ok(result.answered >= 40, `${result.answered}`);
  // Commands in flight at the end were executed but not counted.
  const uncounted = reads + writes - result.answered;
  assert.ok(uncounted >= 0 && uncounted <= 10 * 4, `${uncounted}`);
  assert.ok(Math.abs(writes / (reads + writes) - 0.2) < 0.05, `${writes} writes, ${reads} reads`);
  assert.deepEqual(result.errors, { late: 0, broken: 0, refused: 0, unsent: 0, unconnected: 0 });
  assert.ok(result.receivedBytes > reads * 100);
});

test('a store that is not there ends the load, and the error gives the number of connections that were opened', async () => {
  const targets = [{ host: '127.0.0.1', port: 1 }];
  await assert.rejects(
    driven(lab, [], { targets, connections: 2, seconds: 0.2, commands: MIX }),
    /only 0 of 2 connections/,
  );
});

test('everything that an experiment started is stopped when it fails', async () => {
  let [port, folder, ended] = [0, '', false];
  await assert.rejects(
    inLab(options, async (own) => {
      own.atEnd(async () => {
        ended = true;
      });
      port = (await own.startStore()).port;
      folder = own.folder;
      throw new Error('half way');
    }),
    /half way/,
  );
  assert.ok(ended && !existsSync(folder));
  assert.equal(await accepts(port), false);
});
