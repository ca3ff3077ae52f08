import { createFlights } from '../cache/coalesce.ts';
import type { Entry } from '../cache/entry.ts';
import type { Kept, Lookup, Tiers } from '../cache/tiers.ts';
import { withinDeadline } from '../resilience/deadline.ts';
import type { Priority } from '../resilience/priority.ts';
import type { PreparedSearch } from './answer.ts';
import type { Compute } from './compute.ts';
import { createErrand, type Errand } from './errand.ts';

/** The miss path of one domain: one flight per key, for people and for refreshes alike. */
export interface MissPath {
  /** Joins the key's flight or starts it. The flight outlives its clients: each waits no longer than its own patience. */
  readonly fly: (prepared: PreparedSearch, found: Lookup | undefined, deadlineAtMs: number) => Flight;
  /** The same, past whatever flight of that key is up and whatever is stored: an operator wants the engine's page. */
  readonly flyAnew: (prepared: PreparedSearch, found: Lookup | undefined, deadlineAtMs: number) => Flight;
  /** As `fly`, but only when there are places to spare. `newerThanMs`: of the page at hand, wall time of its creation. */
  readonly flyBehind: (prepared: PreparedSearch, options: BehindOptions) => Flight;
  /** Whether a flight of that key is up: joining it costs the engine nothing. */
  readonly isUp: (key: string) => boolean;
  readonly flights: () => number;
}

export interface BehindOptions {
  readonly priority: Exclude<Priority, 'people'>;
  readonly deadlineAtMs: number;
  /** Read the store first: another process may have refreshed it. */
  readonly askStore: boolean;
  readonly newerThanMs: number;
}

export interface Flight {
  readonly result: Promise<Landed>;
  readonly leads: boolean;
  /** Resolved when the engine's call has begun, in whichever process. */
  readonly asked: Promise<void>;
}

export interface Landed {
  readonly entry: Entry;
  /** `store`: a late reply, or a page that had come meanwhile. `fleet`: another process's flight. */
  readonly from: 'engine' | 'store' | 'fleet';
  readonly stored: Kept;
}

export interface MissPathOptions {
  readonly tiers: Tiers;
  readonly compute: Compute;
  /** False: every search flies alone (to measure what coalescing is worth). */
  readonly coalesce: boolean;
}

/** A reply that missed its deadline mostly comes soon after; a refusal must not wait for one that does not. */
const LATE_GRACE_MS = 80;

/** Wall time before everything: every fresh page will do. */
const ANY_FRESH = 0;

export function createMissPath({ tiers, compute, coalesce }: MissPathOptions): MissPath {
  const flights = createFlights<Landed>();
  const errands = new Map<string, Errand>();
  let alone = 0;

  /** A late L2 reply that is fresh ends the wait, unless the engine has started: then its page is as near. */
  const go = (
    prepared: PreparedSearch,
    found: Lookup | undefined,
    errand: Errand,
    newerThanMs: number | undefined,
  ): Promise<Landed> => {
    let started = false;
    const onStart = (): void => {
      started = true;
      errand.ask();
    };
    const newer = newerThanMs === undefined ? {} : { newerThanMs };
    const computed: Promise<Landed> = compute(prepared, { errand, onStart, storeIsUp: storeIsUp(found), ...newer });
    const late = found?.kind === 'missed' ? found.late : undefined;
    if (late === undefined) return computed;
    const rescued = late.then((entry) => {
      if (entry === undefined || started) return computed;
      errand.leave();
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

  const join = (key: string, errand: Errand, start: () => Promise<Landed>): Flight => {
    const flight = flights.join(key, () => {
      errands.set(key, errand);
      const result = start();
      const land = (): void => {
        errands.delete(key);
      };
      result.then(land, land);
      return result;
    });
    if (flight.leads) return { ...flight, asked: errand.asked };
    const joined = errands.get(key);
    joined?.press(errand.priority(), errand.deadlineAtMs());
    return { ...flight, asked: (joined ?? errand).asked };
  };

  const keyOf = (prepared: PreparedSearch): string => {
    if (coalesce) return prepared.key;
    alone += 1;
    return `${prepared.key} ${alone}`;
  };

  return {
    flights: flights.size,
    isUp: (key) => errands.has(key),
    fly: (prepared, found, deadlineAtMs) => {
      const errand = createErrand('people', deadlineAtMs);
      return join(keyOf(prepared), errand, () => go(prepared, found, errand, ANY_FRESH));
    },
    flyAnew: (prepared, found, deadlineAtMs) => {
      const errand = createErrand('people', deadlineAtMs);
      return join(`anew ${prepared.key}`, errand, () => go(prepared, found, errand, undefined));
    },
    flyBehind: (prepared, { priority, deadlineAtMs, askStore, newerThanMs }) => {
      const errand = createErrand(priority, deadlineAtMs);
      return join(keyOf(prepared), errand, async () => {
        const found = askStore ? await tiers.fromStore(prepared) : undefined;
        const isNewer = found?.kind === 'found' && found.freshness === 'fresh' && found.entry.createdAtMs > newerThanMs;
        return isNewer ? fromStore(found.entry) : go(prepared, found, errand, newerThanMs);
      });
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
