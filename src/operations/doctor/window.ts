import { isLoopback } from '../../schema/units.ts';
import type { Check, CheckResult, Details, Window } from './check.ts';
import {
  type DomainFacts,
  type EngineFacts,
  type Figure,
  type HostFacts,
  known,
  type NodeFacts,
  type StoreFacts,
} from './facts.ts';

/** A window as the checks see it: each node, engine, host and domain beside its earlier reading, and the forms of a judgement. */

/** Reason to skip: without two readings of one run there is no growth. */
export const NO_PAIR = 'no two readings of one run';

// --- stores -----------------------------------------------------------------------------------------------------------

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
  readonly use: () => ServerUse;
}

/** Nodes that answered INFO at the end of the window; those that did not are seen by the check `store-unreachable` alone. */
export function nodesOf(window: Window): readonly NodeView[] {
  const { before, after, seconds } = window;
  let useOf: ReturnType<typeof usesOf> | undefined;
  return after.stores.flatMap((store) => {
    const earlier = before.stores.find(({ name }) => name === store.name);
    return (known(store.nodes) ?? []).flatMap((node): NodeView[] => {
      const info = known(node.info);
      if (info === undefined) return [];
      const then = known(earlier?.nodes)?.find(({ address }) => address === node.address);
      const use = (): ServerUse => {
        useOf ??= usesOf(window);
        return useOf(node);
      };
      return [{ ...readingsOf(node, info, then, seconds), store, subject: `${node.address} (${store.name})`, use }];
    });
  });
}

function readingsOf(
  node: NodeFacts,
  info: Readonly<Record<string, string>>,
  before: NodeFacts | undefined,
  seconds: number,
): Omit<NodeView, 'store' | 'subject' | 'use'> {
  const earlier = known(before?.info);
  const sameRun = earlier?.['run_id'] === info['run_id'];
  const level = (field: string): number | undefined => fieldNumber(info[field]);
  const grown = (field: string): number | undefined => {
    const [then, now] = [fieldNumber(earlier?.[field]), level(field)];
    return sameRun && then !== undefined && now !== undefined && now >= then ? now - then : undefined;
  };
  return {
    node,
    before,
    seconds,
    level,
    text: (field) => info[field],
    grown,
    rate: (field) => {
      const growth = grown(field);
      return growth === undefined || seconds <= 0 ? undefined : growth / seconds;
    },
    config: (name) => known(node.config)?.[name],
  };
}

/** A field as a number; undefined when it is missing or no number. */
export function fieldNumber(text: string | undefined): number | undefined {
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

/** Nodes of different stores may be one server: each server once, its first node. */
export function serversOf(window: Window): readonly NodeView[] {
  const nodes = dataNodesOf(window).toReversed();
  return [...new Map(nodes.map((view) => [serverIdOf(view.node), view])).values()].toReversed();
}

export function serverIdOf({ info, address }: Pick<NodeFacts, 'info' | 'address'>): string {
  return known(info)?.['run_id'] ?? address;
}

/**
 * The use of a server decides which advice is safe: a policy or a save point is in force for all stores on it, also those
 * with a database of their own. `cache`: only pages, which can be computed again. `mixed`: pages beside control documents
 * or counts. `lasting`: no pages.
 */
export type ServerUse = 'cache' | 'mixed' | 'lasting';

/** @param store named as `StoreFacts` describes: `store of goods, control store` */
export function keepsControl({ name }: Pick<StoreFacts, 'name'>): boolean {
  return name.split(', ').includes('control store');
}

/** Its documents or counts cannot be computed again. */
export function isLasting(store: Pick<StoreFacts, 'name'>): boolean {
  return keepsControl(store) || store.name.split(', ').includes('counter store');
}

function usesOf({ before, after }: Window): (node: NodeFacts) => ServerUse {
  const nodesIn = (stores: readonly StoreFacts[]): readonly NodeFacts[] =>
    stores.flatMap(({ nodes }) => known(nodes) ?? []).filter(({ role }) => role !== 'sentinel');
  const caches = new Set(
    nodesIn(after.stores.filter(({ isCache }) => isCache))
      .filter(({ info }) => 'known' in info)
      .map(serverIdOf),
  );
  // A node that did not answer the probe of one store may have answered another's: then its address alone tells the server.
  const lasting = new Set(
    nodesIn([...before.stores, ...after.stores].filter(isLasting)).flatMap((node) => [node.address, serverIdOf(node)]),
  );
  return (node) => {
    if (!caches.has(serverIdOf(node))) return 'lasting';
    return lasting.has(serverIdOf(node)) || lasting.has(node.address) ? 'mixed' : 'cache';
  };
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
  const intrinsic = known(after.hosts.find(({ role }) => role === 'service')?.intrinsic);
  const medianMs = median(times);
  if (medianMs === undefined || intrinsic === undefined) return undefined;
  const ownMs = Math.max(intrinsic.maxMs, after.loopMaxMs ?? 0);
  const maxMs = Math.max(...times);
  return { count: times.length, medianMs, maxMs, ownMs, aboveMs: maxMs - ownMs };
}

// --- engines, hosts, domains ------------------------------------------------------------------------------------------

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

/** Engines, the embedded ones included. */
export function enginesOf({ before, after, seconds }: Window): readonly EngineView[] {
  return after.engines.map((now) => {
    const then = before.engines.find(({ name, endpoint }) => name === now.name && endpoint === now.endpoint);
    return { now, before: then, seconds, subject: `${now.endpoint} (${now.name})` };
  });
}

export function hostsOf({ before, after, seconds }: Window): readonly HostView[] {
  return after.hosts.map((now) => {
    const then = before.hosts.find(({ name, role }) => name === now.name && role === now.role);
    // The own host is read with every snapshot, whose clock is not stepped; a part has its own times only.
    const own = then === undefined || now.role === 'service' ? seconds : (now.wallMs - then.wallMs) / 1000;
    return { now, before: then, seconds: own, subject: `host ${now.name}` };
  });
}

/** The address without its port: `10.0.0.1:6379` → `10.0.0.1`, `[::1]:6379` → `::1`. A Unix socket is of this host. */
export function hostPartOf(address: string): string {
  if (address.startsWith('unix:')) return 'localhost';
  return address.slice(0, Math.max(0, address.lastIndexOf(':'))).replace(/^\[(.*)\]$/, '$1');
}

/** The port as it is written. */
export function portPartOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}

