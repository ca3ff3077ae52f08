import type { EntryRules } from './tiers.ts';

/** Of a domain that was never flushed: one generation, nothing refused. */
export const unflushed: EntryRules = { generation: () => 1, refuse: () => undefined };
