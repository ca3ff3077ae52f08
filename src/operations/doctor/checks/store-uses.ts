import type { Window } from '../check.ts';
import { known, type StoreFacts } from '../facts.ts';
import { dataNodesOf, type NodeView } from '../window.ts';
import { cli, serverIdOf } from './store-figures.ts';

/**
 * The use of a server decides which advice is safe. Several stores may be one server, each with a database of its own, and
 * a policy or a save point is in force for all of them.
 */

/** `cache`: only pages, which can be computed again. `mixed`: pages beside control documents or counts. `lasting`: no pages. */
export type ServerUse = 'cache' | 'mixed' | 'lasting';

/** @param store named as `StoreFacts` describes: `store of goods, control store` */
export function keepsControl({ name }: Pick<StoreFacts, 'name'>): boolean {
  return name.split(', ').includes('control store');
}

/** Its documents or counts cannot be computed again. */
export function isLasting(store: Pick<StoreFacts, 'name'>): boolean {
  return keepsControl(store) || store.name.split(', ').includes('counter store');
}

/** The use of each server, by all stores of the window. */
export function usesOf(window: Window): (view: NodeView) => ServerUse {
  const caches = new Set(dataNodesOf(window).flatMap((view) => (view.store.isCache ? [serverIdOf(view)] : [])));
  // A node that did not answer the probe of one store may have answered another's: then its address alone tells the server.
  const lasting = new Set(
    [window.before, window.after].flatMap(({ stores }) =>
      stores
        .filter(isLasting)
        .flatMap(({ nodes }) => known(nodes) ?? [])
        .filter(({ role }) => role !== 'sentinel')
        .flatMap(({ address, info }) => [address, known(info)?.['run_id'] ?? address]),
    ),
  );
  return (view) => {
    if (!caches.has(serverIdOf(view))) return 'lasting';
    return lasting.has(serverIdOf(view)) || lasting.has(view.node.address) ? 'mixed' : 'cache';
  };
}

/** The policy under which a server at its limit loses nothing that lasts: pages have an expiry, control documents have none. */
export function policyFor(use: ServerUse): string {
  return { cache: 'allkeys-lru', mixed: 'volatile-lru', lasting: 'noeviction' }[use];
}

export interface Saving {
  readonly appends: boolean;
  /** Save points, `3600 1 300 100`; empty: none; undefined: CONFIG GET did not tell them. */
  readonly points: string | undefined;
}

/** The commands that end saving to disk; none where something lasts. */
export function endsSaving(view: NodeView, use: ServerUse, { appends, points }: Saving): readonly string[] {
  if (use !== 'cache') return [];
  return [
    ...(points === '' ? [] : [cli(view, 'CONFIG SET save ""')]),
    ...(appends ? [cli(view, 'CONFIG SET appendonly no')] : []),
  ];
}

/** Errors after which a command was not done. MOVED and ASK are how a cluster works. */
export const REFUSALS = ['NOPERM', 'OOM', 'READONLY', 'MISCONF', 'LOADING', 'CROSSSLOT'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** The cause of such an error, and the command that shows or changes it. */
export function refusalAdvice(error: Refusal, view: NodeView, use: ServerUse): string {
  const [cause, command] = REFUSAL_ADVICE[error](use);
  // A policy that evicts already is not the remedy.
  if (error === 'OOM' && use !== 'lasting' && view.text('maxmemory_policy') !== 'noeviction') {
    return `OOM, although the server evicts: ${cli(view, 'INFO memory')} shows what is no key; give it a higher maxmemory`;
  }
  return `${error}, ${cause}: ${cli(view, command)}`;
}

const REFUSAL_ADVICE: Readonly<Record<Refusal, (use: ServerUse) => readonly [cause: string, command: string]>> = {
  NOPERM: () => ['a user lacks rights that deploy/redis names', 'ACL LOG 16'],
  OOM: (use) =>
    use === 'lasting'
      ? ['memory is full and control documents or counts must stay, so it needs a higher maxmemory', 'INFO memory']
      : ['memory is full and nothing is evicted', `CONFIG SET maxmemory-policy ${policyFor(use)}`],
  READONLY: () => ['a client writes to a replica', 'ROLE'],
  MISCONF: (use) =>
    use === 'cache'
      ? ['a snapshot failed', 'CONFIG SET stop-writes-on-bgsave-error no']
      : ['a snapshot failed: mend its disk or memory by the server’s log, then', 'BGSAVE'],
  LOADING: (use) =>
    use === 'cache'
      ? ['the server loads its data, which a cache can do without', 'CONFIG SET save ""']
      : ['the server loads its data, and answers when it has ended', 'INFO persistence'],
  CROSSSLOT: () => ['a client names keys of several slots at once', 'CLIENT LIST'],
};
