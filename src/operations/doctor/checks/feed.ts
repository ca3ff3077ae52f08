import type { FeedStatus } from '../../../changes/feed.ts';
import { countText, durationText, percentText } from '../../../report/format.ts';
import { formatDuration } from '../../../schema/units.ts';
import type { CheckRule, Window } from '../check.ts';
import { known } from '../facts.ts';
import {
  type DomainView,
  domainsOf,
  each,
  finding,
  grownBy,
  grownEach,
  type Judgement,
  keepsControl,
  raiseOrHold,
  skip,
  stateAbove,
  tooFew,
} from '../window.ts';

/** The feed of changes: whether it is heard, whether all changes come through it, and whether they fit the pages. */

/** A look at each domain that has a feed. */
const eachFeed = (judge: (feed: FeedStatus, view: DomainView, window: Window) => Judgement) =>
  each(domainsOf, (view, window) => view.now.feed && judge(view.now.feed, view, window));

const sumOf = (counts: Readonly<Record<string, number>>, ...names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);

const BEHIND = { raises: 5000, clears: 1000 };
/** Changes of a document by which answers are stale, and the time without any change. */
const SILENT = { stale: 5, ms: 10 * 60_000 };
const MEMORY = { least: 10, share: 0.01 };
/** Few of a million documents are on pages that are asked for; words are on most of them. */
const MATCH = { hits: 10_000, known: 10_000, texts: 1000 };

