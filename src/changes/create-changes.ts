import { setImmediate as nextTurn } from 'node:timers/promises';
import { fingerprint } from '../cache/codec.ts';
import type { Entry, FeedMark } from '../cache/entry.ts';
import type { EntryRules, EntryVerdict, RuledName } from '../cache/invalidation.ts';
import type { Signing } from '../cache/signing.ts';
import { isDenied } from '../cache/tiers.ts';
import { OperationError } from '../control/operation-error.ts';
import { type Runtime, repeat } from '../runtime.ts';
import type { SearchDomain, SearchRequest } from '../search/domain.ts';
import { type Change, parseChange } from './change.ts';
import type { ChangeEvent, ChangeSource, ChangeStream, FeedStatus, StreamBatch } from './feed.ts';
import { createFeedFollower, GAP_BYTES, PER_MS } from './follower.ts';
import { createChangeLog } from './log.ts';
import { encodeChange, interestOf } from './record.ts';

/** The feed of changes of one domain, as this process reads, writes and applies it. */
export type Changes = ReturnType<typeof createChanges>;

export interface ChangesOptions extends Pick<Runtime<ChangeEvent>, 'clock' | 'random' | 'observe'> {
  readonly domain: SearchDomain;
  readonly settings: {
    /** Bytes. */
    readonly memory: number;
    readonly onChange: 'stale' | 'miss';
    readonly engineLagMs: number;
    /** The engine lags until it has another index. */
    readonly untilRotation: boolean;
  };
  readonly stream: ChangeStream;
  readonly shared: boolean;
  readonly source?: ChangeSource | undefined;
  readonly signing?: Signing | undefined;
}

/** A batch is sent when it has this size; one of the source and one of a call are at most this large. */
const BATCH_BYTES = 64 * 1024;
/** UTF-16 units of texts that are encoded in one turn of the event loop, with those that a change without text counts for. */
const UNITS_PER_TURN = 10_000;
const UNITS_PER_CHANGE = 200;
/** Calls that wait for the one that is being published. */
const MAX_PUBLISHING = 16;
/** While the stream is away, a page may be this old before it counts as changed. */
const BLIND_PAGE_MS = 5000;
/** Where the process was stopped, it may be this old: less than any stop that is noticed. */
const STOPPED_PAGE_MS = 1000;
/** No process has read this much further than another: such a page is from before the clock of the stream was set back. */
const MAX_AHEAD_MS = 2000;
const SOURCE_INTERVAL_MS = 100;
const SOURCE_DEADLINE_MS = 500;