/** Whether the address is of this host. Every host has loopback addresses; those of nodes are of the service's host. */
export function isAt(address: string, { role, addresses }: Pick<HostFacts, 'role' | 'addresses'>): boolean {
  return isLoopback(address) ? role === 'service' : addresses.includes(address);
}

/** Domains of the running service; none without one. */
export function domainsOf({ before, after, seconds }: Window): readonly DomainView[] {
  const sameProcess = before.service?.processId === after.service?.processId;
  return (after.service?.domains ?? []).map((now) => {
    const then = sameProcess ? before.service?.domains.find(({ domain }) => domain === now.domain) : undefined;
    return { now, before: then, seconds, subject: `domain ${now.domain}` };
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

// --- judgements -------------------------------------------------------------------------------------------------------

/** The judgement of a check on one subject. Undefined: it is no subject of the check. */
export type Judgement =
  | 'fine'
  | { readonly skipped: string }
  | (Details & { readonly state: 'raise' | 'hold' })
  | undefined;

/** A look at each of the subjects. */
export function each<View extends { readonly subject: string }>(
  viewsOf: (window: Window) => readonly View[],
  judge: (view: View, window: Window) => Judgement,
): Check['look'] {
  return (window) =>
    viewsOf(window).flatMap((view): readonly CheckResult[] => {
      const judgement = judge(view, window);
      return judgement === undefined ? [] : [resultOf(view.subject, judgement)];
    });
}

function resultOf(subject: string, judgement: NonNullable<Judgement>): CheckResult {
  if (judgement === 'fine') return { subject, state: 'fine' };
  if ('skipped' in judgement) return skipped(subject, judgement.skipped);
  return { subject, ...judgement };
}

/**
 * The one way to a finding: its state by the figures, or whether it is wrong at all, and the details that are made only when
 * they are told.
 */
export function finding(state: boolean | 'raise' | 'hold' | 'fine', details: () => Details): NonNullable<Judgement> {
  if (state === false || state === 'fine') return 'fine';
  return { state: state === true ? 'raise' : state, ...details() };
}

export function skip(reason: string): { readonly skipped: string } {
  return { skipped: reason };
}

export function tooFew(count: number, least: number, what: string): Judgement {
  return skip(`${count} ${what} in the window, fewer than ${least}`);
}

export function skipped(subject: string, reason: string): CheckResult {
  return { subject, state: 'skipped', reason };
}

/** The reason why a figure is missing; for `skip`. */
export function whyMissing(figure: Figure<unknown> | undefined): string {
  return figure !== undefined && 'skipped' in figure ? figure.skipped : '';
}

/** The state by a figure that is bad when it is high: `raise` from `raises` on, `hold` from `clears` on. */
export function stateAbove(value: number, { raises, clears }: { readonly raises: number; readonly clears: number }) {
  if (value >= raises) return 'raise';
  return value >= clears ? 'hold' : 'fine';
}

/** The state of a finding that counts, by whether its raising threshold is passed. */
export function raiseOrHold(isRaised: boolean): 'raise' | 'hold' {
  return isRaised ? 'raise' : 'hold';
}

/** The lower median of the values; undefined without any. */
export function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length / 2) - 1)];
}
