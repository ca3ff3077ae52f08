import { countText } from '../../../../src/report/format.ts';
import { driven } from '../../kit/driven.ts';
import type { Lab } from '../../kit/lab.ts';
import { PUBLISHED_MIX } from '../../kit/mix.ts';
import { alternately } from '../../kit/rounds.ts';
import { type DrivenRow, drivenRow } from '../many-clients/driven-row.ts';
import type { WideStore } from '../many-clients/wide-store.ts';
import { ONE_RATE } from './at-one-rate.ts';

export interface PoolRow extends DrivenRow {
  readonly connections: number;
  /** Commands of each connection that are under way at once; absent at a rate. */
  readonly pipeline?: number;
}

/** Of one process; the largest is the published one. */
export const POOLS = [1, 3, 10, 30, 100];
/** Whatever the pool is: about as many commands as its process has under way, the same number on each connection. */
export const UNDER_WAY = 100;
const ROUNDS = 2;
const SECONDS = 1;

/** One process with a pool, at a given rate and with a given number of commands under way. */
export async function pools(
  lab: Lab,
  wide: WideStore,
): Promise<{ readonly atRate: readonly PoolRow[]; readonly saturated: readonly PoolRow[] }> {
  return {
    atRate: await measured(lab, wide, false),
    saturated: await measured(lab, wide, true),
  };
}

async function measured(lab: Lab, { store, targets }: WideStore, isSaturated: boolean): Promise<readonly PoolRow[]> {
  const all = await alternately(
    POOLS,
    ROUNDS,
    async (connections): Promise<PoolRow> => {
      const pipeline = pipelineOf(connections);
      lab.say(
        `a pool of ${connections}, ${isSaturated ? `${connections * pipeline} under way` : `${countText(ONE_RATE)}/s`}`,
      );
      const run = await driven(lab, [store], {
        targets,
        connections,
        seconds: lab.seconds(SECONDS),
        commands: { kind: 'mix', ...PUBLISHED_MIX },
        ...(isSaturated ? { pipeline } : { ratePerSecond: ONE_RATE }),
      });
      return { ...drivenRow(run), connections, ...(isSaturated && { pipeline }) };
    },
    (row) => (isSaturated ? -row.perSecond : row.meanMs),
  );
  return all.map(({ run }) => run);
}

/** Commands that each connection of a pool has under way. */
export function pipelineOf(connections: number): number {
  return Math.round(UNDER_WAY / connections);
}
