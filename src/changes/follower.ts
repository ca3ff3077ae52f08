import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Signing, seal, unseal } from '../cache/signing.ts';
import { type Runtime, repeat } from '../runtime.ts';
import type { ChangeEvent, ChangeStream, FeedStatus, GapReason, StreamAppend, StreamBatch } from './feed.ts';
import type { ChangeLog } from './log.ts';

export interface FollowerOptions extends Pick<Runtime<ChangeEvent>, 'clock' | 'random' | 'observe'> {
  readonly domain: string;
  readonly stream: ChangeStream;
  /** False: the stream belongs to this process. */
  readonly shared: boolean;
  readonly signing?: Signing | undefined;
  readonly log: ChangeLog;
  /** The engine may answer from before a change for this time: its changes are applied once more then. */
  readonly engineLagMs: number;
}

/** After a read with changes, after one without, and after `QUIET_MS` without any. */
const BUSY_INTERVAL_MS = 40;
const INTERVAL_MS = 100;
const QUIET_INTERVAL_MS = 300;
const QUIET_MS = 30_000;
const DEADLINE_MS = 500;
/** After this time without a whole read the process does not know what has changed. */
const BLIND_AFTER_MS = 1000;
/** Such a process was stopped, unless two reads have failed, as they have by then without it: one may have failed because of that. */
const STOPPED_MS = 2000;
const AWAY_AFTER = 2;
const MAX_PENDING_BYTES = 16 * 2 ** 20;

/**
 * A position is a number that rises as the ids of the stream do: milliseconds of its server and up to 1023 batches in each. It is a
 * time of the stream and of no process, so the clocks of processes do not matter.
 */
export const PER_MS = 1024;

function positionOf(id: string): number {
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  return ms * PER_MS + sequence;
}

