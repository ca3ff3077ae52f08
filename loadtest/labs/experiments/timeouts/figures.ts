import type { LabDriven } from '../../kit/driven.ts';
import type { DrivenSecond } from '../../kit/driver/plan.ts';
import type { Limit } from '../../kit/finding.ts';

/** One way to end a wait, as it went once through a slow spell. */
export interface Figures {
  readonly answeredPerSecond: number;
  /** Of all commands: what was not answered by its deadline, or lost with a connection. */
  readonly lostShare: number;
  /** Of those that were lost: given up before they were sent, as by a breaker. */
  readonly unsentShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of all commands, a lost one counted at the deadline. */
  readonly meanOfAllMs: number;
  /** Whole seconds from the first to the last in which more than one of a hundred was lost. */
  readonly slowSeconds: number;
  /** The last second was still one of them: it lasted at least so long. */
  readonly isSlowAtEnd: boolean;
  /** Connections the store accepted beside those the load began with. */
  readonly opened: number;
  /** Connections it held at once. */
  readonly mostOpen: number;
  /** Of the time, the store was ready to run and its processor was somebody else's. */
  readonly waitedShare: number;
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
  readonly eachSecond: readonly DrivenSecond[];
}

/** One in a hundred: below it a p99 is that of answers. */
const SLOW_SHARE = 0.01;

export function figuresOf(
  load: LabDriven,
  around: Pick<Figures, 'opened' | 'mostOpen' | 'waitedShare'> & { readonly deadlineMs: number },
): Figures {
  const { late, broken, refused, unsent } = load.errors;
  const lost = late + broken + refused + unsent;
  const all = Math.max(1, load.answered + lost);
  const slow = load.eachSecond.flatMap((second, at) => (isSlow(second) ? [at] : []));
  const [first = 0, last = -1] = [slow[0], slow.at(-1)];
  return {
    answeredPerSecond: load.perSecond,
    lostShare: lost / all,
    unsentShare: unsent / Math.max(1, lost),
    p50Ms: load.latencyMs.p50,
    p99Ms: load.latencyMs.p99,
    meanOfAllMs: (load.answered * load.latencyMs.mean + lost * around.deadlineMs) / all,
    slowSeconds: last - first + 1,
    isSlowAtEnd: last >= 0 && last === load.eachSecond.length - 1,
    opened: around.opened,
    mostOpen: around.mostOpen,
    waitedShare: around.waitedShare,
    storeCores: load.storeCores,
    generatorCores: load.generatorCores,
    limit: load.limit,
    eachSecond: load.eachSecond,
  };
}

function isSlow({ answered, failed }: DrivenSecond): boolean {
  return failed > SLOW_SHARE * (answered + failed);
}

/** Of several rounds the one in which the machine was quietest for the store: a choice that knows nothing of its outcome. */
export function quietestOf(rounds: readonly Figures[]): Figures | undefined {
  return rounds.toSorted((one, other) => one.waitedShare - other.waitedShare)[0];
}
