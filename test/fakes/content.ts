import { type StoreContent, StoreUnreachable } from '../../src/operations/flush/content.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';

export interface FakeContent extends StoreContent {
  /** Without `ttlMs` it does not expire. */
  readonly put: (node: string, name: string, value: Buffer, ttlMs?: number) => void;
  /** All names on the node, in the order of arrival. */
  readonly held: (node: string) => readonly string[];
  /** From now on each call for that node rejects with this message; undefined ends it. */
  readonly refuse: (node: string, message: string | undefined) => void;
  /** Sets fields of the node's `info`. */
  readonly tell: (node: string, fields: Readonly<Record<string, string | number>>) => void;
}

export interface FakeContentOptions {
  readonly domain: string;
  readonly nodes?: readonly string[];
  readonly clock?: Clock;
}

interface Held {
  /** Order of arrival. A scan's cursor is such a number, so a key that is removed meanwhile hides no other key. */
  readonly number: number;
  readonly value: Buffer;
  readonly expiresMs: number;
}

/** The content of a store in memory. Keeps every promise of the port. */
export function createFakeContent(options: FakeContentOptions): FakeContent {
  const { domain, nodes = ['memory:0'], clock = systemClock } = options;
  const held = new Map(nodes.map((node) => [node, new Map<string, Held>()]));
  const refusals = new Map<string, string>();
  const told = new Map<string, Readonly<Record<string, string | number>>>();
  let numbers = 0;

  const isEntry = (name: string): boolean =>
    name.startsWith(`sc1:${domain}:{`) && /^\{[\w-]{22}\}$/.test(name.slice(`sc1:${domain}:`.length));
  const all = (node: string): Map<string, Held> => {
    const values = held.get(node);
    if (values === undefined) throw new StoreUnreachable(`${node} is no node of this store.`);
    return values;
  };
  const known = (node: string): Map<string, Held> => {
    const values = all(node);
    const nowMs = clock.monotonicMs();
    for (const [name, { expiresMs }] of values) if (expiresMs <= nowMs) values.delete(name);
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
    async info(node) {
      const fields = { run_id: node, connected_clients: 1, used_memory: 0, maxmemory: 0, keys: at(node).size };
      const lines = Object.entries({ ...fields, ...told.get(node) }).map(([name, value]) => `${name}:${value}`);
      return ['# Server', ...lines, ''].join('\r\n');
    },
    async lifeMs(name) {
      // Names have no owner here: the first node answers for an absent one.
      const owner = nodes.find((node) => known(node).has(name)) ?? nodes[0] ?? '';
      const found = isEntry(name) ? at(owner).get(name) : undefined;
      return found === undefined ? undefined : found.expiresMs - clock.monotonicMs();
    },
    async sample(node, pattern, count) {
      const matches = globOf(pattern);
      const most = Math.max(1, Math.floor(count));
      return [...at(node).keys()].filter((name) => matches.test(name)).slice(0, most);
    },
    put(node, name, value, ttlMs = Number.POSITIVE_INFINITY) {
      numbers += 1;
      all(node).set(name, { number: numbers, value, expiresMs: clock.monotonicMs() + ttlMs });
    },
    held: (node) => [...known(node).keys()],
    refuse(node, message) {
      if (message === undefined) refusals.delete(node);
      else refusals.set(node, message);
    },
    tell(node, fields) {
      told.set(node, { ...told.get(node), ...fields });
    },
  };
}

/** `*`, `?` and `[…]` of the glob patterns of SCAN. */
function globOf(pattern: string): RegExp {
  const parts = pattern.split(/(\[[^\]]*\]|[*?])/).map((part) => {
    if (part === '*') return '.*';
    if (part === '?') return '.';
    return part.startsWith('[') ? part : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('')}$`, 's');
}
