/**
 * Files and folders of `src` with packed or conditional spreads of object literals. The list may only shrink: an entry
 * without such a spread fails.
 */
export const PACKED: readonly string[] = [
  'commands',
  'engines/engine-probes.ts',
  'engines/sphinx',
  'http/admin',
  'http/search-api',
  'http/transport',
  'operations/doctor',
  'operations/drills',
  'search',
  'ui/console',
  'ui/page',
];