/** Reads the stream to its end again and again, and applies each batch to the log. */
export function createFeedFollower(options: FollowerOptions) {
  const { domain, stream, shared, signing, log, engineLagMs, clock, random, observe } = options;
  /** The last batch that was read. */
  let place: { readonly id: string; readonly number: number } | undefined;
  let source = '';
  /** Every batch of a lower position has been read. */
  let readTo = 0;
  let heardAtMs = clock.monotonicMs();
  let answeredAtMs = heardAtMs;
  /** The process was stopped, and has not read the stream to its end since. */
  let wasStopped = false;
  let changedAtMs: number | undefined;
  let hasSynced = false;
  /** Reads that failed since the last one that did not. */
  let failed = 0;
  let [changes, gaps, lagMs] = [0, 0, 0];
  /** A gap since the last whole read: pages of other processes that are older than its end may have higher positions. */
  let hasGap = false;
  /** Batches whose changes the engine may not have yet. */
  let pending: { readonly until: number; readonly bytes: Buffer }[] = [];
  let pendingBytes = 0;
  let closed = false;

  const lose = (why: GapReason): void => {
    gaps += 1;
    hasGap = true;
    log.forget(readTo);
    observe({ kind: 'changes-gap', domain, why });
  };

  const apply = (
    batch: { readonly id: string; readonly number: number; readonly bytes: Buffer },
    nowMs: number,
  ): void => {
    const unsealed = unseal(signing, 'changes', domain, batch.bytes);
    if (unsealed.kind === 'refused') {
      observe({ kind: 'changes-refused', domain, count: 1, detail: unsealed.detail });
      return;
    }
    const { bytes } = unsealed;
    try {
      const applied = bytes.equals(GAP_BYTES) ? lose('source') : log.append(bytes, readTo);
      if (applied === undefined || applied === 0) return;
      changes += applied;
      changedAtMs = clock.monotonicMs();
      if (hasSynced) lagMs = Math.max(0, nowMs - Math.floor(positionOf(batch.id) / PER_MS));
      observe({ kind: 'changes-applied', domain, changes: applied, lagMs: hasSynced ? lagMs : undefined });
      // One millisecond more: a page of that very moment may be from before the change.
      if (engineLagMs > 0) delay({ until: readTo + (engineLagMs + 1) * PER_MS, bytes });
    } catch {
      lose('corrupt');
    }
  };

  /** Too many changes within the lag become gaps, each when the last of its changes is due. */
  const delay = (batch: (typeof pending)[number]): void => {
    pending.push(batch);
    pendingBytes += batch.bytes.length;
    if (pendingBytes <= MAX_PENDING_BYTES) return;
    pending = [...pending.filter(({ bytes }) => bytes === GAP_BYTES), { until: batch.until, bytes: GAP_BYTES }];
    pendingBytes = 0;
  };

  const applyDelayed = (): void => {
    for (let [due] = pending; due !== undefined && due.until <= readTo; [due] = pending) {
      pending.shift();
      if (due.bytes === GAP_BYTES) {
        lose('lag');
        continue;
      }
      pendingBytes -= due.bytes.length;
      log.append(due.bytes, readTo);
    }
  };

  const isStopped = (): boolean =>
    wasStopped || (clock.monotonicMs() - answeredAtMs > STOPPED_MS && failed < AWAY_AFTER);

  /** Reads what is new. @returns whether the end was reached; false after a fault */
  const read = async (): Promise<boolean> => {
    for (let hasBegun = false; ; ) {
      // A reply may be as old as a stop of this process was long.
      const sentAtMs = clock.monotonicMs();
      const found = await stream.read(domain, place?.id, DEADLINE_MS);
      if (closed) return false;
      if (found.kind === 'fault') {
        if (failed === 0) observe({ kind: 'changes-away', domain, fault: found.fault });
        failed += 1;
        return false;
      }
      if (failed > 0) observe({ kind: 'changes-back', domain });
      wasStopped = isStopped();
      failed = 0;
      answeredAtMs = sentAtMs;
      const { last, batches, nowMs } = found;
      if (last === undefined) {
        // The first process begins the stream: pages that are older than it have no history.
        const begun = await append({ bytes: Buffer.alloc(0) });
        if (begun.kind !== 'appended' || hasBegun) return false;
        hasBegun = true;
        continue;
      }
      // A server that took over may have lost the last batches, and others may have their numbers and lower ids.
      const isReplaced =
        place !== undefined && last.id !== place.id && (batches.length === 0 || last.number <= place.number);
      if (isReplaced) {
        place = undefined;
        lose('replaced');
        continue;
      }
      for (const batch of batches) {
        readTo = Math.max(readTo, positionOf(batch.id));
        // Where this process begins, older pages are unknown to it.
        if (place === undefined) log.forget(readTo);
        else if (batch.number !== place.number + 1) lose('trimmed');
        place = { id: batch.id, number: batch.number };
        apply(batch, nowMs);
        // A batch takes a few milliseconds.
        if (batches.length > 1) await nextTurn();
        if (closed) return false;
      }
      source = last.source;
      if (place?.id !== last.id && batches.length > 0) continue;
      readTo = Math.max(readTo, nowMs * PER_MS - 1);
      if (hasGap) log.forget(readTo);
      hasGap = false;
      heardAtMs = sentAtMs;
      wasStopped = false;
      hasSynced = true;
      applyDelayed();
      return true;
    }
  };

  /** Reads run one after the other; a caller gets one that begins after its call. */
  let running: Promise<boolean> | undefined;
  let next: Promise<boolean> | undefined;
  const poll = (): Promise<boolean> => {
    if (running === undefined) {
      running = read().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return poll();
    });
    return next;
  };

  const coversMs = (): number | undefined => {
    const from = log.coversFrom();
    return from === undefined ? undefined : (readTo - from) / PER_MS;
  };

  const append = ({ bytes, source: place }: Omit<StreamBatch, 'afterMs'>): Promise<StreamAppend> =>
    stream.append(
      domain,
      { bytes: seal(signing, 'changes', domain, bytes), source: place, afterMs: Math.floor(readTo / PER_MS) },
      DEADLINE_MS,
    );

  const intervalAfter = (sentAtMs: number): number => {
    if (changedAtMs === undefined || sentAtMs - changedAtMs > QUIET_MS) return QUIET_INTERVAL_MS;
    return changedAtMs >= sentAtMs ? BUSY_INTERVAL_MS : INTERVAL_MS;
  };
  let polledAtMs = 0;
  const stopPolling = repeat(
    () => {
      polledAtMs = clock.monotonicMs();
      return poll();
    },
    () => intervalAfter(polledAtMs) * (0.9 + 0.2 * random()),
  );

  return {
    append,
    /** Reads to the end of the stream. False: it does not answer. */
    poll,
    hasSynced: () => hasSynced,
    /** The place in the source up to which its entries are in the stream. */
    source: () => source,
    readTo: () => readTo,
    /** Present while this process does not know what has changed lately: the stream is away, or the process itself was stopped. */
    blindness: (): 'away' | 'stopped' | undefined => {
      if (clock.monotonicMs() - heardAtMs <= BLIND_AFTER_MS) return undefined;
      return isStopped() ? 'stopped' : 'away';
    },
    lose,
    status: (): FeedStatus => ({
      following: hasSynced && clock.monotonicMs() - heardAtMs <= BLIND_AFTER_MS,
      shared,
      heardMsAgo: clock.monotonicMs() - heardAtMs,
      changedMsAgo: changedAtMs === undefined ? undefined : clock.monotonicMs() - changedAtMs,
      changes,
      gaps,
      lagMs,
      filled: log.filled(),
      coversMs: coversMs(),
      ...log.seen(),
    }),
    close: (): void => {
      closed = true;
      stopPolling();
    },
  };
}

/** A batch that says that entries of the source are gone. No record begins like it. */
export const GAP_BYTES = Buffer.from('gap');
