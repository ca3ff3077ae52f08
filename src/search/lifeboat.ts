import type { Entry } from '../cache/entry.ts';
import type { EntryRules } from '../cache/invalidation.ts';
import { type Guard, within } from '../resilience/guard.ts';
import { isRefusedBy, SearchError } from '../resilience/search-error.ts';
import type { Engine } from './engine.ts';
import type { SearchEvent } from './events.ts';
import type { PreparedSearch } from './key.ts';
import { computeEntry, type EncodePageOptions } from './page.ts';

export type Lifeboat = ReturnType<typeof createLifeboat>;

export interface LifeboatOptions extends EncodePageOptions {
  readonly domain: string;
  readonly engine: Engine;
  readonly guard: Guard;
  /** The maximum duration of one search, its wait for a permit included. */
  readonly deadlineMs: number;
  /** Documents that must not be shown. */
  readonly hides: EntryRules['hides'];
  readonly observe: (event: SearchEvent) => void;
}

/** The reason of a partial page. */
const PARTIAL = 'the lifeboat engine answered';

/**
 * A second engine over the same catalogue, asked only when the first cannot answer. It has its own guard, so that the load
 * of the first engine cannot overload it. Its pages say `"degraded":true` and are stored nowhere: when the engine is back
 * they are gone, and no hit ratio counts them.
 */
export function createLifeboat(options: LifeboatOptions) {
  const { domain, engine, guard, deadlineMs, hides, clock, observe } = options;
  /** The running computations, by key. */
  const running = new Map<string, Promise<Entry>>();
  const encoding = { ...options, rules: { generation: () => 0, hides: () => hides('lifeboat') } };

  const compute = async (prepared: PreparedSearch): Promise<Entry> => {
    const deadlineAtMs = clock.monotonicMs() + deadlineMs;
    const permit = await guard.admit({ deadlineAtMs, priority: 'interactive' });
    const ask = async (_: number, signal: AbortSignal) => {
      const page = await engine.search(prepared.request, signal);
      return { ...page, partial: PARTIAL };
    };
    return computeEntry(prepared, permit, ask, encoding);
  };

  return {
    /** Undefined when it cannot answer either. */
    rescue: async (prepared: PreparedSearch): Promise<Entry | undefined> => {
      const joined = running.get(prepared.key);
      const leads = joined === undefined;
      const result = joined ?? compute(prepared).finally(() => running.delete(prepared.key));
      if (leads) running.set(prepared.key, result);
      const report = (outcome: Extract<SearchEvent, { kind: 'lifeboat' }>['result']): void => {
        if (leads) observe({ kind: 'lifeboat', domain, result: outcome });
      };
      try {
        const entry = await within(result, { maxWaitMs: deadlineMs, monotonicMs: clock.monotonicMs });
        report(entry.empty ? 'empty' : 'whole');
        return entry;
      } catch (error) {
        if (isRefusedBy('guard', error)) report('shed');
        else if (isRefusedBy('engine', error)) report(error.reason);
        else if (error instanceof SearchError) report('engine-timeout');
        else throw error;
        return undefined;
      }
    },
  };
}
