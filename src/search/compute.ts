import { encodeEntry, etagOf } from '../cache/codec.ts';
import { type Coding, compress } from '../cache/coding.ts';
import type { Entry } from '../cache/entry.ts';
import { type LifetimePolicy, lifetimesOf } from '../cache/freshness.ts';
import type { EntryRules } from '../cache/tiers.ts';
import type { Clock } from '../clock.ts';
import type { Guard } from '../resilience/guard.ts';
import type { PreparedSearch } from './answer.ts';
import { encodeBody } from './body.ts';
import { type Engine, EngineError } from './engine.ts';
import type { SearchEvent } from './events.ts';
import type { ResultPage } from './page.ts';

/** Asks the engine, behind its guard, and encodes the page once. What every flight ends in. */
export type Compute = (prepared: PreparedSearch, task: ComputeTask) => Promise<Entry>;

export interface ComputeTask {
  /** Monotonic; past it the task leaves the queue. The engine's own time is bounded by the guard. */
  readonly deadlineAtMs: number;
  /** Called when the engine starts to work. */
  readonly onStart: () => void;
  /** Leaves the queue, when the answer came from elsewhere. */
  readonly unwanted: AbortSignal;
}

export interface ComputeOptions {
  readonly domain: string;
  readonly engine: Engine;
  readonly guard: Guard;
  readonly rules: EntryRules;
  readonly lifetimes: LifetimePolicy;
  readonly compression: { readonly coding: Coding; readonly minBytes: number };
  /** For events: a reply after it is late. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: SearchEvent) => void;
}

type EngineResult = Extract<SearchEvent, { kind: 'engine' }>['result'];

export function createCompute(options: ComputeOptions): Compute {
  const { domain, engine, guard, rules, lifetimes, compression, clock, observe } = options;

  const ask = async (prepared: PreparedSearch, signal: AbortSignal): Promise<ResultPage> => {
    const startedMs = clock.monotonicMs();
    const say = (result: EngineResult, detail?: string): void => {
      const durationMs = clock.monotonicMs() - startedMs;
      const late = durationMs > options.deadlineMs;
      observe({ kind: 'engine', domain, result, late, durationMs, ...(detail === undefined ? {} : { detail }) });
    };
    try {
      const page = await engine.search(prepared.request, signal);
      say(page.partial !== undefined ? 'partial' : page.results.length === 0 ? 'empty' : 'whole', page.partial);
      return page;
    } catch (error) {
      if (error instanceof EngineError) say(error.code, error.message);
      throw error;
    }
  };

  return async (prepared, task) => {
    let createdAtMs = 0;
    let startedMs = 0;
    const page = await guard.run({
      deadlineAtMs: task.deadlineAtMs,
      unwanted: task.unwanted,
      call: (signal) => {
        task.onStart();
        createdAtMs = clock.wallMs();
        startedMs = clock.monotonicMs();
        return ask(prepared, signal);
      },
    });
    const costMs = clock.monotonicMs() - startedMs;
    const identity = encodeBody(prepared.request, page);
    const coding = identity.length < compression.minBytes ? 'identity' : compression.coding;
    const kind = { empty: page.results.length === 0, degraded: page.partial !== undefined };
    return encodeEntry(
      {
        ...kind,
        ...lifetimesOf(kind, lifetimes, options.random),
        coding,
        generation: rules.generation(prepared.bucket),
        createdAtMs,
        bornMs: startedMs,
        costMs,
        etag: etagOf(identity),
        canonical: prepared.canonicalBytes,
        resultIds: page.results.map((result) => result.id),
        body: await compress(identity, coding),
      },
      clock,
    );
  };
}
