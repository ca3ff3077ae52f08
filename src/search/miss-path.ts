import { createBoundedMap } from '../cache/bounded-map.ts';
import type { Entry } from '../cache/entry.ts';
import type { MissReason } from '../cache/events.ts';
import type { EntryRules } from '../cache/invalidation.ts';
import { createFlights } from '../cache/singleflight.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import { Shed } from '../resilience/admission.ts';
import { DeadlinePassed, withinDeadline, withinMaxWait } from '../resilience/deadline.ts';
import type { Guard } from '../resilience/guard.ts';
import type { Clock } from '../runtime.ts';
import { type EncodePageOptions, encodePage } from './encode-page.ts';
import { type Engine, EngineError } from './engine.ts';
import type { SearchEvent } from './events.ts';
import { type Flight, type MissPath, withoutHidden } from './load.ts';
import {
  type Answer,
  forwarded,
  HIT,
  lifeLeftMs,
  missReason,
  type PreparedSearch,
  type TierStep,
} from './read-path.ts';
import type { MayMiss } from './search.ts';
import { type ForwardStatus, forwardStatus, overBudget, toUnanswered, Unanswered } from './search-error.ts';

/**
 * What happens to a search that neither tier could answer: the key's flight, and when that brings nothing in time, in
 * this order a stale entry, the lifeboat, Unanswered.
 */
export interface Forward {
  readonly forward: (prepared: PreparedSearch, missed: Missed, leave?: Leave) => Promise<Answer>;
  readonly lastMiss: (key: string) => { readonly reason: MissReason; readonly atMs: number } | undefined;
}

/** What the tiers said, on the way to the engine. `found` is absent where there is no store. */
export interface Missed {
  readonly held: Lookup;
  readonly found?: Lookup;
  readonly l2Ms?: number;
}

/** What the search may do beyond the tiers. */
export interface Leave {
  /** Absent: whatever it needs. */
  readonly mayMiss?: MayMiss | undefined;
  /** Monotonic, default now: when the client began to wait. */
  readonly sinceMs?: number;
}

