import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  breakLinks,
  masterFigures,
  type PersistenceRow,
  replicaConfig,
  SETUPS,
  settled,
} from '../../../../loadtest/labs/experiments/persistence/measure.ts';
import { persistence } from '../../../../loadtest/labs/experiments/persistence.ts';
import { inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { claimOf, type Found, LAB } from './harness.ts';

type Change = (row: PersistenceRow) => Partial<PersistenceRow>;

/** Every setup at x1, x3 and x5, all without problems, then modified by `changes`. */
function findingWith(...changes: readonly Change[]): Found {
  const rows = [1, 3, 5].flatMap((times) =>
    SETUPS.map((setup) => {
      const row: PersistenceRow = {
        setup,
        times,
        attachedBefore: setup.replicas,
        askedPerSecond: 2333 * times,
        answeredPerSecond: 2330 * times,
        seconds: 5,
        p99Ms: 4,
        maxMs: 10,
        longestMs: 1,
        storeCores: 0.2,
        limit: 'neither',
        fullSyncs: 0,
        attached: setup.replicas,
        evicted: 400 * times,
      };
      return Object.assign(row, ...changes.map((change) => change(row)));
    }),
  );
  return persistence.findingOf(rows);
}

/** For rows of the published site. */
const atSite =
  (own: Partial<PersistenceRow>): Change =>
  ({ setup }) =>
    setup.replicas > 0 && setup.hasSnapshots ? own : {};
const away: Change = ({ setup, times }) => (setup.replicas > 0 && times > 1 ? { fullSyncs: 4, attached: 0 } : {});
const stalled = atSite({ p99Ms: 60, longestMs: 28 });
/** 36 bytes each: 1 MiB is 29,128 of them. */
const evicting: Change = ({ setup }) => (setup.replicas > 0 ? { evicted: 5 * 30_000 } : {});
/** For one row without either. */
const bare =
  (at: number, own: Partial<PersistenceRow>): Change =>
  ({ setup, times }) =>
    setup.name === 'neither' && times === at ? own : {};
const begunAgain: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas + 1 } : {});

for (const [name, found, verdict, effects] of [
  ['all published effects: it holds', findingWith(away, stalled, evicting), 'yes', [6, 3, 9]],
  ['replicas lose nothing and the master does not stall: it does not hold', findingWith(), 'no', [0, 0, 0]],
  ['a restarted full resync counts as unfinished', findingWith(begunAgain), 'partly', [9, 0, 0]],
  [
    'a p99 below twice the worst one without either',
    findingWith(atSite({ p99Ms: 7.9, longestMs: 28 })),
    'no',
    [0, 0, 0],
  ],
  ['the worst one is that of any load', findingWith(stalled, bare(5, { p99Ms: 31 })), 'no', [0, 0, 0]],
  [
    'x3 without either has too few answers',
    findingWith(away, bare(3, { answeredPerSecond: 6000 })),
    'unseen',
    [6, 0, 0],
  ],
  ['x3 without either has late answers', findingWith(away, bare(3, { p99Ms: 51 })), 'unseen', [6, 0, 0]],
] as const)
  test(name, () => {
    assert.equal(found.verdict, verdict);
    const claims = [/full resync had to begin again/, /the master stalled/, /evictions alone outran/];
    assert.deepEqual(
      claims.map((claim) => claimOf(found, claim)[0]),
      effects,
    );
  });

test('a replica whose link breaks while more is written than the backlog holds needs a full copy of the memory', async () => {
  await inLab(LAB, async (lab) => {
    const master = await lab.startStore({ cores: 'any', config: ['repl-backlog-size 16kb', 'maxmemory 64mb'] });
    const replica = await lab.startStore({ cores: 'any', config: replicaConfig(master.port) });
    assert.ok(await settled(master, 1, 15_000, lab.signal));
    const write = async (bytes: number): Promise<unknown> => {
      await sleep(100);
      return master.command('SET', 'page', 'x'.repeat(bytes));
    };
    const syncsAfter = async (bytes: number) => {
      const before = await masterFigures(master);
      await Promise.all([breakLinks(master, [replica], 0.4, lab.signal), write(bytes)]);
      assert.ok(await settled(master, 1, 15_000, lab.signal));
      const after = await masterFigures(master);
      return [after.fullSyncs - before.fullSyncs, after.partialSyncs - before.partialSyncs];
    };
    assert.deepEqual(await syncsAfter(100), [0, 1]);
    assert.deepEqual(await syncsAfter(1_000_000), [1, 0]);
  });
});
