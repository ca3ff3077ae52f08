// @ts-check
/**
 * Where an answer came from and how long it took.
 * @typedef {'memory' | 'store' | 'engine' | 'shared' | 'stale' | 'stale-after-failure' | 'lifeboat' | 'unknown'} Source
 *
 * @typedef {object} Provenance
 * @property {Source} source
 * @property {readonly TierFact[]} tiers The tiers that took part, the nearest to the reader first.
 * @property {string} [reason] The miss reason of the first tier that forwarded the search: one of `MISS_REASONS`.
 * @property {number} [freshForSeconds] For a cached answer; negative when it is stale.
 * @property {number} [serverMs] Measured by the server.
 * @property {number} [engineMs] The engine's part of that.
 * @property {number} [totalMs] From sending the search to having read the answer, measured by the browser.
 *
 * @typedef {object} TierFact
 * @property {'l1' | 'l2'} tier
 * @property {'had' | 'had-stale' | 'missed' | 'kept'} did `kept`: missed, and stores this answer.
 */

/**
 * Reads `Cache-Status` and `Server-Timing`. A missing or strange value costs a detail, never the answer.
 * @param {string} cacheStatus
 * @param {string} serverTiming
 * @param {number} [totalMs]
 * @returns {Provenance}
 */
export function provenanceOf(cacheStatus, serverTiming, totalMs) {
  // The member nearest the origin comes first in the header; the page lists them from the reader's side.
  const tiers = readCacheStatus(cacheStatus).toReversed();
  const { durations, outcome } = readServerTiming(serverTiming);
  const reason = tiers.find(({ detail }) => detail !== undefined)?.detail;
  const ttl = tiers.find(({ hit }) => hit)?.ttl;
  const serverMs = durations.get('total');
  const engineMs = durations.get('engine');
  return {
    source: outcome === 'lifeboat' ? 'lifeboat' : sourceOf(tiers),
    tiers: tiers.map(factOf),
    ...(reason === undefined ? {} : { reason }),
    ...(ttl === undefined ? {} : { freshForSeconds: ttl }),
    ...(serverMs === undefined ? {} : { serverMs }),
    ...(engineMs === undefined ? {} : { engineMs }),
    ...(totalMs === undefined ? {} : { totalMs }),
  };
}

/**
 * @typedef {object} Member
 * @property {'l1' | 'l2'} tier
 * @property {boolean} hit
 * @property {boolean} stored
 * @property {boolean} collapsed
 * @property {boolean} failed The next tier or the engine answered with an error.
 * @property {string} forward Why it forwarded; '' when it did not forward.
 * @property {number | undefined} ttl Seconds.
 * @property {string | undefined} detail
 */

/**
 * @param {readonly Member[]} tiers
 * @returns {Source}
 */
function sourceOf(tiers) {
  const hit = tiers.find((member) => member.hit);
  if (hit !== undefined) {
    if ((hit.ttl ?? 0) < 0) return 'stale';
    return hit.tier === 'l1' ? 'memory' : 'store';
  }
  if (tiers.some(({ failed }) => failed)) return 'stale-after-failure';
  if (tiers.some(({ collapsed }) => collapsed)) return 'shared';
  return tiers.length === 0 ? 'unknown' : 'engine';
}

/**
 * @param {Member} member
 * @returns {TierFact}
 */
function factOf({ tier, hit, stored, failed, forward, ttl }) {
  if (hit) return { tier, did: (ttl ?? 0) < 0 ? 'had-stale' : 'had' };
  if (failed && forward === 'stale') return { tier, did: 'had-stale' };
  return { tier, did: stored ? 'kept' : 'missed' };
}

/**
 * Reads the part of `Cache-Status` (RFC 9211) that serpcache writes.
 * @param {string} header
 * @returns {Member[]}
 */
function readCacheStatus(header) {
  return header.split(',').flatMap((text) => {
    const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
    const tier = name === 'serpcache-l1' ? /** @type {const} */ ('l1') : /** @type {const} */ ('l2');
    if (name !== 'serpcache-l1' && name !== 'serpcache-l2') return [];
    const values = new Map(parameters.map((parameter) => splitAt(parameter, '=')));
    return [
      {
        tier,
        hit: values.has('hit'),
        stored: values.has('stored'),
        forward: values.get('fwd') ?? '',
        failed: Number(values.get('fwd-status') ?? 200) >= 500,
        collapsed: values.has('collapsed'),
        ttl: values.has('ttl') ? Number(values.get('ttl')) : undefined,
        detail: values.get('detail')?.replaceAll('"', ''),
      },
    ];
  });
}

/**
 * @param {string} header `cache;desc=engine, engine;dur=35.1, total;dur=36.4`
 * @returns {{ durations: Map<string, number>, outcome: string | undefined }} durations in milliseconds
 */
function readServerTiming(header) {
  /** @type {Map<string, number>} */
  const durations = new Map();
  /** @type {string | undefined} */
  let outcome;
  for (const text of header.split(',')) {
    const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
    const values = new Map(parameters.map((parameter) => splitAt(parameter, '=')));
    if (name === 'cache') outcome = values.get('desc');
    const duration = Number(values.get('dur'));
    if (Number.isFinite(duration)) durations.set(name, duration);
  }
  return { durations, outcome };
}

/**
 * @param {string} text
 * @param {string} separator
 * @returns {[string, string]}
 */
function splitAt(text, separator) {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
