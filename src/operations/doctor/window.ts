import type { Observation, Window } from './check.ts';
import {
  type DomainFacts,
  type EngineFacts,
  type HostFacts,
  known,
  type NodeFacts,
  type Part,
  type StoreFacts,
} from './facts.ts';

/** One store node in a window. A counter that went backwards (the server was restarted) has no growth. */
export interface NodeView {
  readonly store: StoreFacts;
  readonly node: NodeFacts;
  /** Absent: the node is new. */
  readonly before?: NodeFacts;
  readonly seconds: number;
  /** `127.0.0.1:6379 (store of goods)`. */
  readonly subject: string;
  /** A field of INFO as a number; undefined when it is missing. */
  readonly level: (field: string) => number | undefined;
  readonly text: (field: string) => string | undefined;
  readonly grown: (field: string) => number | undefined;
  /** Growth per second. */
  readonly rate: (field: string) => number | undefined;
  /** A directive, when CONFIG GET told it. */
  readonly config: (name: string) => string | undefined;
}

/** Nodes that answered INFO at the end of the window; those that did not are seen by the check `store-unreachable` alone. */
export function nodesOf({ before, after, seconds }: Window): readonly NodeView[] {
  return after.stores.flatMap((store) => {
    const earlier = before.stores.find(({ name }) => name === store.name);
    return (known(store.nodes) ?? []).flatMap((node): NodeView[] => {
      const info = known(node.info);
      if (info === undefined) return [];
      const then = known(earlier?.nodes ?? NOTHING)?.find(({ address }) => address === node.address);
      return [nodeView(store, node, info, then, seconds)];
    });
  });
}

const NOTHING = { skipped: 'it was not there before' } as const;