export const FEED_CHECKS: readonly CheckRule[] = [
  {
    id: 'service-feed-behind',
    severity: 'warning',
    title: 'the feed of changes is behind',
    needs: ['service'],
    raises: `its stream was not read for ≥ ${formatDuration(BEHIND.raises)}, that of the configuration not at both ends of the window, or a change of the window took as long, while every node of the control store answers`,
    clears: `< ${formatDuration(BEHIND.clears)}`,
    why: 'Deleted documents are shown for this time, and pages older than some seconds are computed again.',
    source: 'a change is in force within a second; the stream is read every 0.1 to 0.3 s',
    look: eachFeed((feed, view, { after }) => {
      const nodes = after.stores.filter(keepsControl).map((store) => known(store.nodes));
      const isUp = nodes.every((all) => all?.every(({ info }) => known(info) !== undefined) === true);
      if (feed.shared && !isUp) return skip('a node of the store of the stream does not answer');
      const hasChanged = (grownBy(view, (facts) => facts.feed?.changes ?? 0) ?? 0) > 0;
      const lagMs = hasChanged ? feed.lagMs : 0;
      const { sourceFault } = feed;
      const state = stateAbove(Math.max(feed.heardMsAgo, lagMs), BEHIND);
      const wasUnread = view.before?.feed?.sourceFault !== undefined;
      return finding(sourceFault === undefined || state === 'raise' ? state : raiseOrHold(wasUnread), () => ({
        evidence: `${sourceFault === undefined ? '' : `The stream of the configuration is not read: ${sourceFault}. `}The stream was read to its end ${durationText(feed.heardMsAgo)} ago, and the last change took ${durationText(feed.lagMs)}.`,
        figures: { heardMsAgo: feed.heardMsAgo, lagMs: feed.lagMs },
        advice: [
          'The log says why (changes:). The user of the store needs the rights of the line serpcache in deploy/redis/users.acl.',
          'A slow store, network or process: npm run serpcache -- doctor --only store,network,host',
        ],
      }));
    }),
  },
  {
    id: 'service-feed-silent',
    severity: 'warning',
    title: 'documents change, and the feed does not say so',
    needs: ['service'],
    raises: `≥ ${SILENT.stale} audited hits were stale by a document (changed, left, entered) since the last change, which is ≥ ${formatDuration(SILENT.ms)} ago`,
    clears: 'a change has come',
    why: 'Pages are as old as their ttl, as without a feed.',
    source: 'by definition; an audit asks the engine again for one hit in changes.audit',
    look: eachFeed((feed, { now: { domain, staleSinceChange: stale } }) => {
      if (stale === 0) return 'fine';
      const silentMs = feed.changedMsAgo ?? Number.POSITIVE_INFINITY;
      const last =
        feed.changedMsAgo === undefined ? 'no change has come' : `the last change came ${durationText(silentMs)} ago`;
      return finding(raiseOrHold(stale >= SILENT.stale && silentMs >= SILENT.ms), () => ({
        evidence: `${countText(stale)} audited hits were stale by a document, and ${last}.`,
        figures: { stale, changes: feed.changes },
        advice: [
          'The program that changes the index must send each change too, to POST /admin/changes or the stream of the configuration.',
          `Until then: npm run serpcache -- flush ${domain} --mode refresh`,
        ],
      }));
    }),
  },
  {
    id: 'service-feed-memory',
    severity: 'warning',
    title: 'the memory of changes is shorter than the life of pages',
    needs: ['service'],
    minimum: `${MEMORY.least} pages in the window of which the changes are not known`,
    raises: `these are ≥ ${percentText(MEMORY.share)} of the searches, the feed has no gap, and its memory covers less than ttl`,
    why: 'A page that is older than the memory counts as changed: the engine computes it again for nothing.',
    source: 'by definition of the memory',
    look: eachFeed((feed, view) => {
      const { now, before } = view;
      const { ttlMs } = now.settings;
      const { coversMs } = feed;
      if (before === undefined || coversMs === undefined || coversMs >= ttlMs) return 'fine';
      const unknown = sumOf(grownEach(now.changedPages, before.changedPages), 'unknown');
      if (unknown < MEMORY.least) return tooFew(unknown, MEMORY.least, 'such pages');
      const searches = Object.values(grownEach(now.outcomes, before.outcomes)).reduce((sum, count) => sum + count, 0);
      const hasGap = feed.gaps !== before.feed?.gaps;
      return finding(!hasGap && unknown >= MEMORY.share * searches, () => ({
        evidence: `The memory of changes covers ${durationText(coversMs)}, and ttl is ${durationText(ttlMs)}; ${countText(unknown)} of ${countText(searches)} searches found a page that is older.`,
        figures: { coversMs, ttlMs, unknown, searches },
        advice: [`A larger domains.${now.domain}.changes.memory, or a shorter domains.${now.domain}.freshness.ttl`],
      }));
    }),
  },
  {
    id: 'service-feed-mismatch',
    severity: 'warning',
    title: 'changes fit no page',
    needs: ['service'],
    minimum: `${countText(MATCH.hits)} hits since the start`,
    raises: `none of ≥ ${countText(MATCH.known)} changes of older documents was of one on a page, or none of ≥ ${countText(MATCH.texts)} with text entered one`,
    why: 'Ids or texts of the feed have another form or language than those of the index: pages stay as they are.',
    source: 'by definition; a thousandth of the documents on pages would show ten such changes',
    look: eachFeed((feed, { now: { outcomes, changedPages } }) => {
      const hits = sumOf(outcomes, 'hit-l1', 'hit-l2', 'stale');
      if (hits < MATCH.hits)
        return skip(`${countText(hits)} hits since the start, fewer than ${countText(MATCH.hits)}`);
      const [onPages, entered] = [sumOf(changedPages, 'changed', 'deleted'), sumOf(changedPages, 'entered')];
      const isOtherId = feed.known >= MATCH.known && onPages === 0;
      const isOtherText = feed.texts >= MATCH.texts && entered === 0;
      return finding(isOtherId || isOtherText, () => ({
        evidence: `In ${countText(hits)} hits ${isOtherId ? `none of ${countText(feed.known)} changes of older documents was of one on its page` : `none of ${countText(feed.texts)} changes with text entered a page`}.`,
        figures: { hits, known: feed.known, onPages, texts: feed.texts, entered },
        advice: [
          isOtherId
            ? 'Send each id exactly as it stands in results[].id of a page.'
            : 'Send as text the title and the description that the index has, not a key or a translation.',
        ],
      }));
    }),
  },
];
