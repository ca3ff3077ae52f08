import { countText } from '../../../../src/report/format.ts';
import { driven } from '../../kit/driven.ts';
import type { Lab } from '../../kit/lab.ts';
import { PUBLISHED_MIX } from '../../kit/mix.ts';
import { alternately } from '../../kit/rounds.ts';
import { type DrivenRow, drivenRow } from '../many-clients/driven-row.ts';
import { leftAlone, type WideStore } from '../many-clients/wide-store.ts';
import { MANNERS, type Manner } from './manner.ts';

export interface ClosedRow extends DrivenRow {
  readonly manner: Manner;
  readonly clients: number;
  readonly connectsPerSecond: number;
}

const ROUNDS = 2;
const SECONDS = 1.5;

/** Every manner by every number of clients, each client asking again as soon as it was answered. */
export async function closedLoopRows(
  lab: Lab,
  wide: WideStore,
  rungs: readonly number[],
): Promise<readonly ClosedRow[]> {
  const rows = await alternately(
    rungs.flatMap((clients) => MANNERS.map((manner) => ({ clients, manner }))),
    ROUNDS,
    ({ clients, manner }) => {
      lab.say(`${countText(clients)} clients, ${manner.name}`);
      return closedLoopRow(lab, wide, { clients, manner, seconds: lab.seconds(SECONDS) });
    },
    // The faster of two: whatever else runs only takes away.
    ({ perSecond }) => -perSecond,
  );
  return rows.map(({ run }) => run);
}

export async function closedLoopRow(
  lab: Lab,
  { store, targets, ca }: WideStore,
  options: { readonly clients: number; readonly manner: Manner; readonly seconds: number },
): Promise<ClosedRow> {
  const { clients, manner, seconds } = options;
  await leftAlone(lab, store);
  const run = await driven(lab, [store], {
    targets,
    seconds,
    connections: clients,
    commands: { kind: 'mix', ...PUBLISHED_MIX },
    ...(manner.every !== undefined && { commandsPerConnection: manner.every, isSettled: true }),
    ...(ca !== undefined && { ca }),
  });
  return { ...drivenRow(run), manner, clients, connectsPerSecond: run.connects / run.seconds };
}
