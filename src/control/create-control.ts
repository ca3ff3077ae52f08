import { type Signing, seal, unseal } from '../cache/signing.ts';
import { pause, type Runtime, repeat } from '../runtime.ts';
import { noteLongestLife, prune, shouldNoteLongestLife, withInitialGeneration } from './changes.ts';
import type { Changed, Control, ControlChange, ControlEvent, ReportPlace } from './control.ts';
import type { ControlStore } from './control-store.ts';
import type { ControlDocument } from './document.ts';
import { countLimit, decodeDocument, encodeDocument } from './document-codec.ts';
import { createEntryRules, type Locate } from './entry-rules.ts';
import { createFollower, type Follower, type StoreView } from './follower.ts';
import { descendant } from './merge.ts';
import { OperationError } from './operation-error.ts';
import { createOverlayLease } from './overlay.ts';

interface ControlOptions extends Pick<Runtime<ControlEvent>, 'clock' | 'random' | 'observe'> {
  readonly domain: string;
  readonly store: ControlStore;
  /** False: the store belongs to this process alone. */
  readonly shared: boolean;
  readonly locate: Locate;
  /** Signs documents and reports; with `required`, unsigned ones are refused. */
  readonly signing?: Signing | undefined;
  /**
   * The longest time that this process's policy serves an entry, from the start of its engine call. Purges are pruned after
   * the longest such time of the fleet.
   */
  readonly longestLifeMs: number;
  readonly intervalMs?: number;
  readonly deadlineMs?: number;
}

/** Poll interval until the first valid read. */
const UNSYNCED_INTERVAL_MS = 100;
const REPORT_TTL_MS = 10_000;
const MAX_WAITING = 64;
/**
 * Minimum interval of writes over a corrupt document: it limits two fleets that do not trust each other's keys and
 * write over each other.
 */
const MIN_RESTORE_INTERVAL_MS = 1000;

/** A control that polls its store. The first poll starts at once. */
export function createControl(options: ControlOptions): Control & Record<'hasSynced' | 'forcedOpen', () => boolean> {
  const { domain, store, shared, locate, clock, random, observe, signing, longestLifeMs } = options;
  const { intervalMs = 500, deadlineMs = 200 } = options;
  const stamp = (): string => [random(), random()].map((part) => Math.floor(part * 2 ** 40).toString(36)).join('');
  const rules = createEntryRules(locate);
  let restoredAtMs = Number.NEGATIVE_INFINITY;

  const watchers: (() => void)[] = [];
  const compile = (): void => rules.compile(follower.known(), lease.live());
  const lease = createOverlayLease({
    clock,
    onChange: (state, drill) => {
      compile();
      if (state !== 'changed') observe({ kind: 'overlay', domain, drill, state });
    },
  });
  const follower = createFollower({
    ...options,
    lease,
    stamp,
    deadlineMs,
    onAdopted: () => {
      compile();
      for (const changed of watchers) changed();
    },
  });

  /** Polls and changes run one after another, so that each acts on the result of the one before. */
  let queue: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const enqueue = <Result>(act: () => Promise<Result>): Promise<Result> => {
    waiting += 1;
    const result = queue.then(act).finally(() => {
      waiting -= 1;
    });
    queue = result.catch(() => {});
    return result;
  };

  /** The document with this process's longest life, where that must be written; see `noteLongestLife`. */
  const withOwnLife = (newest: ControlDocument): ControlDocument | undefined => {
    const nowMs = clock.wallMs();
    if (!shouldNoteLongestLife(newest, nowMs, longestLifeMs)) return undefined;
    return descendant(noteLongestLife(newest, nowMs, longestLifeMs), newest, stamp());
  };
  const poll = async (): Promise<void> => {
    const view = await follower.read();
    if (view.kind === 'away') return;
    const isCorrupt = view.kind === 'corrupt';
    if (isCorrupt && clock.monotonicMs() - restoredAtMs < MIN_RESTORE_INTERVAL_MS) return;
    const next = isCorrupt ? view.writeBack : (withOwnLife(view.newest) ?? view.writeBack);
    if (next === undefined || (await follower.swap(next, view.expected, false)) !== 'done') return;
    if (isCorrupt) restoredAtMs = clock.monotonicMs();
    if (isCorrupt || view.isBehind) observe({ kind: 'control-restored', domain, revision: next.revision });
  };
  const endPolls = repeat(
    () => enqueue(poll),
    () => (follower.hasSynced() ? intervalMs : Math.min(UNSYNCED_INTERVAL_MS, intervalMs)) * (0.9 + 0.2 * random()),
  );

  return {
    rules,
    /** The store has answered once, with a valid document or with none. Until then flushes and suppressions are unknown. */
    hasSynced: follower.hasSynced,
    /** A live drill is simulating an engine outage: the breakers before the engine are forced open. */
    forcedOpen: () => lease.live()?.blackout === true,
    document: follower.known,
    overlay: lease.live,
    watch: (changed) => {
      watchers.push(changed);
    },
    state: () => ({
      revision: follower.known().revision,
      generation: follower.known().generation,
      heardMsAgo: shared ? follower.readMsAgo() : 0,
      shared,
      standing: follower.standing(),
    }),
    change: async (change) => {
      if (waiting > MAX_WAITING) throw new OperationError('control-unavailable', 'too many changes at once');
      return enqueue(() => changeDocument(change, { ...options, follower, wallMs: clock.wallMs, stamp }));
    },
    renew: async () => {
      const sentAtMs = clock.monotonicMs();
      const renewed = await store.renew(domain, deadlineMs);
      if (renewed.kind === 'fault') return false;
      lease.noteRenewals(renewed.renewals, sentAtMs);
      return true;
    },
    report: async (id, value, place) => {
      const sealed = seal(signing, 'report', id, Buffer.from(JSON.stringify(value)));
      await store.report(placeOf(domain, place), id, sealed, REPORT_TTL_MS, deadlineMs);
    },
    reports: async (place) => {
      const found = await store.reports(placeOf(domain, place), deadlineMs);
      if (found.kind === 'fault') return undefined;
      const read = found.reports.map(({ id, value }) => readReport(signing, id, value));
      const refused = read.filter((one) => one === undefined).length;
      if (refused > 0) observe({ kind: 'control-reports-refused', domain, count: refused });
      return new Map(read.filter((one) => one !== undefined));
    },
    close: async () => {
      endPolls();
      await queue;
      lease.close();
    },
  };
}