export interface ForwardOptions {
  readonly domain: string;
  readonly tiers: Tiers;
  readonly missPath: MissPath;
  readonly lifeboat?: Lifeboat;
  /** How long a client waits in all, and how long for the engine's call. */
  readonly patienceMs: number;
  readonly deadlineMs: number;
  readonly breakerRetryAfterMs: () => number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/** Keys remembered for explain, and keys whose page could not be stored. */
const REMEMBERED_KEYS = 2048;

/**
 * After an answer that was worse than the page at hand, that page is served so long without asking: once a second, not
 * once a request, or one dead agent would switch the cache off for all that is older than its short window.
 */
const USELESS_MS = 1000;

/** What a page with parts missing counts as, where a whole older one is served instead. */
const PARTIAL_STATUS: ForwardStatus = 502;

export function createForward(options: ForwardOptions): Forward {
  const { domain, tiers, missPath, lifeboat, clock, observe } = options;
  const lastMisses = createBoundedMap<{ reason: MissReason; atMs: number }>(REMEMBERED_KEYS);
  const notStorable = createBoundedMap<true>(REMEMBERED_KEYS);
  const uselessUntil = createBoundedMap<{ untilMs: number; status: ForwardStatus }>(REMEMBERED_KEYS);

  const answer = (
    entry: Entry,
    outcome: Answer['outcome'],
    steps: { l1: TierStep; l2?: TierStep; reason: MissReason },
    timings: Answer['timings'] = {},
  ): Answer => ({ entry, outcome, remainingMs: lifeLeftMs(entry, outcome, clock), ...steps, timings });

  const remember = ({ key }: PreparedSearch, status: ForwardStatus): void =>
    uselessUntil.set(key, { untilMs: clock.monotonicMs() + USELESS_MS, status });

  const landedAnswer = async (
    prepared: PreparedSearch,
    missed: Missed,
    { result, leads, asked: call }: Flight,
    deadlineAtMs: number,
    reason: MissReason,
  ): Promise<Answer> => {
    const { held, found, l2Ms } = missed;
    const startedMs = clock.monotonicMs();
    const { entry, from, stored } = await withinMaxWait(result, {
      maxWaitMs: deadlineAtMs - startedMs,
      call: { asked: call, deadlineMs: options.deadlineMs },
    });
    // A part of the page is worth less than the whole of an older one.
    if (entry.degraded) {
      remember(prepared, PARTIAL_STATUS);
      const whole = staleAnswer(prepared, missed, PARTIAL_STATUS, reason);
      if (whole !== undefined) return whole;
    }
    if (stored.l1 || stored.l2) notStorable.delete(prepared.key);
    else if (!entry.degraded) notStorable.set(prepared.key, true);
    const timings = { ...(l2Ms === undefined ? {} : { l2Ms }), engineMs: clock.monotonicMs() - startedMs };
    if (leads && from === 'store') {
      return answer(entry, 'hit-l2', { l1: forwarded(held, { stored: stored.l1 }), l2: HIT, reason }, timings);
    }
    // Collapsed with another flight, of this process or another one: the engine was not asked for this search.
    const asked = leads && from === 'engine';
    const outcome = asked ? 'engine' : 'collapsed';
    const step = (tier: 'l1' | 'l2') => (asked ? { stored: stored[tier] } : { collapsed: true });
    const detail = { detail: reason };
    if (found === undefined) {
      return answer(entry, outcome, { l1: forwarded(held, { ...step('l1'), ...detail }), reason }, timings);
    }
    const steps = { l1: forwarded(held, step('l1')), l2: forwarded(found, { ...step('l2'), ...detail }), reason };
    return answer(entry, outcome, steps, timings);
  };

  /** Judged again: since it was found a whole deadline may have passed, and a flush or a suppression with it. */
  const servable = (
    lookup: Lookup | undefined,
    prepared: PreparedSearch,
  ): lookup is Extract<Lookup, { kind: 'found' }> =>
    lookup?.kind === 'found' && tiers.judge(lookup.entry, prepared).kind === 'found';

  /** An entry the failure may be answered with, from the tier nearest the client. */
  const staleAnswer = (
    prepared: PreparedSearch,
    { held, found }: Missed,
    status: ForwardStatus,
    reason: MissReason,
  ): Answer | undefined => {
    const failed = { why: 'stale', forwardStatus: status } as const;
    const l2 = found === undefined ? {} : { l2: forwarded(found, { detail: reason }) };
    if (servable(held, prepared)) return answer(held.entry, 'stale', { l1: forwarded(held, failed), ...l2, reason });
    if (!servable(found, prepared)) return undefined;
    const steps = { l1: forwarded(held), l2: forwarded(found, { ...failed, detail: reason }), reason };
    return answer(found.entry, 'stale', steps);
  };

  const lifeboatAnswer = async (
    prepared: PreparedSearch,
    { held, found }: Missed,
    status: ForwardStatus,
    reason: MissReason,
  ): Promise<Answer | undefined> => {
    const startedMs = clock.monotonicMs();
    const entry = await lifeboat?.rescue(prepared);
    if (entry === undefined) return undefined;
    const timings = { engineMs: clock.monotonicMs() - startedMs };
    const failed = { forwardStatus: status, detail: 'lifeboat' } as const;
    if (found === undefined) return answer(entry, 'lifeboat', { l1: forwarded(held, failed), reason }, timings);
    return answer(entry, 'lifeboat', { l1: forwarded(held), l2: forwarded(found, failed), reason }, timings);
  };

  return {
    lastMiss: lastMisses.get,
    forward: async (prepared, missed, { mayMiss, sinceMs = clock.monotonicMs() } = {}) => {
      const { held, found } = missed;
      const reason = missReason(held, found, notStorable.get(prepared.key) === true);
      observe({ kind: 'miss', domain, reason });
      lastMisses.set(prepared.key, { reason, atMs: clock.monotonicMs() });
      const deadlineAtMs = sinceMs + options.patienceMs;
      const fly = reason === 'bypass' ? missPath.flyAnew : missPath.fly;
      const useless = uselessUntil.get(prepared.key);
      if (useless !== undefined && clock.monotonicMs() < useless.untilMs) {
        const stale = staleAnswer(prepared, missed, useless.status, reason);
        if (stale !== undefined) return stale;
      }
      try {
        if (clock.monotonicMs() >= deadlineAtMs) throw new Shed('queue-expired');
        if (mayMiss !== undefined && !missPath.isUp(prepared.key) && !mayMiss(prepared)) throw overBudget();
        return await landedAnswer(prepared, missed, fly(prepared, found, deadlineAtMs), deadlineAtMs, reason);
      } catch (error) {
        const failure = toUnanswered(error, options.breakerRetryAfterMs());
        if (!(failure instanceof Unanswered)) throw failure;
        const status = forwardStatus(failure.code);
        // It refuses this one search, and will again.
        if (failure.code === 'engine-rejected') remember(prepared, status);
        const instead =
          staleAnswer(prepared, missed, status, reason) ??
          // A late reply of the store may have come into L1 meanwhile.
          staleAnswer(prepared, { ...missed, held: tiers.fromMemory(prepared) }, status, reason) ??
          // What a client may not cost the engine, it may not cost the lifeboat.
          (failure.code === 'over-budget' ? undefined : await lifeboatAnswer(prepared, missed, status, reason));
        if (instead === undefined) throw failure;
        return instead;
      }
    },
  };
}

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
    const admission = await guard.admit({ deadlineAtMs, priority: 'interactive' });
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
