import { countText } from '../../../../src/report/format.ts';
import type { Lab } from '../../kit/lab.ts';
import { alternately } from '../../kit/rounds.ts';
import { type Counted, countedBenchmark, MOST_CLIENTS } from '../many-clients/counted-benchmark.ts';
import { leftAlone, type WideStore } from '../many-clients/wide-store.ts';

const ROUNDS = 2;
const SECONDS = 1.5;
const PILOT_REQUESTS = 20_000;
/** Else some connections would hardly be used. */
const LEAST_OF_EACH = 5;

/** As many commands as can be by so many connections, each waiting for its reply. */
export async function atFullSpeed(
  lab: Lab,
  { store, targets }: WideStore,
  rungs: readonly number[],
): Promise<readonly Counted[]> {
  let [rate, turn] = [0, 0];
  const once = async (clients: number, requests: number): Promise<Counted> => {
    await leftAlone(lab, store);
    turn += 1;
    const host = targets[turn % targets.length]?.host ?? store.host;
    const run = await countedBenchmark(lab, { store, host, clients, requests });
    rate = run.perSecond;
    return run;
  };
  const possible = rungs.filter((clients) => clients <= MOST_CLIENTS);
  await once(Math.min(...possible), PILOT_REQUESTS);
  const all = await alternately(
    possible,
    ROUNDS,
    async (clients, before: readonly Counted[]) => {
      // Opening ten thousand takes longer than all else: what the first round says is enough.
      const known = before.at(-1);
      if (known !== undefined && clients >= MOST_CLIENTS) return known;
      lab.say(`${countText(clients)} connections at full speed`);
      const expected = known?.perSecond ?? rate;
      return once(clients, Math.max(clients * LEAST_OF_EACH, Math.round(expected * lab.seconds(SECONDS))));
    },
    // The faster of two: whatever else runs only takes away.
    ({ perSecond }) => -perSecond,
  );
  return all.map(({ run }) => run);
}
