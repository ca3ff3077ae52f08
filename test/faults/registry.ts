import { ABLATION } from './figures/ablation.ts';
import { AMPLIFICATION } from './figures/amplification.ts';
import { FULL_LOSS } from './figures/full-loss.ts';
import { OVERLOAD } from './figures/overload.ts';
import { STALLED_SHARD } from './figures/stalled-shard.ts';
import type { Row } from './row.ts';
import { CLIENTS } from './rows/clients.ts';
import { ENGINE } from './rows/engine.ts';
import { MIRRORS } from './rows/mirrors.ts';
import { PROCESS } from './rows/process.ts';
import { STORE_NETWORK } from './rows/store-network.ts';
import { STORE_NODES } from './rows/store-nodes.ts';
import { STORE_REPLIES } from './rows/store-replies.ts';
import { STORE_TOPOLOGY } from './rows/store-topology.ts';
import { STORE_VALUES } from './rows/store-values.ts';

/** The matrix, by family. */
export const FAMILIES: Readonly<Record<string, readonly Row[]>> = {
  'store-nodes': STORE_NODES,
  'store-replies': STORE_REPLIES,
  'store-topology': STORE_TOPOLOGY,
  'store-values': STORE_VALUES,
  'store-network': STORE_NETWORK,
  engine: ENGINE,
  mirrors: MIRRORS,
  clients: CLIENTS,
  process: PROCESS,
};

/** A measurement that is not one row: a table, and a verdict for each figure that was promised. */
export interface Figure {
  readonly name: string;
  readonly says: string;
  readonly run: (options: { readonly checkout: string }) => Promise<FigureResult>;
}

export interface FigureResult {
  /** Printed as a table: the keys of the first row are its head. */
  readonly table: readonly Readonly<Record<string, string | number>>[];
  readonly verdicts: readonly { readonly says: string; readonly holds: boolean }[];
}

/** Run by name, or with `figures`: each takes minutes. */
export const FIGURES: readonly Figure[] = [AMPLIFICATION, OVERLOAD, FULL_LOSS, STALLED_SHARD, ABLATION];

export interface Selection {
  readonly rows: readonly Row[];
  readonly figures: readonly Figure[];
}

/**
 * What `--only a,b` means: names of rows, families and figures. Nothing: every row.
 * @throws naming what is not known and what is.
 */
export function select(names: readonly string[]): Selection {
  const all = Object.values(FAMILIES).flat();
  if (names.length === 0) return { rows: all, figures: [] };
  const rows: Row[] = [];
  const figures: Figure[] = [];
  for (const name of names) {
    const family = FAMILIES[name] ?? all.filter((row) => row.name === name);
    const measured = name === 'figures' ? FIGURES : FIGURES.filter((figure) => figure.name === name);
    if (family.length + measured.length === 0) {
      const known = [...Object.keys(FAMILIES), ...all.map((row) => row.name), ...FIGURES.map((figure) => figure.name)];
      throw new Error(`there is no ${name}; known: ${known.join(', ')}`);
    }
    rows.push(...family.filter((row) => !rows.includes(row)));
    figures.push(...measured);
  }
  return { rows, figures };
}
