import type { RedisNode } from './node.ts';

export interface PerNodeOptions<Item, Result> {
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  readonly ownerOf: (name: string) => RedisNode | undefined;
  /** What items get whose name has no owner. */
  readonly unowned: Result;
  /** How many from `first` on go into the next pipeline: at least one. */
  readonly take: (node: RedisNode, items: readonly Item[], first: number) => number;
  /** Results in the order of `chunk`. Never rejects. */
  readonly send: (node: RedisNode, chunk: readonly Item[]) => Promise<readonly Result[]>;
}

/**
 * Work on many names: grouped by node, nodes side by side, one node's chunks one after another, so that single
 * commands find their way in between. Results in the order of `items`.
 */
export async function perNode<Item, Result>(options: PerNodeOptions<Item, Result>): Promise<readonly Result[]> {
  const { items, nameOf, ownerOf, unowned, take, send } = options;
  const results: Result[] = items.map(() => unowned);
  const groups = new Map<RedisNode, { readonly positions: number[]; readonly items: Item[] }>();
  for (const [position, item] of items.entries()) {
    const node = ownerOf(nameOf(item));
    if (node === undefined) continue;
    const group = groups.get(node) ?? { positions: [], items: [] };
    groups.set(node, group);
    group.positions.push(position);
    group.items.push(item);
  }
  const drain = async (node: RedisNode, group: { positions: readonly number[]; items: readonly Item[] }) => {
    for (let first = 0; first < group.items.length; ) {
      const end = first + Math.max(1, take(node, group.items, first));
      const replies = await send(node, group.items.slice(first, end));
      for (const [index, position] of group.positions.slice(first, end).entries()) {
        results[position] = replies[index] ?? unowned;
      }
      first = end;
    }
  };
  await Promise.all([...groups].map(([node, group]) => drain(node, group)));
  return results;
}
