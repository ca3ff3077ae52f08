import type { Outcome } from '../../../../loadtest/labs/peers/compare.ts';
import type { DeadEngineFigures, Stampeded } from '../../../../loadtest/labs/peers/losing.ts';
import type { MemoryFigures, PageFigures } from '../../../../loadtest/labs/peers/serving.ts';

export interface Given {
  readonly keeps?: 'own' | 'shared';
  readonly page?: Partial<PageFigures>;
  readonly many?: Partial<PageFigures>;
  readonly memory?: Partial<MemoryFigures>;
  readonly queries?: number;
  readonly failedShare?: number;
  readonly dead?: Partial<DeadEngineFigures>;
}

const PAGE: PageFigures = {
  perSecond: 20_000,
  perCore: 20_000,
  serverCores: 1,
  clientCores: 0.4,
  storeCores: 0,
  storeUs: 0,
  storeCommands: 0,
  storeCommandsAtRate: 0,
  p50Ms: 0.4,
  p99Ms: 1,
  limit: 'store',
  spreads: { perCore: 1, p50Ms: 1, p99Ms: 1 },
};
const MEMORY: MemoryFigures = {
  pageBytes: 4096,
  keptShare: 1,
  residentPerPage: 8192,
  storePerPage: 0,
  diskPerPage: 0,
  residentBytes: 100 * 2 ** 20,
};
const DEAD: DeadEngineFigures = {
  freshShare: 1,
  expiredShare: 1,
  expiredP99Ms: 1,
  unseenOutcome: '503',
  unseenP50Ms: 1,
  recoveredSeconds: 1,
};

/** Level with `PAGE` and the other defaults in every field not given. Each given field was measured. */
export function outcome(name: string, given: Given): Outcome {
  const stampeded: Stampeded = {
    queriesPerKey: given.queries ?? 1,
    p50Ms: 210,
    p99Ms: 250,
    failedShare: given.failedShare ?? 0,
    outcome: '200',
    purgeRefusals: 0,
  };
  return {
    peer: { name, setUp: '', keeps: given.keeps ?? 'own' },
    page: given.page && { ...PAGE, ...given.page },
    many: given.many && { ...PAGE, ...given.many },
    memory: given.memory && { ...MEMORY, ...given.memory },
    stampede: given.queries ? { hot: stampeded, many: { ...stampeded, queriesPerKey: 1 } } : undefined,
    dead: given.dead && { ...DEAD, ...given.dead },
    problems: [],
  };
}

export const l1 = (given: Given): Outcome => outcome('serpcache L1', given);
export const l2 = (given: Given): Outcome => outcome('serpcache L2', given);
