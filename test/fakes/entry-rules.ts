import type { EntryRules } from '../../src/cache/invalidation.ts';

/** The rules of a domain that was never flushed: one generation, nothing refused. */
export const unflushed: EntryRules = { generation: () => 1, judge: () => 'whole', hides: () => undefined };