/** No domain has a `~` in its name. */
function placeOf(domain: string, place: ReportPlace = 'drills'): string {
  return place === 'drills' ? domain : `${domain}~${place}`;
}

/** Undefined: the report is not JSON, or not signed with a key configured here. */
function readReport(signing: Signing | undefined, id: string, value: Buffer): readonly [string, unknown] | undefined {
  const unsealed = unseal(signing, 'report', id, value);
  if (unsealed.kind === 'refused') return undefined;
  try {
    return [id, JSON.parse(unsealed.bytes.toString('utf8'))];
  } catch {
    return undefined;
  }
}

interface ChangeOptions extends Pick<ControlOptions, 'domain' | 'random' | 'longestLifeMs'> {
  readonly follower: Pick<Follower, 'read' | 'swap'>;
  readonly wallMs: () => number;
  readonly stamp: () => string;
}

/** Each conflict is a change that another writer has made. */
const MAX_CONFLICTS = 64;
const MAX_ABSENCES = 3;
const MAX_PAUSE_MS = 50;

/** Compare-and-set on the newest document, until the change is made or its result is unknown. @throws OperationError */
export async function changeDocument(change: ControlChange, options: ChangeOptions): Promise<Changed> {
  const { domain, follower, wallMs, random, stamp, longestLifeMs } = options;
  let absences = 0;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
    const view = await follower.read();
    if (view.kind === 'corrupt') {
      if (view.writeBack === undefined) throw refusedView(domain, view);
      // The known document is restored first. After a conflict another process has restored it.
      await follower.swap(view.writeBack, view.expected, false);
      conflicts += 1;
      continue;
    }
    if (view.kind === 'away') {
      absences += 1;
      if (absences === MAX_ABSENCES) throw refusedView(domain, view);
      await pause(MAX_PAUSE_MS * random());
      continue;
    }
    const { newest: before, expected } = view;
    const nowMs = wallMs();
    const noted = noteLongestLife(withInitialGeneration(before, nowMs), nowMs, longestLifeMs);
    const known = prune(noted, nowMs, longestLifeMs);
    const changed = change(known);
    if (changed === known) return { before, after: before };
    const after = descendant(changed, before, stamp());
    check(after, wallMs());
    const swapped = await follower.swap(after, expected, true);
    if (swapped === 'done') return { before, after };
    if (swapped === 'unknown') {
      throw unavailable(
        `the control store of ${domain} did not answer: the change may be made or not; look before you try again`,
      );
    }
    conflicts += 1;
    await pause(Math.min(MAX_PAUSE_MS, conflicts * 2) * random());
  }
  throw unavailable(`${MAX_CONFLICTS} others who changed ${domain} were faster; nothing was changed`);
}

/** Refuses a document that no process could read. @throws OperationError invalid-request, control-full */
function check(document: ControlDocument, nowMs: number): void {
  const limit = countLimit(nowMs);
  if (Math.max(document.revision, document.generation) > limit) {
    const counts = `revision ${document.revision} or generation ${document.generation} is above ${limit}`;
    const why = "the most by this process's clock; it rises by one a second: try again, or correct the clock";
    throw new OperationError('control-full', `${counts}, ${why}`);
  }
  const decoded = decodeDocument(encodeDocument(document), nowMs);
  if (decoded.kind === 'fault') throw new OperationError('invalid-request', decoded.detail);
}

function refusedView(domain: string, { kind, detail }: Exclude<StoreView, { kind: 'valid' }>): OperationError {
  return unavailable(
    kind === 'corrupt'
      ? `the control document of ${domain} cannot be believed (${detail}) and is not written over here; once its key is deleted, processes that know one write it back`
      : `the control store of ${domain} cannot be asked now (${detail}); nothing was changed`,
  );
}

function unavailable(message: string): OperationError {
  return new OperationError('control-unavailable', message);
}
