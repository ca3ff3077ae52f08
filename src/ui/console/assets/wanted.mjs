import { currentLook, isHalted } from './data/model.mjs';

/**
 * @typedef {import('./data/model.mjs').Model} Model
 * @typedef {import('./data/feeds.mjs').Feed} Feed
 */

/**
 * What is to be read now, beside the stream: what the view shows, and nothing that nobody looks at.
 * @param {Model} model
 * @returns {readonly Feed[]}
 */
export function wantedFeeds(model) {
  const domain = currentLook(model)?.domain;
  if (domain === undefined) return [];
  const query = `domain=${encodeURIComponent(domain)}`;
  /** @type {Feed[]} */
  const feeds = [];
  // Who halted, and why, is not in the stream.
  if (isHalted(model) === true) feeds.push({ name: 'halt', path: '/admin/halt', everyMs: 5000 });
  switch (model.place.view) {
    case 'live':
      break;
    case 'drills':
      feeds.push(
        { name: 'plans', path: '/admin/plans', everyMs: 60_000 },
        { name: 'drills', path: '/admin/drills', everyMs: 3000 },
      );
      break;
    case 'changes':
      feeds.push(
        { name: 'flush', path: `/admin/flush?${query}`, everyMs: 2000 },
        { name: 'suppressed', path: `/admin/suppressed?${query}`, everyMs: 5000 },
        { name: 'warm', path: '/admin/warm', everyMs: 1000 },
      );
      break;
    case 'popular':
      feeds.push({ name: 'popular', path: `/admin/popular?${query}&limit=100`, everyMs: 10_000 });
      break;
    case 'audit':
      if (model.place.before === undefined)
        feeds.push({ name: 'audit', path: '/admin/audit?limit=100', everyMs: 3000 });
      // What is older does not change.
      else feeds.push({ name: 'audit', path: `/admin/audit?limit=100&before=${model.place.before}`, everyMs: 60_000 });
      break;
  }
  return feeds;
}
