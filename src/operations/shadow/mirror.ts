import { decodeEntry, identityOf } from '../../cache/codec.ts';
import type { SeedItem, SeedResult, Store, StoreRead, StoreWrite } from '../../cache/store.ts';
import { MAX_SHADOW_READS, type StoreRef } from '../../control/document.ts';
import { type Clock, pause } from '../../runtime.ts';
import { keyOf } from '../../search/key.ts';
import type { StoreContent } from '../flush/content.ts';
import type { Agreed } from './figures.ts';
import type { ShadowTally } from './readings.ts';
import type { ShadowEvent } from './shadow.ts';

/**
 * Sends copies of the reads and writes of sampled keys to the candidate, and compares the answers. Nothing here is on the way
 * of a reply: a copy waits in a bounded queue, which is served between other work.
 */
export type Mirror = ReturnType<typeof createMirror>;

/** Copies that wait, of all kinds, and the bytes that they hold. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 32 * 2 ** 20;
/** Copies that were sent and are not answered. A candidate that hangs holds this number, and no more are sent. */
const MAX_IN_FLIGHT = 256;
/** Copies pause at this share of the delay at which searches are refused: they are the first work to wait. */
const PAUSE_SHARE = 0.2;
/**
 * Copies leave in batches, this long apart: a process is woken, and writes to and reads from its sockets, once for all of
 * them. Sent one by one, three copies of each of 15 reads a second cost 0.14 ms of processor time each (0.4 ms a search).
 */
const BATCH_MS = 100;
/**
 * The time that copies may take in one turn of the event loop, and the pause before the next turn. Searches that arrive
 * meanwhile wait for it, so it is short until many copies wait.
 */
const TURN_MS = { min: 0.2, max: 1, perWaiting: 0.002 };
const TURN_PAUSE_MS = 5;
/** Time between the copies of one read: they are separate reads of a busy key, and not one burst. */
const SPACING_MS = 100;
/** A write that has waited longer than this, because copies pause or the candidate hangs, is given up: it may be old. */
const MAX_WRITE_AGE_MS = 1000;
/** Names that were written lately, by this process, and are not replaced by what was read before. */
const MAX_RECENT = 10_000;
/** One pair of equal values in this number has its remaining lives compared, one at a time. */
const LIFE_SAMPLE = 32;
const LARGE_DRIFT_MS = 1000;
/** Longer than a write waits in the queue. */
const SETTLE_MS = 400;
/** Longer than a read is compared after its answer: its copy waits, and its reply takes a deadline at most. */
const RECENT_MS = 15_000;
/** The hash values of `samples`: three base64url characters. */
const HASHES = 2 ** 18;

interface Queue {
  /** Undefined before `head`: a copy that was sent holds no bytes. */
  items: (Copy | undefined)[];
  head: number;
}

interface Copy {
  readonly item: { readonly name: string; readonly value?: Buffer; readonly ttlMs?: number };
  /** Absent for a write. `first`: compared with the answer of the primary. */
  readonly read?: { readonly first: boolean; readonly answered: boolean };
  readonly dueAtMs: number;
}

