import { countText } from '../../../../src/report/format.ts';
import { driven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { PUBLISHED_MIX } from '../../kit/mix.ts';
import { alternately } from '../../kit/rounds.ts';
import { type DrivenRow, drivenRow } from '../many-clients/driven-row.ts';
import { leftAlone, type WideStore } from '../many-clients/wide-store.ts';

export interface AtOneRateRow extends DrivenRow {
  readonly connections: number;
  /** What the store keeps for each: query buffer, output buffer and what it knows of it. */
  readonly bytesEach: number;
}

/** What any store can do on any core, so that only the number of connections differs. */
export const ONE_RATE = 10_000;
const ROUNDS = 2;
const SECONDS = 2;
const LOOK_EVERY_MS = 250;

/** The published mix at one total rate, whatever the number of connections it comes by. */
export async function atOneRate(
  lab: Lab,
  { store, targets }: WideStore,
  rungs: readonly number[],
): Promise<readonly AtOneRateRow[]> {
  const all = await alternately(
    rungs,
    ROUNDS,
    async (connections): Promise<AtOneRateRow> => {
      lab.say(`${countText(connections)} connections, ${countText(ONE_RATE)} commands/s in all`);
      await leftAlone(lab, store);
      const { result, most } = await mostClientBytes(store, () =>
        driven(lab, [store], {
          targets,
          connections,
          seconds: lab.seconds(SECONDS),
          ratePerSecond: ONE_RATE,
          commands: { kind: 'mix', ...PUBLISHED_MIX },
        }),
      );
      return { ...drivenRow(result), connections, bytesEach: most / connections };
    },
    ({ meanMs }) => meanMs,
  );
  return all.map(({ run }) => run);
}

/** Runs `work` and says how much memory its clients had at the most, as the store counts it. */
async function mostClientBytes<T>(store: LabStore, work: () => Promise<T>) {
  let [most, isOver] = [0, false];
  const looking = (async () => {
    while (!isOver) {
      // Whoever looks is one more client; a store too busy to answer is looked at again.
      const memory = await store.info('memory').catch(() => undefined);
      most = Math.max(most, Number(memory?.['mem_clients_normal'] ?? 0));
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  try {
    const result = await work();
    return { result, most };
  } finally {
    isOver = true;
    await looking;
  }
}
