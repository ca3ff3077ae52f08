import type { TestContext } from 'node:test';
import { fingerprint } from '../../src/cache/codec.ts';
import type { Entry } from '../../src/cache/entry.ts';
import type { Change } from '../../src/changes/change.ts';
import { type ChangesOptions, createChanges } from '../../src/changes/create-changes.ts';
import type { ChangeEvent } from '../../src/changes/feed.ts';
import { createFeedFollower, type FollowerOptions } from '../../src/changes/follower.ts';
import { createChangeLog } from '../../src/changes/log.ts';
import { encodeChange } from '../../src/changes/record.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { createFakeChangeStream } from '../fakes/change-stream.ts';
import { createVirtualTime } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';

export const DOMAIN: SearchDomain = {
  name: 'goods',
  attributes: [
    { name: 'city', type: 'string', facet: true, sort: false },
    { name: 'price', type: 'integer', facet: false, sort: true },
  ],
  context: [],
  answerProfile: 'x',
};

export const searchFor = (...pairs: (readonly [string, string])[]) => prepareSearch({ pairs }, [DOMAIN]);

export const idsOf = (...ids: string[]): number[] => ids.map(fingerprint);

/** The kinds of events that an operator hears of. */
export const onlyKinds = (events: readonly ChangeEvent[]): string[] =>
  events.flatMap(({ kind }) => (kind === 'changes-applied' || kind === 'page-changed' ? [] : [kind]));

const SETTINGS: ChangesOptions['settings'] = {
  memory: 2 ** 20,
  onChange: 'stale',
  engineLagMs: 0,
  untilRotation: false,
};
export const SEARCH = searchFor(['q', 'кроссовки nike']);
export const ENTERING = { id: '77', op: 'upsert', text: 'Кроссовки Nike' } as const;

/** Processes that follow one stream in virtual time. */
export function harness(t: TestContext) {
  const time = createVirtualTime(t);
  const stream = createFakeChangeStream(time);
  const start = (settings: Partial<ChangesOptions['settings']> = {}, over: Partial<ChangesOptions> = {}) => {
    const events: ChangeEvent[] = [];
    const changes = createChanges({
      domain: DOMAIN,
      stream,
      shared: true,
      clock: time,
      random: () => 0.5,
      settings: { ...SETTINGS, ...settings },
      observe: (event) => events.push(event),
      ...over,
    });
    t.after(changes.close);
    const rules = changes.rules(unflushed);
    return {
      changes,
      events,
      rules,
      /** A page that is computed now by this process, with these documents. */
      page: (...resultIds: string[]): Entry => entryOf(time, { resultIds, feed: rules.birth?.() }),
      judge: (entry: Entry, search: typeof SEARCH = SEARCH) => rules.judge(entry, search),
      publish: (...given: (Partial<Change> & { readonly id: string })[]) =>
        time.settled(changes.publish(given.map((change) => ({ op: 'upsert', ...change })))),
      pageChanges: () => events.flatMap((event) => (event.kind === 'page-changed' ? [event.why] : [])),
    };
  };
  return { time, stream, start };
}

/** The entry as another process reads it from L2. */
export const fromStore = (entry: Entry): Entry => ({
  ...entry,
  feed: entry.feed && { position: entry.feed.position, judged: Number.NaN, change: undefined, interest: undefined },
});

export const record = (id: string): Buffer => encodeChange({ id, op: 'upsert' }, DOMAIN);

/** Followers of one stream in virtual time. */
export function followerHarness(t: TestContext, over: Partial<FollowerOptions> = {}) {
  const time = createVirtualTime(t);
  const stream = createFakeChangeStream(time);
  const start = (own: Partial<FollowerOptions> = {}) => {
    const events: ChangeEvent[] = [];
    const log = createChangeLog({ maxBytes: 2 ** 20 });
    const follower = createFeedFollower({
      domain: 'goods',
      stream,
      shared: true,
      log,
      engineLagMs: 0,
      clock: time,
      random: () => 0.5,
      observe: (event) => events.push(event),
      ...over,
      ...own,
    });
    t.after(follower.close);
    return {
      follower,
      log,
      events,
      gaps: () => events.flatMap((event) => (event.kind === 'changes-gap' ? [event.why] : [])),
      /** The judgement on a page with a document, computed at this position by another process. */
      judged: (id: string, position: number) => log.judge(idsOf(id), log.numberAt(position))?.kind,
    };
  };
  return { time, stream, start };
}