export function createMirror(options: {
  readonly domain: string;
  readonly candidate: StoreRef;
  readonly store: Pick<Store, 'read' | 'write' | 'seedMany'> & { readonly content: Pick<StoreContent, 'lifeMs'> };
  readonly primary: Pick<StoreContent, 'lifeMs'>;
  readonly fraction: number;
  readonly reads: number;
  /** The deadline of a read, as of the primary's. */
  readonly deadlineMs: number;
  /** The delay of the event loop, and the delay above which only searches in memory are answered. */
  readonly loopDelay: () => { readonly loopDelayMs: number; readonly maxLoopDelayMs: number };
  readonly tally: ShadowTally;
  readonly clock: Clock;
  readonly observe: (event: ShadowEvent) => void;
}) {
  const { domain, candidate, store, primary, deadlineMs, loopDelay, tally, clock, observe } = options;
  let threshold = options.fraction * HASHES;
  let reads = options.reads;
  /** Writes and reads without a value; first copies of the other reads; second copies … Each is in order of time. */
  const queues = Array.from({ length: MAX_SHADOW_READS + 1 }, (): Queue => ({ items: [], head: 0 }));
  let waiting = 0;
  let waitingBytes = 0;
  let inFlight = 0;
  let equalSeen = 0;
  let isComparingLives = false;
  let fills: SeedItem[] = [];
  /** The time of the last write, oldest first. */
  const recent = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let begun = false;
  let closed = false;

  const bytesOf = ({ item }: Copy): number => item.value?.length ?? 0;
  const isPaused = (): boolean => {
    const { loopDelayMs, maxLoopDelayMs } = loopDelay();
    return loopDelayMs > maxLoopDelayMs * PAUSE_SHARE;
  };

  /** False: there is no room, and the copy is given up. */
  const enqueue = (position: number, copy: Copy): boolean => {
    const type = copy.read === undefined ? 'write' : 'read';
    if (waiting >= MAX_WAITING || waitingBytes + bytesOf(copy) > MAX_WAITING_BYTES) {
      tally.copy('dropped');
      observe({ kind: 'shadow-copy', domain, type, result: 'dropped' });
      return false;
    }
    queues[position]?.items.push(copy);
    waiting += 1;
    waitingBytes += bytesOf(copy);
    serveAt(batchAfter(copy.dueAtMs));
    return true;
  };

  /** One timer, for the earliest batch: a process with little to copy is not woken in vain. */
  const serveAt = (atMs: number): void => {
    if (atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(serve, atMs - clock.monotonicMs()).unref();
  };
  const batchAfter = (dueAtMs: number): number => (Math.floor(dueAtMs / BATCH_MS) + 1) * BATCH_MS;

  const next = (queue: Queue, nowMs: number): Copy | undefined => {
    const copy = queue.items[queue.head];
    if (copy === undefined || copy.dueAtMs > nowMs) return undefined;
    queue.items[queue.head] = undefined;
    queue.head += 1;
    if (queue.head > 1024 && queue.head * 2 > queue.items.length) {
      queue.items = queue.items.slice(queue.head);
      queue.head = 0;
    }
    waiting -= 1;
    waitingBytes -= bytesOf(copy);
    return copy;
  };

  const noteFill = (result: SeedResult): void => {
    if (result.kind === 'stored') tally.copy('filled');
    // A store that is full or broken is seen by its refusals, also where the primary has written nothing.
    else if (result.kind === 'dropped') tally.write('candidate', result);
  };

  const fill = (): void => {
    const items = fills;
    fills = [];
    if (items.length === 0) return;
    void store.seedMany(items).then((results) => {
      for (const result of results) noteFill(result);
    });
  };

  function serve(): void {
    timerAtMs = Number.POSITIVE_INFINITY;
    if (closed) return;
    const startedMs = clock.monotonicMs();
    const turnMs = Math.min(TURN_MS.max, TURN_MS.min + waiting * TURN_MS.perWaiting);
    if (!isPaused()) {
      for (const queue of queues) {
        while (inFlight < MAX_IN_FLIGHT && clock.monotonicMs() - startedMs < turnMs) {
          const copy = next(queue, startedMs);
          if (copy === undefined) break;
          send(copy);
        }
      }
      fill();
    }
    const dueAtMs = queues.map(({ items, head }) => items[head]?.dueAtMs ?? Number.POSITIVE_INFINITY);
    const nextDueAtMs = Math.min(...dueAtMs);
    if (nextDueAtMs <= startedMs) serveAt(startedMs + TURN_PAUSE_MS);
    else if (nextDueAtMs < Number.POSITIVE_INFINITY) serveAt(batchAfter(nextDueAtMs));
  }

  const send = (copy: Copy): void => {
    const { item, read } = copy;
    inFlight += 1;
    tally.copy('sent');
    if (read === undefined) {
      const waitedMs = clock.monotonicMs() - copy.dueAtMs;
      const ttlMs = (item.ttlMs ?? 1) - waitedMs;
      const isSuperseded = (recent.get(item.name) ?? 0) > copy.dueAtMs;
      if (waitedMs > MAX_WRITE_AGE_MS || ttlMs < 1 || isSuperseded) {
        inFlight -= 1;
        tally.copy('dropped');
        observe({ kind: 'shadow-copy', domain, type: 'write', result: 'dropped' });
        return;
      }
      void store.write(item.name, item.value ?? EMPTY, ttlMs).then((written) => {
        inFlight -= 1;
        tally.write('candidate', written);
        observe({ kind: 'shadow-copy', domain, type: 'write', result: written.kind === 'stored' ? 'sent' : 'failed' });
      });
      return;
    }
    const startedMs = clock.monotonicMs();
    store.read(item.name, deadlineMs, (answer) => {
      inFlight -= 1;
      tally.read('candidate', answer, clock.monotonicMs() - startedMs, read.first);
      observe({ kind: 'shadow-copy', domain, type: 'read', result: answer.kind === 'fault' ? 'failed' : 'sent' });
      if (read.first && read.answered && answer.kind !== 'fault') {
        compare(item.name, item.value, answer.kind === 'value' ? answer.value : undefined);
      }
    });
  };

  const noteWritten = (name: string, atMs: number): void => {
    recent.delete(name);
    recent.set(name, atMs);
    const [oldest] = recent.keys();
    if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest);
  };
  /** Whether this process has written the name since any read that is still compared. */
  const wasWritten = (name: string): boolean => {
    const atMs = recent.get(name);
    return atMs !== undefined && clock.monotonicMs() - atMs < RECENT_MS;
  };

  const fillLater = (item: SeedItem): void => {
    fills.push(item);
    serveAt(batchAfter(clock.monotonicMs()));
  };

  const compare = (name: string, expected: Buffer | undefined, found: Buffer | undefined): void => {
    const result = compareValues(name, expected, found, { domain, clock });
    tally.agreed(result, name);
    observe({ kind: 'shadow-compared', domain, result });
    if (expected !== undefined && !closed) {
      const [item] = fillOf(name, expected);
      if (result === 'missing' && item !== undefined) fillLater(item);
      // A copy that was dropped or paused has left it behind.
      if (result === 'older' && item !== undefined && !wasWritten(name)) {
        void store.write(item.name, item.value, item.ttlMs).then(noteFill);
      }
    }
    if (result !== 'equal' || found === undefined) return;
    equalSeen += 1;
    if (equalSeen % LIFE_SAMPLE === 0 && !isComparingLives) void compareLives(name);
  };

  /** A page of the primary for the rest of its life, with its generation. */
  const fillOf = (name: string, value: Buffer): readonly SeedItem[] => {
    const identity = identityOf(value);
    const ttlMs = identity === undefined ? 0 : identity.createdAtMs + identity.lifeMs - clock.wallMs();
    return ttlMs > 0 ? [{ name, value, ttlMs }] : [];
  };

  /** The difference of the remaining lives in milliseconds; undefined when a side has no value or no limit. */
  const lifeDrift = async (name: string): Promise<number | undefined> => {
    const [own, theirs] = await Promise.all([primary.lifeMs(name), store.content.lifeMs(name)]);
    if (own === undefined || theirs === undefined) return undefined;
    const driftMs = own === theirs ? 0 : Math.abs(own - theirs);
    return Number.isFinite(driftMs) ? driftMs : undefined;
  };

  /** A page that was replaced on one side a moment ago is no drift: a large difference is looked at again. */
  const compareLives = async (name: string): Promise<void> => {
    isComparingLives = true;
    try {
      let driftMs = await lifeDrift(name);
      if (driftMs !== undefined && driftMs > LARGE_DRIFT_MS) {
        await pause(SETTLE_MS);
        driftMs = await lifeDrift(name);
      }
      if (driftMs !== undefined) tally.lifeDrift(driftMs);
    } catch {
      // A side that does not answer has no remaining life to compare; its reads are counted as errors already.
    } finally {
      isComparingLives = false;
    }
  };

  /** True when no copy is made now, because this process has more urgent work. */
  const pauses = (type: 'read' | 'write'): boolean => {
    tally.copy('sampled');
    if (!isPaused()) return false;
    tally.copy('paused');
    observe({ kind: 'shadow-copy', domain, type, result: 'paused' });
    return true;
  };

  const samples = (name: string): boolean => begun && hashOf(name) < threshold;

  return {
    candidate,
    /** Whether the key of a stored name is sampled: by its hash alone, so that a sampled key is always sampled. */
    samples,
    /** A read that the primary has answered. A value must not change afterwards. `durationMs`: undefined for one of a batch. */
    noteRead: (name: string, read: StoreRead, durationMs: number | undefined) => {
      if (closed || pauses('read')) return;
      const nowMs = clock.monotonicMs();
      const value = read.kind === 'value' ? read.value : undefined;
      const item = value === undefined ? { name } : { name, value };
      const answered = read.kind !== 'fault';
      // The figures of both sides are of the same reads: one that is not copied counts for neither.
      // A page that another process has just written is there, but its copy is still on the way. A read without a value
      // comes before the write of its own page, and so does its copy.
      const position = value === undefined ? 0 : 1;
      const copy = { item, read: { first: true, answered }, dueAtMs: nowMs + position * SPACING_MS };
      if (!enqueue(position, copy)) return;
      tally.read('primary', read, durationMs, true);
      for (let at = 2; at <= reads; at += 1) {
        const dueAtMs = nowMs + at * SPACING_MS;
        enqueue(at, { item: { name }, read: { first: false, answered: false }, dueAtMs });
      }
    },
    /** `isDirect`: the candidate was written too, so this write is not copied, and older ones that wait are given up. */
    noteWrite: (item: SeedItem, written: StoreWrite, isDirect: boolean) => {
      if (closed || !samples(item.name)) return;
      const dueAtMs = clock.monotonicMs();
      noteWritten(item.name, dueAtMs);
      if (isDirect || pauses('write')) return;
      if (enqueue(0, { item, dueAtMs })) tally.write('primary', written);
    },
    /** A larger fraction contains the keys of a smaller one. */
    change: (fraction: number, copies: number) => {
      threshold = fraction * HASHES;
      reads = copies;
    },
    isPaused,
    /** Before this call no key is sampled: the candidate is still connecting. */
    begin: () => {
      begun = true;
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const queue of queues) queue.items = [];
    },
  };
}