function nodeView(
  store: StoreFacts,
  node: NodeFacts,
  info: Readonly<Record<string, string>>,
  before: NodeFacts | undefined,
  seconds: number,
): NodeView {
  const earlier = before === undefined ? undefined : known(before.info);
  const sameRun = earlier?.['run_id'] === info['run_id'];
  const level = (field: string): number | undefined => numberOf(info[field]);
  const grown = (field: string): number | undefined => {
    const [then, now] = [numberOf(earlier?.[field]), level(field)];
    return sameRun && then !== undefined && now !== undefined && now >= then ? now - then : undefined;
  };
  return {
    ...{ store, node, seconds, level, grown },
    ...(before === undefined ? {} : { before }),
    subject: `${node.address} (${store.name})`,
    text: (field) => info[field],
    rate: (field) => {
      const growth = grown(field);
      return growth === undefined || seconds <= 0 ? undefined : growth / seconds;
    },
    config: (name) => known(node.config)?.[name],
  };
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Nodes with a domain's entries or a control document; sentinels keep none. */
export function dataNodesOf(window: Window): readonly NodeView[] {
  return nodesOf(window).filter(({ node }) => node.role !== 'sentinel');
}

export function mastersOf(window: Window): readonly NodeView[] {
  return nodesOf(window).filter(({ node }) => node.role === 'master');
}

/** Cores that a node's main thread uses, or its process where INFO has no more; undefined without two readings of one run. */
export function cpuOf({ rate }: Pick<NodeView, 'rate'>): number | undefined {
  const sum = (suffix: string): number | undefined => {
    const [user, system] = [rate(`used_cpu_user${suffix}`), rate(`used_cpu_sys${suffix}`)];
    return user === undefined || system === undefined ? undefined : user + system;
  };
  return sum('_main_thread') ?? sum('');
}

/**
 * The longest PING of a node in milliseconds above the delays of the collector itself: a busy event loop or a busy host is late
 * with replies that have come. Undefined without PINGs or without those delays.
 */
export function stallOf({ after }: Window, { node }: Pick<NodeView, 'node'>) {
  const times = known(node.rtt) ?? [];
  const own = after.hosts.find(({ role }) => role === 'service');
  const intrinsic = own === undefined ? undefined : known(own.intrinsic);
  const medianMs = median(times);
  if (medianMs === undefined || intrinsic === undefined) return undefined;
  const ownMs = Math.max(intrinsic.maxMs, after.loopMaxMs ?? 0);
  const maxMs = Math.max(...times);
  return { count: times.length, medianMs, maxMs, ownMs, aboveMs: maxMs - ownMs };
}

interface Pair<T> {
  readonly now: T;
  /** Absent: it was not there at the beginning of the window. */
  readonly before?: T;
  readonly seconds: number;
  readonly subject: string;
}
export type EngineView = Pair<EngineFacts>;
export type HostView = Pair<HostFacts>;
export type DomainView = Pair<DomainFacts>;

export function enginesOf({ before, after, seconds }: Window): readonly EngineView[] {
  return after.engines.map((now) => {
    const then = before.engines.find(({ name, endpoint }) => name === now.name && endpoint === now.endpoint);
    return { now, ...(then && { before: then }), seconds, subject: `${now.endpoint} (${now.name})` };
  });
}

export function hostsOf({ before, after, seconds }: Window): readonly HostView[] {
  return after.hosts.map((now) => {
    const then = before.hosts.find(({ name, role }) => name === now.name && role === now.role);
    // The own host is read with every snapshot, whose clock is not stepped; a part has its own times only.
    const own = then === undefined || now.role === 'service' ? seconds : (now.wallMs - then.wallMs) / 1000;
    return { now, ...(then && { before: then }), seconds: own, subject: `host ${now.name}` };
  });
}

/** The address without its port: `10.0.0.1:6379` → `10.0.0.1`, `[::1]:6379` → `::1`. A Unix socket is of this host. */
export function hostPartOf(address: string): string {
  if (address.startsWith('unix:')) return 'localhost';
  return address.slice(0, Math.max(0, address.lastIndexOf(':'))).replace(/^\[(.*)\]$/, '$1');
}

/** Whether the address is of this host. Every host has loopback addresses; those of nodes are of the service's host. */
export function isAt(address: string, { role, addresses }: Pick<HostFacts, 'role' | 'addresses'>): boolean {
  const isLoopback = address === 'localhost' || address.startsWith('127.') || address === '::1';
  return isLoopback ? role === 'service' : addresses.includes(address);
}

/** The kernel counts in hundredths of a second: in less time one of them is a large share. */
export const MIN_CPU_SECONDS = 0.5;

/** Shares of the CPU time of all processors in the window; undefined without enough of it. */
export function cpuShares({ now, before }: HostView): { readonly busy: number; readonly stolen: number } | undefined {
  const [own, then] = [known(now.cpu), before === undefined ? undefined : known(before.cpu)];
  if (own === undefined || then === undefined) return undefined;
  const stolen = own.stolenSeconds - then.stolenSeconds;
  const busy = own.busySeconds - then.busySeconds;
  const all = stolen + busy + own.idleSeconds - then.idleSeconds;
  return all >= MIN_CPU_SECONDS ? { busy: busy / all, stolen: stolen / all } : undefined;
}

/** Domains of the running service; none without one. */
export function domainsOf({ before, after, seconds }: Window): readonly DomainView[] {
  const sameProcess = before.service?.processId === after.service?.processId;
  return (after.service?.domains ?? []).map((now) => {
    const then = sameProcess ? before.service?.domains.find(({ domain }) => domain === now.domain) : undefined;
    return { now, ...(then && { before: then }), seconds, subject: `domain ${now.domain}` };
  });
}

/** The difference of a counter; undefined when there is no earlier value, or it went backwards. */
export function grownBy<T>(
  { now, before }: Pick<Pair<T>, 'now' | 'before'>,
  of: (value: T) => number,
): number | undefined {
  if (before === undefined) return undefined;
  const growth = of(now) - of(before);
  return growth >= 0 ? growth : undefined;
}

/** The differences of each member of a record of counters; members without an earlier value count from 0. */
export function grownEach(
  now: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, Math.max(0, count - (before?.[name] ?? 0))]),
  );
}

export function fine(subject: string): Observation {
  return { subject, state: 'fine' };
}

export function skipped(subject: string, reason: string): Observation {
  return { subject, state: 'skipped', reason };
}

/** The reason why a part is missing; for `skipped`. */
export function reasonOf(part: Part<unknown>): string {
  return 'skipped' in part ? part.skipped : '';
}

/** The state by a figure that is bad when it is high: `raise` from `raises` on, `hold` from `clears` on. */
export function stateAbove(value: number, { raises, clears }: { readonly raises: number; readonly clears: number }) {
  if (value >= raises) return 'raise';
  return value >= clears ? 'hold' : 'fine';
}

/** The median of the values; undefined without any. */
export function median(values: readonly number[]): number | undefined {
  return quantileOf(values, 0.5);
}

/** The smallest value that at least this share of the values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
