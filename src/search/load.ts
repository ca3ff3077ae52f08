import type { Entry } from '../cache/entry.ts';
import type { EntryRules } from '../cache/invalidation.ts';
import type { Lease, Leases } from '../cache/lease.ts';
import { createFlights } from '../cache/singleflight.ts';
import type { Kept, Lookup, Tiers } from '../cache/tiers.ts';
import { PRIORITIES, type Priority, Shed } from '../resilience/admission.ts';
import { DeadlinePassed, withinDeadline } from '../resilience/deadline.ts';
import type { Admission, Guard } from '../resilience/guard.ts';
import { type EncodePageOptions, encodePage } from './encode-page.ts';
import { type Engine, EngineError, type ResultPage } from './engine.ts';
import type { SearchEvent } from './events.ts';
import type { PreparedSearch } from './read-path.ts';

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
  readonly priority: Exclude<Priority, 'interactive'>;
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
      const errand = createErrand('interactive', deadlineAtMs);
      return join(keyOf(prepared), errand, () => go(prepared, found, errand, ANY_FRESH));
    },
    flyAnew: (prepared, found, deadlineAtMs) => {
      const errand = createErrand('interactive', deadlineAtMs);
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

/**
 * What a flight wants at present. It changes under way: a person who joins a refresh makes it urgent at once; and when
 * its turn in the queue has expired, it takes another one if somebody has joined since, because under overload the newest
 * is served first and a flight is as new as its latest follower.
 */
export interface Errand {
  readonly priority: () => Priority;
  /** Monotonic; past it nobody waits for the flight any more. */
  readonly deadlineAtMs: () => number;
  /** Begins a turn; aborted when it is to be taken anew or not at all. */
  readonly turn: () => AbortSignal;
  /** Somebody joined since the turn began. */
  readonly renewed: () => boolean;
  readonly press: (priority: Priority, deadlineAtMs: number) => void;
  /** The engine is asked now, by this process or by another one that holds the lease. */
  readonly ask: () => void;
  /** Resolved by the first `ask`. */
  readonly asked: Promise<void>;
  /** The answer came from elsewhere. */
  readonly leave: () => void;
  readonly left: () => boolean;
}

export function createErrand(first: Priority, firstDeadlineAtMs: number): Errand {
  let priority = first;
  let deadlineAtMs = firstDeadlineAtMs;
  let left = false;
  let renewed = false;
  let turn = new AbortController();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  return {
    priority: () => priority,
    deadlineAtMs: () => deadlineAtMs,
    turn: () => {
      renewed = false;
      if (!left) turn = new AbortController();
      return turn.signal;
    },
    renewed: () => renewed,
    press: (wanted, wantedAtMs) => {
      deadlineAtMs = Math.max(deadlineAtMs, wantedAtMs);
      renewed = true;
      if (PRIORITIES.indexOf(wanted) >= PRIORITIES.indexOf(priority)) return;
      priority = wanted;
      turn.abort();
    },
    ask,
    asked,
    leave: () => {
      left = true;
      turn.abort();
    },
    left: () => left,
  };
}

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
      if (errand.priority() !== 'interactive') throw new Shed('leased');
      const waited = await leases.wait(prepared.storeName, errand.deadlineAtMs, errand.left);
      if (waited.kind === 'ended')
        throw waited.why === 'crowded' ? new Shed('queue-full') : new DeadlinePassed(options.deadlineMs);
      const found = waited.kind === 'value' ? fromStored(prepared, waited.value, task) : undefined;
      if (found !== undefined) return found;
    }
  };
}

/**
 * An engine knows a document longer than operators want it seen (sold, banned): until the index has lost it too, each new
 * page leaves it out. So a page is shorter by one, and its total counts what may be seen of it.
 */
export function withoutHidden(page: ResultPage, hides: ((id: string) => boolean) | undefined): ResultPage {
  if (hides === undefined) return page;
  const results = page.results.filter(({ id }) => !hides(id));
  const hidden = page.results.length - results.length;
  return hidden === 0 ? page : { ...page, results, total: Math.max(results.length, page.total - hidden) };
}
