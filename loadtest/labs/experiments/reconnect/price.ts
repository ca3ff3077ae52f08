import { driven } from '../../kit/driven.ts';
import type { Lab } from '../../kit/lab.ts';
import { PUBLISHED_MIX } from '../../kit/mix.ts';
import { type DrivenRow, drivenRow, usOf } from '../many-clients/driven-row.ts';
import { leftAlone, startWideStore, type WideStore } from '../many-clients/wide-store.ts';
import { closedLoopRow } from './closed-loop-rows.ts';
import { MANNERS, type Manner } from './manner.ts';

export interface PriceRow extends DrivenRow {
  readonly manner: Manner;
  readonly isTls: boolean;
  readonly connectsPerSecond: number;
}

export const PRICE_CLIENTS = 50;
const ROUNDS = 2;
const SECONDS = 2;

/**
 * What a connect costs the store: a new connection for each command as fast as the generator can, then kept ones at the
 * very rate that gave. What the store used for either does not depend on how slow the generator is.
 */
export async function prices(lab: Lab, plain: WideStore): Promise<readonly PriceRow[]> {
  const secure = await startWideStore(lab, { tls: true });
  const all: PriceRow[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const wide of [plain, secure]) all.push(...(await pair(lab, wide, wide === secure)));
  }
  return [false, true].flatMap((isTls) =>
    ['new each time', 'kept'].flatMap((name) => {
      const own = all.filter((row) => row.isTls === isTls && row.manner.name === name);
      const [first] = own;
      return first === undefined ? [] : [{ ...first, ...together(own) }];
    }),
  );
}

async function pair(lab: Lab, wide: WideStore, isTls: boolean): Promise<readonly PriceRow[]> {
  const [kept, each] = [MANNERS[0], MANNERS.at(-1)];
  if (kept === undefined || each === undefined) return [];
  const seconds = lab.seconds(SECONDS);
  const how = isTls ? ' with TLS' : '';
  lab.say(`${PRICE_CLIENTS} clients${how}, ${each.name}`);
  const anew = await closedLoopRow(lab, wide, { clients: PRICE_CLIENTS, manner: each, seconds });
  lab.say(`${PRICE_CLIENTS} clients${how}, ${kept.name}, at the same rate`);
  await leftAlone(lab, wide.store);
  const run = await driven(lab, [wide.store], {
    targets: wide.targets,
    seconds,
    connections: PRICE_CLIENTS,
    ratePerSecond: Math.max(1, Math.round(anew.perSecond)),
    commands: { kind: 'mix', ...PUBLISHED_MIX },
    ...(wide.ca !== undefined && { ca: wide.ca }),
  });
  return [
    { ...anew, isTls },
    { ...drivenRow(run), manner: kept, isTls, connectsPerSecond: run.connects / run.seconds },
  ];
}

/** Of all rounds: processor time is counted in steps of 10 ms, which one round at a low rate has few of. */
export function together(rows: readonly PriceRow[]) {
  const over = (figure: (row: PriceRow) => number): number => rows.reduce((sum, row) => sum + figure(row), 0);
  const seconds = over((row) => row.seconds);
  const perSecond = over((row) => row.answered) / seconds;
  const storeCores = over((row) => row.storeCores * row.seconds) / seconds;
  const generatorCores = over((row) => row.generatorCores * row.seconds) / seconds;
  return {
    perSecond,
    storeCores,
    generatorCores,
    storeUs: usOf(storeCores, perSecond),
    generatorUs: usOf(generatorCores, perSecond),
    connectsPerSecond: over((row) => row.connects) / seconds,
    errors: over((row) => row.errors),
  };
}
