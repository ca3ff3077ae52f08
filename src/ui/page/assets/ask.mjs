import { answerFrom } from './view/model.mjs';
import { searchPairs } from './view/place.mjs';
import { provenanceOf } from './view/provenance.mjs';

/** Longer than any deadline of the service: only a lost network gets here. */
const GIVE_UP_MS = 20_000;

/**
 * Asks the service.
 * @param {import('./view/place.mjs').Place} place
 * @param {import('./view/site.mjs').Site} site
 * @param {AbortSignal} signal When the reader has asked something else.
 * @returns {Promise<import('./view/model.mjs').Shown>} Rejects only when `signal` has aborted.
 */
export async function ask(place, site, signal) {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(GIVE_UP_MS);
  try {
    // The browser's own cache would repeat the old Cache-Status: this page is about what the service does now.
    const response = await fetch(`/search?${new URLSearchParams(searchPairs(place, site))}`, {
      cache: 'no-store',
      headers: { accept: 'application/json, application/problem+json' },
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) return await failureOf(response);
    const answer = answerFrom(await response.json());
    const header = (/** @type {string} */ name) => response.headers.get(name) ?? '';
    const tookMs = performance.now() - startedAt;
    const provenance = provenanceOf(header('cache-status'), header('server-timing'), tookMs);
    return { kind: 'answer', answer, provenance };
  } catch (error) {
    if (signal.aborted) throw error;
    return { kind: 'failure', code: timeout.aborted ? 'slow' : 'unreachable' };
  }
}

/**
 * @param {Response} response
 * @returns {Promise<import('./view/model.mjs').Failure>}
 */
async function failureOf(response) {
  const isProblem = (response.headers.get('content-type') ?? '').startsWith('application/problem+json');
  const problem = isProblem ? await response.json() : {};
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return {
    kind: 'failure',
    code: typeof problem.code === 'string' ? problem.code : 'other',
    ...(typeof problem.detail === 'string' ? { detail: problem.detail } : {}),
    ...(typeof problem.parameter === 'string' ? { parameter: problem.parameter } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
  };
}
