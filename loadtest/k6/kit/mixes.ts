import type { Mix } from './queries.ts';

/**
 * Repetition of searches, by what was published of query logs. A site's head is steep enough for a cache to answer nine
 * of ten; a general log has half its volume asked once (44 % singletons: Baeza-Yates et al., SIGIR 2007).
 */
export const SITE_MIX: Mix = { exponent: 1.04, offset: 10, onceShare: 0.05, pages: true };
export const LONG_TAIL_MIX: Mix = { exponent: 0.9, offset: 10, onceShare: 0.45, pages: true };