const EMPTY = Buffer.alloc(0);

/** 0 … HASHES − 1, from the first three characters of the key in `sc1:<domain>:{<key>}`. */
function hashOf(name: string): number {
  const at = name.indexOf('{') + 1;
  return (digit(name.charCodeAt(at)) << 12) | (digit(name.charCodeAt(at + 1)) << 6) | digit(name.charCodeAt(at + 2));
}

/** The value of a base64url character. */
function digit(code: number): number {
  if (code >= 97) return code - 71;
  if (code === 95) return 63;
  if (code >= 65) return code - 65;
  return code === 45 ? 62 : code + 4;
}

interface CompareOptions {
  readonly domain: string;
  readonly clock: Clock;
}

/**
 * Compares the values of both sides for one stored name. Undefined is no value. A value of the candidate is wrong when it is no
 * intact entry of the search that the name stands for: the key is the hash of the canonical form, which the entry carries.
 * Two intact entries of one search differ in age only, unless both were computed in one millisecond.
 */
export function compareValues(
  name: string,
  primary: Buffer | undefined,
  candidate: Buffer | undefined,
  { domain, clock }: CompareOptions,
): Agreed {
  if (candidate === undefined) return primary === undefined ? 'equal' : 'missing';
  // The usual case, without any decoding.
  if (primary?.equals(candidate) === true) return 'equal';
  const found = identityOf(candidate);
  if (found === undefined || keyOf(found.canonical, domain).storeName !== name) return 'wrong';
  const theirs = decodeEntry(candidate, found.canonical, clock);
  if (theirs.kind !== 'entry') return 'wrong';
  if (primary === undefined) return 'surplus';
  const expected = identityOf(primary);
  // The primary's value is not readable: the candidate's cannot be judged by it.
  if (expected === undefined) return 'newer';
  if (found.generation !== expected.generation) return found.generation < expected.generation ? 'older' : 'newer';
  if (found.createdAtMs !== expected.createdAtMs) return found.createdAtMs < expected.createdAtMs ? 'older' : 'newer';
  const own = decodeEntry(primary, expected.canonical, clock);
  // The etag is a claim too: the pages themselves are compared.
  return own.kind === 'entry' && own.entry.body.equals(theirs.entry.body) ? 'equal' : 'wrong';
}
