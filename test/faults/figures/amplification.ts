import { createRandom } from '../../../loadtest/random.ts';
import { createZipf } from '../../../loadtest/traffic/zipf.ts';
import type { Defence } from '../configuration.ts';
import { createReference } from '../verdict.ts';
import {
  type Amplification,
  ENGINE_DELAY_MS,
  learn,
  measureWave,
  PATIENT_STORE_DEADLINE_MS,
  startBurstClients,
  type Wave,
} from './amplification-run.ts';
import { type Figure, type FigureResult, type FigureVerdict, measured, noneFound } from './figure.ts';
import { startFleet } from './fleets.ts';

const PROCESSES = 3;
const CLIENTS = 200;
const SEARCHES = 300;
const BURST_INTERVAL_MS = 400;

const DEFAULT_STORE_DEADLINE_MS = 50;

const ABLATIONS: readonly (readonly Defence[])[] = [[], ['lease'], ['lease', 'coalescing']];
const WAVES: readonly Wave[] = [
  ...(['cold', 'stale', 'storeless'] as const).flatMap((kind) =>
    ABLATIONS.map((without) => ({ kind, without, storeDeadlineMs: PATIENT_STORE_DEADLINE_MS })),
  ),
  // For comparison: the cost of a shorter store deadline.
  { kind: 'cold', without: [], storeDeadlineMs: DEFAULT_STORE_DEADLINE_MS },
];

/** Counts, at the engine, the searches per distinct search when every page must be computed again at once. */
export const AMPLIFICATION: Figure = {
  name: 'amplification',
  summary: `engine searches per distinct search: ${PROCESSES} processes, ${CLIENTS} clients in volleys, an engine of ${ENGINE_DELAY_MS} ms`,
  run: async ({ checkout }) => {
    const fleet = await startFleet({ checkout, processes: PROCESSES, searches: SEARCHES });
    const { next: random } = createRandom(1);
    const rank = createZipf({ size: SEARCHES, exponent: 1 });
    const reference = createReference();
    const clients = startBurstClients({
      urls: fleet.services.map(({ url }) => url),
      count: CLIENTS,
      intervalMs: BURST_INTERVAL_MS,
      text: () => fleet.texts[rank(random)] ?? '',
      random,
      reference,
    });
    try {
      await learn(fleet, reference);
      clients.ask(true);
      const waves: Amplification[] = [];
      for (const wave of WAVES) waves.push(await measureWave(fleet, clients, wave));
      return resultOf(waves);
    } finally {
      await clients.stop();
      await fleet.stop();
    }
  },
};

const NAMES: Readonly<Record<Wave['kind'], string>> = {
  cold: 'L1 and store lost',
  stale: 'all entries stale',
  storeless: 'L1 lost, no store',
};

export function resultOf(waves: readonly Amplification[]): FigureResult {
  const whole = waves.filter(
    ({ without, storeDeadlineMs }) => without.length === 0 && storeDeadlineMs === PATIENT_STORE_DEADLINE_MS,
  );
  const faults = waves.flatMap(({ clients }) => clients.faults);
  const answers = waves.map(({ clients }) => clients.pages + clients.refused);
  return {
    table: waves.map((each) => ({
      wave: NAMES[each.kind],
      without: each.without.join(', ') || '–',
      'store deadline ms': each.storeDeadlineMs,
      pages: each.clients.pages,
      refused: each.clients.refused,
      distinct: each.distinct,
      searches: each.searches,
      'per key': ratio(each).toFixed(2),
      'most of one': each.mostOfOne,
      'leases open': each.open.leases,
      'slow/node open/down': `${each.open.slow}/${each.open.nodeOpen}/${each.open.down}`,
    })),
    verdicts: [
      ...whole.map((each) => verdictOf(each)),
      {
        says: `every answer is the engine's page or an honest refusal${faults[0] === undefined ? '' : `; not ${faults[0]}`}`,
        holds: noneFound(faults, Math.min(...answers)),
      },
    ],
  };
}

const ratio = ({ searches, distinct }: Pick<Amplification, 'searches' | 'distinct'>): number => searches / distinct;

function verdictOf(each: Amplification): FigureVerdict {
  const perKey = `${NAMES[each.kind]}: ${ratio(each).toFixed(2)} engine searches per distinct one`;
  // Without a store the processes are independent; a mean would hide that one of them asked twice.
  return each.kind === 'storeless'
    ? {
        says: `${perKey}, ${each.mostOfOne} of one at most, for ${PROCESSES} processes`,
        holds: measured(ratio(each), () => each.mostOfOne <= PROCESSES),
      }
    : { says: `${perKey}, at most 1.00`, holds: measured(ratio(each), (value) => value.toFixed(2) === '1.00') };
}
