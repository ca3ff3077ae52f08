import type { EntryRules } from '../cache/invalidation.ts';
import { type Signing, seal, unseal } from '../cache/signing.ts';
import type { Clock } from '../runtime.ts';
import { countLimit, forget, noteLongestLife, owesLongestLife } from './changes.ts';
import { compileRules, type Locate } from './compile-rules.ts';
import type { Change, Changed, Control, ControlEvent, ControlState } from './control.ts';
import type { ControlStore } from './control-store.ts';
import { type ControlDocument, emptyDocument } from './document.ts';
import { decodeDocument, encodeDocument } from './document-codec.ts';
import { beginLine, createFollower, type Follower, type Standing } from './follower.ts';
import { descendant } from './merge.ts';
import { OperationRefused } from './operation-error.ts';
import { createOverlayLease } from './overlay.ts';
import { pause } from './pause.ts';

export interface ControlOptions {
  readonly domain: string;
  readonly store: ControlStore;
  /** False: the store is this process's own. */
  readonly shared: boolean;
  readonly locate: Locate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: ControlEvent) => void;
  /** Signs the document and the reports; with `required`, others are not believed. */
  readonly signing?: Signing | undefined;
  /**
   * How long an entry may be served at most by this process's policy, from the start of its engine call. What was purged is
   * forgotten after the longest of the fleet.
   */
  readonly longestLifeMs: number;
  readonly intervalMs?: number;
  readonly deadlineMs?: number;
}

/** A control that polls. */
export interface PollingControl extends Control {
  /** A document, or that there is none, was read once. Until then nothing is known of flushes and suppressions. */
  readonly heard: () => boolean;
}

const UNHEARD_MS = 100;
/** While the first connection is being made, nobody is away. */
const CONNECTING_MS = 2000;
const REPORT_TTL_MS = 10_000;
const MAX_WAITING = 64;
/** Two fleets that do not believe each other write over each other no more often. */
const BETWEEN_RESTORES_MS = 1000;

/** The first poll leaves at once. */
export function createControl(options: ControlOptions): PollingControl {
  const { domain, store, shared, locate, clock, random, observe, signing, longestLifeMs } = options;
  const { intervalMs = 500, deadlineMs = 200 } = options;
  const stamp = (): string => [random(), random()].map((part) => Math.floor(part * 2 ** 40).toString(36)).join('');
  let compiled: EntryRules = compileRules(emptyDocument, undefined, locate);
  const startedAtMs = clock.monotonicMs();
  let heardAtMs = startedAtMs;
  let isHeard = false;
  let standing: ControlState['standing'] = 'ok';
  let restoredAtMs = Number.NEGATIVE_INFINITY;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const compile = (): void => {
    compiled = compileRules(follower.known(), lease.live(), locate);
  };
  const lease = createOverlayLease({
    clock,
    onChange: (state, drill) => {
      compile();
      if (state !== 'changed') observe({ kind: 'overlay', domain, drill, state });
    },
  });
  const followed = createFollower({
    ...{ domain, store, clock, signing, lease, stamp, deadlineMs, observe },
    onAdopted: compile,
  });
  const follower: typeof followed = {
    ...followed,
    look: async () => {
      const found = await followed.look();
      const nowMs = clock.monotonicMs();
      if (found.kind === 'away') {
        const isConnecting = !isHeard && nowMs - startedAtMs < CONNECTING_MS;
        if (standing === 'away' || isConnecting) return found;
        standing = 'away';
        observe({ kind: 'control-away', domain, fault: found.detail });
        return found;
      }
      if (standing === 'away') observe({ kind: 'control-back', domain });
      standing = found.kind === 'corrupt' ? 'corrupt' : 'ok';
      if (found.kind === 'there') {
        heardAtMs = nowMs;
        isHeard = true;
      }
      return found;
    },
  };

  /** Polls and changes one after another: each acts on what the one before has seen. */
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const inTurn = <Result>(act: () => Promise<Result>): Promise<Result> => {
    waiting += 1;
    const result = turn.then(act).finally(() => {
      waiting -= 1;
    });
    turn = result.catch(() => {});
    return result;
  };

  /** The document with this process's longest life, where that is to be said; see forget.ts. */
  const lifeNoted = (newest: ControlDocument): ControlDocument | undefined => {
    const nowMs = clock.wallMs();
    if (!owesLongestLife(newest, nowMs, longestLifeMs)) return undefined;
    return descendant(noteLongestLife(newest, nowMs, longestLifeMs), newest, stamp());
  };
  const poll = async (): Promise<void> => {
    const found = await follower.look();
    if (found.kind === 'away') return;
    const isCorrupt = found.kind === 'corrupt';
    if (isCorrupt && clock.monotonicMs() - restoredAtMs < BETWEEN_RESTORES_MS) return;
    const owed = isCorrupt ? found.owed : (lifeNoted(found.newest) ?? found.owed);
    if (owed === undefined || (await follower.put(owed, found.expected, false)) !== 'done') return;
    if (isCorrupt) restoredAtMs = clock.monotonicMs();
    if (isCorrupt || found.hasLost) observe({ kind: 'control-restored', domain, revision: owed.revision });
  };
  const next = (): void => {
    void inTurn(poll).then(() => {
      if (closed) return;
      const waitMs = isHeard ? intervalMs : Math.min(UNHEARD_MS, intervalMs);
      timer = setTimeout(next, waitMs * (0.9 + 0.2 * random())).unref();
    });
  };
  next();

  return {
    rules: {
      generation: () => compiled.generation(),
      judge: (entry, name) => compiled.judge(entry, name),
      hides: () => compiled.hides(),
    },
    heard: () => isHeard,
    document: () => follower.known(),
    overlay: () => lease.live(),
    state: () => ({
      revision: follower.known().revision,
      generation: follower.known().generation,
      heardMsAgo: shared ? clock.monotonicMs() - heardAtMs : 0,
      shared,
      standing: isHeard || standing !== 'ok' ? standing : 'unheard',
    }),
    change: async (change) => {
      if (waiting > MAX_WAITING) throw new OperationRefused('control-unavailable', 'too many changes at once');
      return inTurn(() =>
        changeDocument(change, { domain, follower, wallMs: clock.wallMs, random, stamp, longestLifeMs }),
      );
    },
    renew: async () => {
      const sentAtMs = clock.monotonicMs();
      const renewed = await store.renew(domain, deadlineMs);
      if (renewed.kind === 'fault') return false;
      lease.heard(renewed.renewals, sentAtMs);
      return true;
    },
    report: async (id, value) => {
      await store.report(
        domain,
        id,
        seal(signing, 'report', id, Buffer.from(JSON.stringify(value))),
        REPORT_TTL_MS,
        deadlineMs,
      );
    },
    reports: async () => {
      const found = await store.reports(domain, deadlineMs);
      if (found.kind === 'fault') return undefined;
      const read = found.reports.map(({ id, value }) => readReport(signing, id, value));
      const refused = read.filter((one) => one === undefined).length;
      if (refused > 0) observe({ kind: 'control-reports-refused', domain, count: refused });
      return new Map(read.filter((one) => one !== undefined));
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await turn;
      clearTimeout(timer);
      lease.close();
    },
  };
}

