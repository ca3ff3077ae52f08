import { createBoundedMap } from '../cache/bounded-map.ts';
import { createFlights } from '../cache/coalesce.ts';
import type { Entry } from '../cache/entry.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import type { Clock } from '../clock.ts';
import { withinDeadline } from '../resilience/deadline.ts';
import type { PreparedSearch } from './answer.ts';
import type { Compute } from './compute.ts';
import type { SearchEvent } from './events.ts';
import { Unanswered } from './failure.ts';
import { toUnanswered } from './unanswered.ts';

/** The miss path of one domain: one flight per key, for people and for refreshes alike. */
export interface MissPath {
  /** Joins the key's flight or starts it. The flight outlives its clients: each waits no longer than its own deadline. */
  readonly fly: (prepared: PreparedSearch, found: Lookup | undefined, deadlineAtMs: number) => Flight;
  /** The same, past whatever flight of that key is up: its page may be older than what the caller knows of. */
  readonly flyAnew: (prepared: PreparedSearch, found: Lookup | undefined, deadlineAtMs: number) => Flight;
  /** Behind the back of whoever got the stale entry. Says nothing when a flight of that key is already up. */
  readonly refresh: (prepared: PreparedSearch, askStore: boolean) => void;
  readonly flights: () => number;
}

export interface Flight {
  readonly result: Promise<Landed>;
  readonly leads: boolean;
}

export interface Landed {
  readonly entry: Entry;
  readonly from: 'engine' | 'store';
  readonly stored: { readonly l1: boolean; readonly l2: boolean };
}

export interface MissPathOptions {
  readonly domain: string;
  readonly tiers: Tiers;
  readonly compute: Compute;
  readonly deadlineMs: number;
  readonly breakerRetryAfterMs: () => number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/** After a refresh that changed nothing the stale entry is left alone so long: one attempt a second, not one a request. */
const REFRESH_PAUSE_MS = 1000;
const REMEMBERED_PAUSES = 1024;
/** A reply that missed its deadline mostly comes soon after; a refusal must not wait for one that does not. */
const LATE_GRACE_MS = 80;

export function createMissPath(options: MissPathOptions): MissPath {
  const { domain, tiers, clock, observe } = options;
  const flights = createFlights<Landed>();
  const pausedUntilMs = createBoundedMap<number>(REMEMBERED_PAUSES);

  /** A late L2 reply that is fresh ends the wait, unless the engine has started: then its page is as near. */
  const compute = (prepared: PreparedSearch, found: Lookup | undefined, deadlineAtMs: number): Promise<Landed> => {
    const leave = new AbortController();
    let started = false;
    const onStart = (): void => {
      started = true;
    };
    const computed = options
      .compute(prepared, { deadlineAtMs, onStart, unwanted: leave.signal })
      .then((entry): Landed => ({ entry, from: 'engine', stored: tiers.keep(prepared, entry, storeIsUp(found)) }));
    const late = found?.kind === 'missed' ? found.late : undefined;
    if (late === undefined) return computed;
    const rescued = late.then((entry) => {
      if (entry === undefined || started) return computed;
      leave.abort();
      return fromStore(entry);
    });
    // Refused at once (an open breaker, a full queue), it still waits a little for the reply: nothing else can answer.
    const patient = computed.catch(async (error: unknown) => {
      const entry = started ? undefined : await withinDeadline(late, LATE_GRACE_MS).catch(() => undefined);
      if (entry === undefined) throw error;
      return fromStore(entry);
    });
    return Promise.race([patient, rescued]);
  };

  return {
    flights: flights.size,
    fly: (prepared, found, deadlineAtMs) => flights.join(prepared.key, () => compute(prepared, found, deadlineAtMs)),
    flyAnew: (prepared, found, deadlineAtMs) =>
      flights.join(`anew ${prepared.key}`, () => compute(prepared, found, deadlineAtMs)),
    refresh: (prepared, askStore) => {
      if ((pausedUntilMs.get(prepared.key) ?? 0) > clock.monotonicMs()) return;
      const { result, leads } = flights.join(prepared.key, async () => {
        // Another process may have refreshed the store meanwhile.
        const found = askStore ? await tiers.fromStore(prepared) : undefined;
        if (found?.kind === 'found' && found.freshness === 'fresh') return fromStore(found.entry);
        return compute(prepared, found, clock.monotonicMs() + options.deadlineMs);
      });
      if (!leads) return;
      const pause = (): void => pausedUntilMs.set(prepared.key, clock.monotonicMs() + REFRESH_PAUSE_MS);
      result.then(
        ({ from, stored }) => {
          // A partial page or one too large has not taken the stale one's place: the next request would ask again.
          if (!stored.l1) pause();
          observe({ kind: 'refresh', domain, result: from === 'store' ? 'from-store' : 'from-engine' });
        },
        (error: unknown) => {
          pause();
          const failure = toUnanswered(error, options.breakerRetryAfterMs());
          if (failure instanceof Unanswered) observe({ kind: 'refresh', domain, result: failure.code });
        },
      );
    },
  };
}

/** It came through `tiers`, which put it into L1. */
function fromStore(entry: Entry): Landed {
  return { entry, from: 'store', stored: { l1: true, l2: false } };
}

/** A store that has just failed is not said to keep the answer; one that merely missed is. */
function storeIsUp(found: Lookup | undefined): boolean {
  if (found === undefined || found.kind === 'found') return true;
  return found.reason !== 'node-open' && found.reason !== 'store-down' && found.reason !== 'store-saturated';
}
