import type { Entry } from '../cache/entry.ts';
import type { Lease, Leases } from '../cache/lease.ts';
import type { EntryRules } from '../cache/rules.ts';
import type { Kept, Lookup, Tiers } from '../cache/tiers.ts';
import { DeadlinePassed } from '../resilience/deadline.ts';
import { type Admission, type Guard, Shed } from '../resilience/guard.ts';
import type { PreparedSearch } from './answer.ts';
import { type EncodePageOptions, encodePage } from './encode-page.ts';
import { type Engine, EngineError } from './engine.ts';
import type { Errand } from './errand.ts';
import type { SearchEvent } from './events.ts';
import { withoutHidden } from './hide.ts';
import type { ResultPage } from './page.ts';

/**
 * What every flight ends in: a permit, the lease of the key, the engine, and the page kept in both tiers. Of all the
 * processes only the one that holds the lease asks the engine; the others give their permit back and watch the store.
 */
export type Compute = (prepared: PreparedSearch, task: ComputeTask) => Promise<Computed>;

export interface ComputeTask {
  readonly errand: Errand;
  /** Called when the engine starts to work. */
  readonly onStart: () => void;
  /** False when the store has just failed. */
  readonly storeIsUp: boolean;
  /** Wall time: a stored entry created after it is as good as a new page. Absent: nothing but the engine's will do. */
  readonly newerThanMs?: number;
}

export interface Computed {
  readonly entry: Entry;
  /** `fleet`: another process computed it meanwhile. */
  readonly from: 'engine' | 'fleet';
  readonly stored: Kept;
}

export interface ComputeOptions extends EncodePageOptions {
  readonly domain: string;
  /** The same index behind each; the guard says which. */
  readonly engines: readonly Engine[];
  readonly guard: Guard;
  readonly tiers: Tiers;
  /** Absent where there is no store. */
  readonly leases?: Leases;
  readonly rules: EntryRules;
  /** For events: a reply after it is late. */
  readonly deadlineMs: number;
  readonly observe: (event: SearchEvent) => void;
}

type EngineResult = Extract<SearchEvent, { kind: 'engine' }>['result'];

export function createCompute(options: ComputeOptions): Compute {
  const { domain, engines, guard, tiers, leases, rules, clock, observe } = options;

  const ask = async (prepared: PreparedSearch, endpoint: number, signal: AbortSignal): Promise<ResultPage> => {
    const startedMs = clock.monotonicMs();
    const say = (result: EngineResult, detail?: string): void => {
      const durationMs = clock.monotonicMs() - startedMs;
      const late = durationMs > options.deadlineMs;
      observe({ kind: 'engine', domain, result, late, durationMs, ...(detail === undefined ? {} : { detail }) });
    };
    try {
      const engine = engines[endpoint];
      if (engine === undefined) throw new Error(`no engine ${endpoint}`);
      const page = await engine.search(prepared.request, signal);
      say(page.partial !== undefined ? 'partial' : page.results.length === 0 ? 'empty' : 'whole', page.partial);
      return page;
    } catch (error) {
      if (error instanceof EngineError) say(error.code, error.message);
      throw error;
    }
  };

  const fromEngine = async (prepared: PreparedSearch, admission: Admission, task: ComputeTask): Promise<Entry> => {
    let createdAtMs = 0;
    let bornMs = 0;
    let generation = 0;
    const page = await admission.run((endpoint, signal) => {
      task.onStart();
      generation = rules.generation();
      createdAtMs = clock.wallMs();
      bornMs = clock.monotonicMs();
      return ask(prepared, endpoint, signal);
    });
    const costMs = clock.monotonicMs() - bornMs;
    const shown = withoutHidden(page, rules.hides());
    return encodePage(prepared, shown, { generation, createdAtMs, bornMs, costMs }, options);
  };

  /** A page that somebody else computed, if it is what this flight wants. */
  const asWanted = (found: Lookup, { newerThanMs }: ComputeTask): Computed | undefined => {
    if (newerThanMs === undefined || found.kind !== 'found' || found.freshness !== 'fresh') return undefined;
    if (found.entry.createdAtMs <= newerThanMs) return undefined;
    return { entry: found.entry, from: 'fleet', stored: { l1: true, l2: false } };
  };

  const fromStored = (prepared: PreparedSearch, value: Buffer | undefined, task: ComputeTask): Computed | undefined =>
    value === undefined || task.newerThanMs === undefined ? undefined : asWanted(tiers.open(prepared, value), task);

  const computeWith = async (
    prepared: PreparedSearch,
    admission: Admission,
    task: ComputeTask,
    lease: Lease | undefined,
  ): Promise<Computed> => {
    try {
      const entry = await fromEngine(prepared, admission, task);
      const kept = { storeIsUp: task.storeIsUp, ...(lease === undefined ? {} : { lease }) };
      return { entry, from: 'engine', stored: tiers.keep(prepared, entry, kept) };
    } catch (error) {
      lease?.release();
      throw error;
    }
  };

  /** Leave to ask, in as many turns as the errand is worth. */
  const admitted = async ({ errand }: ComputeTask): Promise<Admission> => {
    for (;;) {
      const signal = errand.turn();
      try {
        return await guard.admit({ deadlineAtMs: errand.deadlineAtMs(), priority: errand.priority(), signal });
      } catch (error) {
        const again = error instanceof Shed && (error.why === 'left' || error.why === 'queue-expired');
        if (!again || errand.left() || !errand.renewed()) throw error;
      }
    }
  };

  return async (prepared, task) => {
    const { errand } = task;
    for (;;) {
      const admission = await admitted(task);
      // L1 again: the page may have come by another way while this flight waited for its permit.
      const held = asWanted(tiers.fromMemory(prepared), task);
      if (held !== undefined) {
        admission.leave();
        return held;
      }
      // A bypass wants the engine's page and nobody else's: there is nothing to share.
      if (leases === undefined || task.newerThanMs === undefined) {
        return computeWith(prepared, admission, task, undefined);
      }
      const taken = await leases.take(prepared.storeName);
      if (taken.kind !== 'held') {
        const lease = taken.kind === 'mine' ? taken.lease : undefined;
        const found = taken.kind === 'mine' ? fromStored(prepared, taken.value, task) : undefined;
        if (found === undefined && !errand.left()) return computeWith(prepared, admission, task, lease);
        lease?.release();
        admission.leave();
        if (found === undefined) throw new Shed('left');
        return found;
      }
      admission.leave();
      errand.ask();
      // Nobody waits for a refresh: whoever asks next finds the page in the store.
      if (errand.priority() !== 'people') throw new Shed('leased');
      const waited = await leases.wait(prepared.storeName, errand.deadlineAtMs, errand.left);
      if (waited.kind === 'ended')
        throw waited.why === 'crowded' ? new Shed('queue-full') : new DeadlinePassed(options.deadlineMs);
      const found = waited.kind === 'value' ? fromStored(prepared, waited.value, task) : undefined;
      if (found !== undefined) return found;
    }
  };
}
