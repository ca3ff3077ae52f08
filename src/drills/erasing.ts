import { BUCKETS } from '../cache/rules.ts';
import type { BucketRange } from '../control/document.ts';
import type { Flush } from '../flush/flush.ts';
import type { Circle } from './circle.ts';
import type { Plan } from './plan.ts';

/** The physical part of a drill that erases, behind its stages. */
export interface Erasing {
  /** What the stage adds to those before it. */
  readonly begin: (stage: number, circle: Circle, nodes: readonly string[] | undefined) => void;
  readonly isRunning: () => boolean;
  /** Why not everything was erased. */
  readonly failure: () => string | undefined;
  readonly stop: () => void;
}

export function createErasing(
  flush: Pick<Flush, 'erase'>,
  { mode, eraseBy, stages }: Pick<Plan, 'mode' | 'eraseBy' | 'stages'>,
): Erasing {
  const stopping = new AbortController();
  let running = 0;
  let failure: string | undefined;

  const erase = async (ranges: readonly BucketRange[], nodes: readonly string[] | undefined): Promise<void> => {
    running += 1;
    try {
      const ask = { ranges, by: eraseBy, ...(nodes === undefined ? {} : { nodes }) };
      const { state, nodes: erased } = await flush.erase(ask, stopping.signal);
      const failed = erased.find((node) => node.state === 'failed');
      if (state === 'failed') failure ??= `${failed?.node ?? 'a node'}: ${failed?.detail ?? 'it did not answer'}`;
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
    } finally {
      running -= 1;
    }
  };

  return {
    begin: (stage, circle, nodes) => {
      if (mode !== 'erase' || stages[stage]?.kind === 'blackout') return;
      // FLUSHALL asks nobody which bucket a key is in: the holdout goes with the rest.
      const ranges = eraseBy === 'flushall' ? [{ from: 0, to: BUCKETS }] : (circle.cohorts[stage + 1] ?? []);
      void erase(ranges, nodes);
    },
    isRunning: () => running > 0,
    failure: () => (stopping.signal.aborted ? undefined : failure),
    stop: () => stopping.abort(),
  };
}