/** Undefined: it is no JSON, or not signed by a process that has a key of ours. */
function readReport(signing: Signing | undefined, id: string, value: Buffer): readonly [string, unknown] | undefined {
  const unsealed = unseal(signing, 'report', id, value);
  if (unsealed.kind === 'refused') return undefined;
  try {
    return [id, JSON.parse(unsealed.bytes.toString('utf8'))];
  } catch {
    return undefined;
  }
}

export interface ChangeOptions {
  readonly domain: string;
  readonly follower: Pick<Follower, 'look' | 'put'>;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly stamp: () => string;
  /** How long an entry may be served at most by this process's policy, from the start of its engine call. */
  readonly longestLifeMs: number;
}

/** Writers that are faster; each of them has done its change then. */
const MAX_CONFLICTS = 64;
const MAX_ABSENCES = 3;
const MAX_PAUSE_MS = 50;

/** Compare-and-set by the newest document, until it is done or cannot be said. @throws OperationRefused */
export async function changeDocument(change: Change, options: ChangeOptions): Promise<Changed> {
  const { domain, follower, wallMs, random, stamp, longestLifeMs } = options;
  let absences = 0;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
    const standing = await follower.look();
    if (standing.kind === 'corrupt') {
      if (standing.owed === undefined) throw unavailable(domain, standing);
      // Restored first; whoever was faster has done that too.
      await follower.put(standing.owed, standing.expected, false);
      conflicts += 1;
      continue;
    }
    if (standing.kind === 'away') {
      absences += 1;
      if (absences === MAX_ABSENCES) throw unavailable(domain, standing);
      await pause(MAX_PAUSE_MS * random());
      continue;
    }
    const { newest: before, expected } = standing;
    const nowMs = wallMs();
    const noted = noteLongestLife(beginLine(before, nowMs), nowMs, longestLifeMs);
    const known = forget(noted, nowMs, longestLifeMs);
    const changed = change(known);
    if (changed === known) return { before, after: before };
    const after = descendant(changed, before, stamp());
    check(after, wallMs());
    const put = await follower.put(after, expected, true);
    if (put === 'done') return { before, after };
    if (put === 'unknown')
      throw refusal(
        `the control store of ${domain} did not answer: the change may be made or not; look before you try again`,
      );
    conflicts += 1;
    await pause(Math.min(MAX_PAUSE_MS, conflicts * 2) * random());
  }
  throw refusal(`${MAX_CONFLICTS} others who changed ${domain} were faster; nothing was changed`);
}

/** Nobody writes what nobody could read. @throws OperationRefused invalid-request, control-full */
function check(document: ControlDocument, nowMs: number): void {
  const limit = countLimit(nowMs);
  if (Math.max(document.revision, document.generation) > limit) {
    throw new OperationRefused(
      'control-full',
      `revision ${document.revision} or generation ${document.generation} is above ${limit}, the most by this process's clock; it rises by one a second: try again, or correct the clock`,
    );
  }
  const decoded = decodeDocument(encodeDocument(document), nowMs);
  if (decoded.kind === 'fault') throw new OperationRefused('invalid-request', decoded.detail);
}

function unavailable(domain: string, { kind, detail }: Exclude<Standing, { kind: 'there' }>): OperationRefused {
  return refusal(
    kind === 'corrupt'
      ? `the control document of ${domain} cannot be believed (${detail}) and is not written over here; once its key is deleted, processes that know one write it back`
      : `the control store of ${domain} cannot be asked now (${detail}); nothing was changed`,
  );
}

function refusal(words: string): OperationRefused {
  return new OperationRefused('control-unavailable', words);
}
