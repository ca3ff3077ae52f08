import { CHECK_AREAS, type Check, checkOf } from '../check.ts';
import { ENGINE_CHECKS } from './engine.ts';
import { FEED_CHECKS } from './feed.ts';
import { HOST_CHECKS, NETWORK_CHECKS } from './network.ts';
import { PATTERN_CHECKS } from './patterns.ts';
import { SERVICE_CHECKS } from './service.ts';
import { CLIENT_CHECKS } from './store-clients.ts';
import { CLUSTER_CHECKS } from './store-cluster.ts';
import { COMMAND_CHECKS } from './store-commands.ts';
import { KEY_CHECKS, MEMORY_CHECKS } from './store-memory.ts';
import { REPLICATION_CHECKS } from './store-replication.ts';

/** Every check, in the order of README.md. */
export const CHECKS: readonly Check[] = [
  ...CLIENT_CHECKS,
  ...COMMAND_CHECKS,
  ...KEY_CHECKS,
  ...MEMORY_CHECKS,
  ...REPLICATION_CHECKS,
  ...CLUSTER_CHECKS,
  ...ENGINE_CHECKS,
  ...NETWORK_CHECKS,
  ...HOST_CHECKS,
  ...SERVICE_CHECKS,
  ...FEED_CHECKS,
  ...PATTERN_CHECKS,
].map(checkOf);

export const CHECK_IDS: ReadonlySet<string> = new Set(CHECKS.map(({ id }) => id));

/** The checks of that name, or of that area; none for a word that is neither. */
export function checksNamed(name: string): readonly Check[] {
  return CHECKS.filter(({ id, area }) => id === name || area === name);
}

/** All words that `checksNamed` knows. */
export const CHECK_WORDS: readonly string[] = [...CHECK_AREAS, ...CHECK_IDS];
