import type { Row } from './row.ts';
import { CHANGES } from './rows/changes.ts';
import { CLIENTS } from './rows/clients.ts';
import { ENGINE, MIRRORS } from './rows/engine.ts';
import { PROCESS } from './rows/process.ts';
import { SHADOW } from './rows/shadow.ts';
import { STORE_NETWORK } from './rows/store-network.ts';
import { STORE_NODES, STORE_TOPOLOGY } from './rows/store-nodes.ts';
import { STORE_PLANTED } from './rows/store-planted.ts';
import { STORE_REPLIES } from './rows/store-replies.ts';
import { brokenOnPurpose, STORE_VALUES } from './rows/store-values.ts';

/** The rows of the matrix, by family. */
export const FAMILIES: Readonly<Record<string, readonly Row[]>> = {
  'store-nodes': STORE_NODES,
  'store-replies': STORE_REPLIES,
  'store-topology': STORE_TOPOLOGY,
  'store-values': STORE_VALUES,
  'store-planted': STORE_PLANTED,
  'store-network': STORE_NETWORK,
  shadow: SHADOW,
  changes: CHANGES,
  engine: ENGINE,
  mirrors: MIRRORS,
  clients: CLIENTS,
  process: PROCESS,
};

/** Rows that run by name only. They are not part of the matrix and must not be green. */
export const BY_NAME: readonly Row[] = [brokenOnPurpose()];

/**
 * Resolves `--only a,b`: names of rows and families. Without names it selects every row of the matrix.
 * @throws an error with the unknown name and all known names.
 */
export function select(names: readonly string[]): readonly Row[] {
  const all = Object.values(FAMILIES).flat();
  if (names.length === 0) return all;
  const selected = names.flatMap((name) => {
    const found = FAMILIES[name] ?? [...all, ...BY_NAME].filter((row) => row.name === name);
    if (found.length > 0) return found;
    const known = [...Object.keys(FAMILIES), ...[...all, ...BY_NAME].map((row) => row.name)];
    throw new Error(`there is no ${name}; known: ${known.join(', ')}`);
  });
  return [...new Set(selected)];
}
