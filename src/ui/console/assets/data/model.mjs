/**
 * Everything the console shows. Views are made from it and from nothing else; absent is "not known", never zero.
 * @typedef {import('./shapes.mjs').LiveLine} LiveLine
 * @typedef {import('./shapes.mjs').DomainLook} DomainLook
 * @typedef {import('./shapes.mjs').FeedValues} FeedValues
 *
 * @typedef {object} Model
 * @property {import('./place.mjs').Place} place
 * @property {import('./follow-live.mjs').Link} link
 * @property {LiveLine} [live] The last line heard.
 * @property {number} [heardMs] When, by `performance.now()`.
 * @property {number} nowMs `performance.now()` at this drawing.
 * @property {boolean} hasToken
 * @property {boolean} readOnly The service has no token set, so it refuses every change.
 * @property {{ readonly [K in keyof FeedValues]?: import('./feeds.mjs').Fed<FeedValues[K]> }} fed By the feed's name.
 * @property {import('./watch.mjs').Watched} [watched]
 * @property {Dry | undefined} [dryRun] Of a drill.
 * @property {FlushDry | undefined} [flushRun] Of a flush.
 * @property {Readonly<Record<string, Said>>} said What came of the last act, by where it was asked.
 * @property {readonly string[]} busy Acts under way.
 *
 * @typedef {{ readonly kind: 'done' | 'refused', readonly text: string }} Said
 * @typedef {{ readonly plan: string, readonly domains: readonly string[], readonly preview: import('./shapes.mjs').DrillPreview }} Dry
 * @typedef {{ readonly ask: FlushBody, readonly preview: import('./shapes.mjs').FlushPreview }} FlushDry
 * @typedef {{ readonly domain: string, readonly mode: import('../../../../control/document.ts').FlushMode, readonly fraction: number, readonly from?: number, readonly by?: string, readonly indexVersion?: string, readonly reason?: string }} FlushBody
 */

/** Lines come one a second; two missing ones are no accident any more. */
export const STALE_MS = 3000;

/**
 * @param {Model} model
 * @returns {boolean} What is shown is of the past.
 */
export function isStale(model) {
  return model.heardMs === undefined || model.nowMs - model.heardMs > STALE_MS;
}

/**
 * @param {Model} model
 * @returns {DomainLook | undefined}
 */
export function currentLook({ live, place }) {
  return live?.domains.find(({ domain }) => domain === place.domain) ?? live?.domains[0];
}

/**
 * @param {Model} model
 * @returns {readonly import('./shapes.mjs').DrillSummary[]}
 */
export function runningDrills({ live }) {
  return live?.drills.filter(({ running }) => running) ?? [];
}

/**
 * @param {Model} model
 * @returns {boolean | undefined}
 */
export function isHalted({ live }) {
  return live?.domains.some(({ control }) => control.halted);
}
