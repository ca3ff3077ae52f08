/**
 * Everything the console shows. Views are made from the model and from nothing else. An absent value means unknown,
 * never zero.
 * @typedef {import('./api.mjs').LiveLine} LiveLine
 * @typedef {import('./api.mjs').DomainLook} DomainLook
 * @typedef {import('./api.mjs').FeedValues} FeedValues
 *
 * @typedef {object} Model
 * @property {Address} address
 * @property {Connection} connection
 * @property {LiveLine} [live] The last line received.
 * @property {number} [receivedMs] When it was received, by `performance.now()`.
 * @property {number} nowMs `performance.now()` of this drawing.
 * @property {boolean} hasToken
 * @property {boolean} readOnly The service has no token set, so it refuses every change.
 * @property {{ readonly [K in keyof FeedValues]?: FeedState<FeedValues[K]> }} feeds By the feed's name.
 * @property {WatchedDrill} [watched]
 * @property {ShadowCurves | undefined} [shadowCurves]
 * @property {number | undefined} [verdictSeconds] The time that the verdict on a shadow covers; undefined for the
 *   service's own choice.
 * @property {Examination | undefined} [examination] The last one that the operator asked for.
 * @property {DrillDryRun | undefined} [drillDryRun]
 * @property {FlushDryRun | undefined} [flushDryRun]
 * @property {Readonly<Record<string, Feedback>>} feedback The result of the last action, by the slot that shows it.
 * @property {readonly string[]} busy Actions in progress.
 *
 * @typedef {object} Address
 * @property {string | undefined} domain Undefined for the first.
 * @property {View} view
 * @property {string} [before] In the audit: the cursor where an older page begins.
 *
 * @typedef {{ readonly kind: 'connecting' } | { readonly kind: 'live' }
 *   | { readonly kind: 'lost', readonly why: string, readonly wasLive: boolean, readonly retryAtMs: number }} Connection
 *   `wasLive`: it was live before. `retryAtMs`: by `performance.now()`.
 *
 * @typedef {object} WatchedDrill The drill that is shown.
 * @property {string} id
 * @property {Journal} [journal] The latest, with the samples read since the drill is shown.
 * @property {number} [receivedMs]
 * @property {import('./api.mjs').Problem} [problem]
 *
 * @typedef {object} ShadowCurves The samples of the shadow that is shown.
 * @property {string} domain
 * @property {string} [shadow] Its id.
 * @property {readonly import('./api.mjs').ShadowSample[]} samples
 * @property {number} [receivedMs]
 * @property {import('./api.mjs').Problem} [problem]
 *
 * @typedef {{ readonly report: import('./api.mjs').DoctorReport }} Examination
 * @typedef {import('./api.mjs').Journal} Journal
 * @typedef {{ readonly kind: 'done' | 'refused', readonly text: string }} Feedback
 * @typedef {{ readonly plan: string, readonly domains: readonly string[], readonly preview: import('./api.mjs').DrillPreview }} DrillDryRun
 * @typedef {{ readonly request: FlushBody, readonly preview: import('./api.mjs').FlushPreview }} FlushDryRun
 * @typedef {{ readonly domain: string, readonly mode: import('./api.mjs').FlushMode, readonly fraction: number, readonly from?: number, readonly by?: string, readonly indexVersion?: string, readonly reason?: string }} FlushBody
 */

/**
 * @template [T=unknown]
 * @typedef {object} FeedState
 * @property {string} path
 * @property {T} [value] The last one read; undefined before the first.
 * @property {number} [receivedMs] When it was read, by `performance.now()`.
 * @property {import('./api.mjs').Problem} [problem] Why the last try failed.
 */

/** Lines come one a second: after two missing ones the figures are shown as stale. */
const STALE_MS = 3000;

const VIEWS = /** @type {const} */ (['live', 'drills', 'shadow', 'doctor', 'changes', 'popular', 'audit']);
/** @typedef {typeof VIEWS[number]} View */

/**
 * @param {string} hash `#/goods/drills`, `#/goods/audit/0a1b2c3d4e5f-1234`
 * @returns {Address}
 */
export function addressFrom(hash) {
  const [, domain = '', name = '', before = ''] = hash.split('/');
  const address = { domain: decoded(domain), view: VIEWS.find((view) => view === name) ?? 'live' };
  return address.view === 'audit' && /^[0-9a-f-]+$/.test(before) ? { ...address, before } : address;
}

/**
 * @param {string} domain
 * @param {View} view
 * @param {string} [before]
 */
export function hrefOf(domain, view, before) {
  return `#/${encodeURIComponent(domain)}/${view}${before === undefined ? '' : `/${before}`}`;
}

/**
 * @param {Model} model
 * @returns {boolean} The figures shown are of the past.
 */
export function isStale(model) {
  return model.receivedMs === undefined || model.nowMs - model.receivedMs > STALE_MS;
}

/**
 * The domain that the address names, or the first.
 * @param {Model} model
 * @returns {DomainLook | undefined}
 */
export function currentDomain({ live, address }) {
  return live?.domains.find(({ domain }) => domain === address.domain) ?? live?.domains[0];
}

/**
 * @param {Model} model
 * @returns {readonly import('./api.mjs').DrillSummary[]}
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

/**
 * The stores of a domain that has a choice of them: candidates, a shadow, or a cut-over. Undefined for other domains.
 * @param {Model} model
 * @param {string | undefined} domain
 * @returns {import('./api.mjs').ShadowSummary | undefined}
 */
export function shadowSummary({ feeds }, domain) {
  const summary = feeds.shadows?.value?.domains.find((each) => each.domain === domain);
  if (summary === undefined) return undefined;
  const { candidates, shadow, placement } = summary;
  return candidates.length > 0 || shadow !== undefined || placement !== undefined ? summary : undefined;
}

/**
 * The stores of the current domain as the shadow view shows them.
 * @param {Model} model
 * @returns {import('./api.mjs').ShadowStatus | undefined}
 */
export function shadowStatus(model) {
  const status = model.feeds.shadowStatus?.value;
  return status?.domain === currentDomain(model)?.domain ? status : undefined;
}

/**
 * Standing findings of the doctor that need a change; none before its first window.
 * @param {Model} model
 */
export function graveFindings({ feeds }) {
  const counts = feeds.doctor?.value?.standing?.counts;
  const number = (/** @type {unknown} */ count) => (typeof count === 'number' ? count : 0);
  const critical = number(counts?.critical);
  return { critical, all: critical + number(counts?.warning) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
