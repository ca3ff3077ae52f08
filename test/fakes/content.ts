import { type StoreContent, StoreUnreachable } from '../../src/operations/flush/content.ts';

export interface FakeContent extends StoreContent {
  readonly put: (node: string, name: string, value: Buffer) => void;
  /** All names on the node, in the order of arrival. */
  readonly held: (node: string) => readonly string[];
  /** From now on each call for that node rejects with this message; undefined ends it. */
  readonly refuse: (node: string, message: string | undefined) => void;
}

export interface FakeContentOptions {
  readonly domain: string;
  readonly nodes?: readonly string[];
}

interface Held {
  /** Order of arrival. A scan's cursor is such a number, so a key that is removed meanwhile hides no other key. */
  readonly number: number;
  readonly value: Buffer;
}

/** The content of a store in memory. Keeps every promise of the port. */
export function createFakeContent({ domain, nodes = ['memory:0'] }: FakeContentOptions): FakeContent {
  const held = new Map(nodes.map((node) => [node, new Map<string, Held>()]));
  const refusals = new Map<string, string>();
  let numbers = 0;

  const isEntry = (name: string): boolean =>
    name.startsWith(`sc1:${domain}:{`) && /^\{[\w-]{22}\}$/.test(name.slice(`sc1:${domain}:`.length));
  const known = (node: string): Map<string, Held> => {
    const values = held.get(node);
    if (values === undefined) throw new StoreUnreachable(`${node} is no node of this store.`);
    return values;
  };
  const at = (node: string): Map<string, Held> => {
    const message = refusals.get(node);
    if (message !== undefined) throw new StoreUnreachable(message);
    return known(node);
  };

  return {
    nodes: () => nodes,
    async scan(node, cursor, count) {
      const after = Number(cursor);
      const rest = [...at(node)].filter(([, { number }]) => number > after);
      const step = rest.slice(0, Math.max(1, Math.floor(count)));
      const last = step.at(-1)?.[1].number ?? 0;
      return {
        cursor: rest.length > step.length ? String(last) : '0',
        names: step.map(([name]) => name).filter(isEntry),
      };
    },
    async sizes(node, names) {
      const values = at(node);
      return names.map((name) => (isEntry(name) ? (values.get(name)?.value.byteLength ?? 0) : 0));
    },
    async unlink(node, names) {
      const values = at(node);
      return names.filter((name) => isEntry(name) && values.delete(name)).length;
    },
    count: async (node) => at(node).size,
    flushNode: async (node) => at(node).clear(),
    put(node, name, value) {
      numbers += 1;
      known(node).set(name, { number: numbers, value });
    },
    held: (node) => [...known(node).keys()],
    refuse(node, message) {
      if (message === undefined) refusals.delete(node);
      else refusals.set(node, message);
    },
  };
}
