import { createFlights } from '../cache/coalesce.ts';
import type { Entry } from '../cache/entry.ts';
import type { EntryRules } from '../cache/rules.ts';
import { DeadlinePassed, withinDeadline } from '../resilience/deadline.ts';
import { type Guard, Shed } from '../resilience/guard.ts';
import type { PreparedSearch } from './answer.ts';
import { type EncodePageOptions, encodePage } from './encode-page.ts';
import { type Engine, EngineError } from './engine.ts';
import type { SearchEvent } from './events.ts';
import { withoutHidden } from './hide.ts';

/**
 * A second engine over the same catalogue, asked only when the first cannot answer. It has a guard of its own, so that
 * the load the first one lost cannot drown it. Its pages say `"degraded":true` and are stored nowhere: with the engine
 * back they are gone, and no hit ratio counts them.
 */
export interface Lifeboat {
  /** Undefined when it cannot answer either. */
  readonly rescue: (prepared: PreparedSearch) => Promise<Entry | undefined>;
}

export interface LifeboatOptions extends EncodePageOptions {
  readonly domain: string;
  readonly engine: Engine;
  readonly guard: Guard;
  /** Of one search, its wait included. */
  readonly deadlineMs: number;
  /** Documents that must not be shown. */
  readonly hides: EntryRules['hides'];
  readonly observe: (event: SearchEvent) => void;
}

/** Why a lifeboat's page is partial, in the words of a page. */
const WHY = 'the lifeboat engine answered';

export function createLifeboat(options: LifeboatOptions): Lifeboat {
  const { domain, engine, guard, deadlineMs, clock, observe } = options;
  const flights = createFlights<Entry>();

  const compute = async (prepared: PreparedSearch): Promise<Entry> => {
    const deadlineAtMs = clock.monotonicMs() + deadlineMs;
    const admission = await guard.admit({ deadlineAtMs, priority: 'people' });
    const bornMs = clock.monotonicMs();
    const createdAtMs = clock.wallMs();
    const page = await admission.run((_, signal) => engine.search(prepared.request, signal));
    const shown = withoutHidden(page, options.hides());
    const facts = { generation: 0, createdAtMs, bornMs, costMs: clock.monotonicMs() - bornMs };
    return encodePage(prepared, { ...shown, partial: WHY }, facts, options);
  };

  return {
    rescue: async (prepared) => {
      const startedMs = clock.monotonicMs();
      const { result, leads } = flights.join(prepared.key, () => compute(prepared));
      const say = (how: Extract<SearchEvent, { kind: 'lifeboat' }>['result']): void => {
        if (leads) observe({ kind: 'lifeboat', domain, result: how, durationMs: clock.monotonicMs() - startedMs });
      };
      try {
        const entry = await withinDeadline(result, deadlineMs);
        say(entry.empty ? 'empty' : 'whole');
        return entry;
      } catch (error) {
        if (error instanceof Shed) say('shed');
        else if (error instanceof DeadlinePassed) say('engine-timeout');
        else if (error instanceof EngineError) say(error.code);
        else throw error;
        return undefined;
      }
    },
  };
}