export function createChanges(options: ChangesOptions) {
  const { domain, settings, source, clock, random, observe } = options;
  const { onChange, engineLagMs, untilRotation } = settings;
  const log = createChangeLog({ maxBytes: settings.memory });
  const follower = createFeedFollower({ ...options, domain: domain.name, log, engineLagMs });
  const whenChanged = onChange === 'miss' ? 'changed' : 'outdated';
  let indexPosition = 0;
  let closed = false;

  const batchesOf = async function* (changes: readonly Change[]) {
    let records: Buffer[] = [];
    let [bytes, units] = [0, 0];
    for (const [at, change] of changes.entries()) {
      const record = encodeChange(change, domain);
      if (bytes + record.length > BATCH_BYTES && records.length > 0) {
        yield { bytes: Buffer.concat(records), until: at };
        records = [];
        bytes = 0;
      }
      records.push(record);
      bytes += record.length;
      units += UNITS_PER_CHANGE + (change.text?.length ?? 0) + (change.was?.text?.length ?? 0);
      if (units < UNITS_PER_TURN) continue;
      units = 0;
      await nextTurn();
    }
    if (records.length > 0) yield { bytes: Buffer.concat(records), until: changes.length };
  };

  /** @returns whether it was added; false: another process has copied the same entries */
  const add = async (batch: Omit<StreamBatch, 'afterMs'>): Promise<boolean> => {
    const added = await follower.append(batch);
    if (added.kind !== 'fault') return added.kind === 'appended';
    throw new OperationError('control-unavailable', `the stream of changes does not take them: ${added.fault}`);
  };

  let publishing: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /**
   * Gives changes to all processes, and returns when they are in force here. Calls are taken one after the other.
   * @throws OperationError overloaded: none was taken. control-unavailable: up to some line they were; to send all again does no harm
   */
  const publish = async (changes: readonly Change[]): Promise<void> => {
    if (waiting >= MAX_PUBLISHING)
      throw new OperationError('overloaded', `more than ${MAX_PUBLISHING} calls with changes at once`);
    waiting += 1;
    const work = publishing.then(async () => {
      for await (const { bytes } of batchesOf(changes)) await add({ bytes });
      if (!(await follower.poll()))
        throw new OperationError('control-unavailable', 'the stream has the changes, and does not answer now');
    });
    publishing = work.catch(() => undefined);
    await work.finally(() => {
      waiting -= 1;
    });
  };

  const judgeChanges = (entry: Entry, { request }: RuledName<SearchRequest>, mark: FeedMark): void => {
    const isAhead = mark.position > follower.readTo() + MAX_AHEAD_MS * PER_MS;
    const from = Number.isNaN(mark.judged) ? log.numberAt(isAhead ? Number.NaN : mark.position) : mark.judged;
    // A page that is stale already can only have its documents deleted.
    const isJudgedWhole = mark.change === undefined;
    if (isJudgedWhole && request !== undefined) mark.interest ??= interestOf(request);
    const change = log.judge(entry.fingerprints, from, isJudgedWhole ? mark.interest : undefined);
    if (isJudgedWhole && change === undefined && request === undefined) return;
    mark.judged = log.head();
    if (change === undefined || !(isJudgedWhole || change.kind === 'deleted')) return;
    mark.change = change;
    observe({ kind: 'page-changed', domain: domain.name, why: change.kind });
  };

  const verdictOf = (entry: Entry, name: RuledName<SearchRequest>): EntryVerdict => {
    const { feed: mark } = entry;
    if (mark === undefined) return whenChanged;
    if (mark.judged !== log.head() && mark.change?.kind !== 'deleted') judgeChanges(entry, name, mark);
    if (mark.change?.kind === 'deleted') return 'deleted';
    const blind = follower.blindness();
    // A process that was stopped reads the stream in a moment: until then a page from before may show what was deleted.
    if (blind === 'stopped' && clock.monotonicMs() - entry.bornMs > STOPPED_PAGE_MS) return 'changed';
    if (blind === 'away' && clock.monotonicMs() - entry.bornMs > BLIND_PAGE_MS) return whenChanged;
    return mark.change === undefined ? 'whole' : whenChanged;
  };

  /** The position up to which an engine has the deletions of the feed. */
  const engineHas = (engine: 'lifeboat' | undefined): number => {
    if (engine === 'lifeboat') return Number.NEGATIVE_INFINITY;
    return untilRotation ? indexPosition : follower.readTo() - engineLagMs * PER_MS;
  };

  let sourceFault: string | undefined;
  const copySource = async (from: ChangeSource): Promise<void> => {
    const place = follower.source();
    const found = await from.read(place, SOURCE_DEADLINE_MS);
    if (closed) return;
    const fault = found.kind === 'fault' ? (found.detail ?? found.fault) : undefined;
    const source = { domain: domain.name, key: from.key };
    if (fault !== undefined && sourceFault === undefined) observe({ kind: 'source-away', ...source, fault });
    if (fault === undefined && sourceFault !== undefined) observe({ kind: 'source-back', ...source });
    sourceFault = fault;
    if (found.kind === 'fault') return;
    if (found.trimmed) await add({ bytes: GAP_BYTES, source: { expected: place, next: place } });
    const read = found.entries.map(({ id, fields }) => ({ id, change: changeIn(fields) }));
    const refused = read.flatMap(({ change }) => (typeof change === 'string' ? [change] : []));
    const [detail] = refused;
    if (detail !== undefined) observe({ kind: 'changes-refused', domain: domain.name, count: refused.length, detail });
    const taken = read.flatMap(({ id, change }) => (typeof change === 'string' ? [] : [{ id, change }]));
    let expected = place;
    for await (const { bytes, until } of batchesOf(taken.map(({ change }) => change))) {
      const next = until === taken.length ? found.last : (taken[until - 1]?.id ?? found.last);
      if (!(await add({ bytes, source: { expected, next } }))) break;
      expected = next;
    }
    if (taken.length === 0 && found.last !== place)
      await add({ bytes: Buffer.alloc(0), source: { expected: place, next: found.last } });
    if (found.last !== place) await follower.poll();
  };
  // The next attempt copies the entries that the stream does not take now.
  const copyOnce = async (): Promise<void> => {
    if (source !== undefined && follower.hasSynced()) await copySource(source).catch(() => undefined);
  };
  const stopCopying = source && repeat(copyOnce, () => SOURCE_INTERVAL_MS * (0.8 + 0.4 * random()));

  return {
    publish,
    /** The rules of operators with those of the feed. */
    rules: (own: EntryRules): EntryRules<SearchRequest> => ({
      generation: own.generation,
      birth: () => ({ position: follower.readTo(), judged: log.head(), change: undefined, interest: undefined }),
      secondsSince: (position) => Math.max(0, Math.round((follower.readTo() - position) / PER_MS / 1000)),
      hides: (engine) => {
        const hides = own.hides();
        if (engineLagMs === 0 && !untilRotation && engine === undefined) return hides;
        return (id) => hides?.(id) === true || log.isDeletedSince(fingerprint(id), engineHas(engine));
      },
      judge: (entry, name) => {
        const verdict = own.judge(entry, name);
        if (isDenied(verdict)) return verdict;
        const changed = verdictOf(entry, name);
        return changed === 'whole' ? verdict : changed;
      },
    }),
    /** The engine has another index: every older page counts as changed. */
    indexReplaced: (): void => {
      indexPosition = follower.readTo() - engineLagMs * PER_MS;
      follower.lose('index');
    },
    status: (): FeedStatus => ({ ...follower.status(), sourceFault }),
    hasSynced: follower.hasSynced,
    close: (): void => {
      closed = true;
      stopCopying?.();
      follower.close();
    },
  };
}

/** The change in an entry of a source: fields of the names of a change, or one field with all of it in JSON. A text: the fault. */
function changeIn(fields: ReadonlyMap<string, string>): Change | string {
  try {
    const [only] = fields.values();
    if (!fields.has('id')) return parseChange(fields.size === 1 ? only : Object.fromEntries(fields)).change;
    const { attributes, was, ...others } = Object.fromEntries(fields);
    return parseChange({
      ...others,
      attributes: attributes && JSON.parse(attributes),
      was: was && JSON.parse(was),
    }).change;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
