import type { EntryRules } from '../cache/rules.ts';
import type { Clock } from '../clock.ts';
import { changeDocument } from './change-loop.ts';
import { compileRules, type Locate } from './compile-rules.ts';
import type { Control, ControlEvent } from './control.ts';
import type { ControlStore } from './control-store.ts';
import { emptyDocument } from './document.ts';
import { createFollower } from './follower.ts';
import { noteLongestLife, owesLongestLife } from './forget.ts';
import { descendant } from './lineage.ts';
import { createOverlayLease } from './overlay-lease.ts';
import { OperationRefused } from './refusal.ts';

export interface ControlOptions {
  readonly domain: string;
  readonly store: ControlStore;
  /** False: the store is this process's own. */
  readonly shared: boolean;
  readonly locate: Locate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: ControlEvent) => void;
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
  /** The store was heard once. Until then nothing is known of flushes and suppressions. */
  readonly heard: () => boolean;
}

const UNHEARD_MS = 100;
/** While the first connection is being made, nobody is away. */
const CONNECTING_MS = 2000;
const REPORT_TTL_MS = 10_000;
const MAX_WAITING = 64;

/** The first poll leaves at once. */
export function createControl(options: ControlOptions): PollingControl {
  const { domain, store, shared, locate, clock, random, observe, longestLifeMs } = options;
  const { intervalMs = 500, deadlineMs = 200 } = options;
  const stamp = (): string => [random(), random()].map((part) => Math.floor(part * 2 ** 40).toString(36)).join('');
  let compiled: EntryRules = compileRules(emptyDocument, undefined, locate);
  const startedAtMs = clock.monotonicMs();
  let heardAtMs = startedAtMs;
  let isHeard = false;
  let isAway = false;
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
  const followed = createFollower({ domain, store, clock, lease, stamp, deadlineMs, onAdopted: compile, observe });
  const follower: typeof followed = {
    ...followed,
    look: async () => {
      const standing = await followed.look();
      const nowMs = clock.monotonicMs();
      if (standing.kind !== 'away') {
        heardAtMs = nowMs;
        isHeard = true;
        if (isAway) observe({ kind: 'control-back', domain });
        isAway = false;
      } else if (!isAway && (isHeard || nowMs - startedAtMs >= CONNECTING_MS)) {
        isAway = true;
        observe({ kind: 'control-away', domain, fault: standing.detail });
      }
      return standing;
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

  const poll = async (): Promise<void> => {
    const standing = await follower.look();
    if (standing.kind !== 'there') return;
    const { newest, expected, hasLost } = standing;
    const nowMs = clock.wallMs();
    const owed = owesLongestLife(newest, nowMs, longestLifeMs)
      ? descendant(noteLongestLife(newest, nowMs, longestLifeMs), newest, stamp())
      : standing.owed;
    if (owed === undefined) return;
    const put = await follower.put(owed, expected, false);
    if (put === 'done' && hasLost) observe({ kind: 'control-restored', domain, revision: owed.revision });
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
      await store.report(domain, id, Buffer.from(JSON.stringify(value)), REPORT_TTL_MS, deadlineMs);
    },
    reports: async () => {
      const found = await store.reports(domain, deadlineMs);
      if (found.kind === 'fault') return undefined;
      return new Map(found.reports.flatMap(({ id, value }) => parsed(id, value)));
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

/** What cannot be parsed was said by nobody of ours. */
function parsed(id: string, value: Buffer): readonly (readonly [string, unknown])[] {
  try {
    return [[id, JSON.parse(value.toString('utf8')) as unknown]];
  } catch {
    return [];
  }
}
