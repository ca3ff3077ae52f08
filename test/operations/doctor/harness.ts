import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { Check, CheckResult, CheckRule, Window } from '../../../src/operations/doctor/check.ts';
import { CHECKS } from '../../../src/operations/doctor/checks/checks.ts';
import { fieldsOf as infoFields } from '../../../src/operations/doctor/collect/store-replies.ts';
import type { StoreProbe } from '../../../src/operations/doctor/doctor.ts';
import type {
  DomainFacts,
  EngineFacts,
  Figure,
  HostFacts,
  NodeFacts,
  QdiscFacts,
  ServiceFacts,
  Snapshot,
  StoreFacts,
} from '../../../src/operations/doctor/facts.ts';
import { DURATION_BOUNDS_MS } from '../../../src/operations/meter/figures.ts';
import { systemClock } from '../../../src/runtime.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { createRedisProbe } from '../../../src/stores/redis/probe.ts';
import { commandStat, type Fields, HEALTHY_CONFIG, HEALTHY_GROWTH, HEALTHY_INFO, WALL_MS } from './healthy-redis.ts';

/** The store that keeps the control documents, and one that keeps pages too. */
export const CONTROL: Partial<StoreFacts> = { name: 'control store', domains: [], isCache: false };
export const BOTH: Partial<StoreFacts> = { name: 'store of goods, control store' };

export { HEALTHY_CONFIG, HEALTHY_GROWTH, HEALTHY_INFO, WALL_MS };

/**
 * Builders of snapshots. Every default is of a healthy stack: Redis 7 with deploy/redis/redis-cache.conf, a searchd and a
 * host with time to spare. A test gives only what it is about.
 */

/** Fields over others as strings; `undefined` removes one. */
function fieldsOf(defaults: Fields, changes: Fields = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries({ ...defaults, ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    ),
  );
}

/** The healthy node with the figures of a real one. */
export async function realNode(node: RedisNode, role: NodeFacts['role'] = 'master'): Promise<NodeFacts> {
  const ask = async (...command: readonly string[]) => infoFields(String(await node.command(...command)));
  const info = { ...(await ask('INFO')), ...(await ask('INFO', 'commandstats')) };
  const isCluster = info['cluster_enabled'] === '1';
  const cluster = isCluster ? { known: await ask('CLUSTER', 'INFO') } : HEALTHY_NODE.cluster;
  return { ...HEALTHY_NODE, address: node.address, role, info: { known: info }, cluster };
}

/** The doctor's connection to a real store. */
export function realProbe(t: Pick<TestContext, 'after'>, settings: RedisSettings): StoreProbe {
  const facts = { name: 'store of goods', domains: ['goods'], kind: settings.kind, isCache: true };
  const probe = createRedisProbe({
    settings,
    facts: { ...facts, settings: { deadlineMs: settings.deadlineMs, names: [] } },
    clock: systemClock,
    random: Math.random,
  });
  t.after(() => probe.close());
  return probe;
}

/** Growth is added to numbers: `{ total_commands_processed: 500 }`. */
function grownFields(fields: Readonly<Record<string, string>>, growth: Fields): Readonly<Record<string, string>> {
  return fieldsOf(
    fields,
    Object.fromEntries(
      Object.entries(growth).map(([name, by]) => {
        if (typeof by !== 'number') return [name, by];
        const calls = /^calls=(\d+),/.exec(fields[name] ?? '')?.[1];
        if (calls !== undefined || name.startsWith('cmdstat_')) return [name, commandStat(Number(calls ?? 0) + by)];
        const count = /^count=(\d+)/.exec(fields[name] ?? '')?.[1];
        if (count !== undefined || name.startsWith('errorstat_')) return [name, `count=${Number(count ?? 0) + by}`];
        return [name, Number(fields[name] ?? 0) + by];
      }),
    ),
  );
}

export const HEALTHY_NODE: NodeFacts = {
  address: '127.0.0.1:6379',
  role: 'master',
  info: { known: fieldsOf(HEALTHY_INFO) },
  rtt: { known: Array.from({ length: 20 }, (_, at) => 0.08 + (at % 4) / 100) },
  clockOffsetMs: { known: 0.2 },
  config: { known: fieldsOf(HEALTHY_CONFIG) },
  slowlog: { known: [] },
  latency: { known: [] },
  memoryAdvice: { known: 'Hi Sam, I can’t find any memory issue in your instance.' },
  clients: {
    known: {
      count: 12,
      largestOutput: { bytes: 0, client: 'serpcache-goods', kind: 'normal' },
      top: [{ address: '10.0.0.1', name: 'serpcache-goods', count: 4, young: 0 }],
    },
  },
  keys: {
    known: {
      sampled: 1000,
      total: 100_000,
      seen: 100_000,
      sizes: [
        { maxBytes: 1024, count: 50 },
        { maxBytes: 10_240, count: 900 },
        { maxBytes: 102_400, count: 50 },
      ],
      biggest: [{ name: 'sc1:goods:{AAAAAAAAAAAAAAAAAAAAAA}', type: 'string', bytes: 40_000 }],
      longest: [],
      ours: 1000,
      oursWithoutExpiry: 0,
      foreign: 0,
    },
  },
  cluster: { skipped: 'not a cluster' },
};

export interface NodeChange {
  readonly address?: string;
  readonly role?: NodeFacts['role'];
  /** Over the healthy fields; `undefined` removes one. */
  readonly info?: Fields;
  readonly config?: Fields;
  /** Whole parts, after the fields: `{ clients: { skipped: 'refused' } }`. */
  readonly parts?: Partial<NodeFacts>;
}

/** @param healthy the node that is changed; the healthy master unless given */
export function nodeWith(change: NodeChange = {}, healthy: NodeFacts = HEALTHY_NODE): NodeFacts {
  const { address = healthy.address, role = healthy.role, info, config, parts } = change;
  return {
    ...healthy,
    address,
    role,
    ...('known' in healthy.info && { info: { known: fieldsOf(healthy.info.known, info) } }),
    ...('known' in healthy.config && { config: { known: fieldsOf(healthy.config.known, config) } }),
    ...parts,
  };
}

/** The node later: numbers of INFO grew by this (`cmdstat_get: 450` by calls, `errorstat_OOM: 5`), texts were replaced. */
export function laterNode(node: NodeFacts, growth: Fields = HEALTHY_GROWTH, parts: Partial<NodeFacts> = {}): NodeFacts {
  const info = 'known' in node.info ? { known: grownFields(node.info.known, growth) } : node.info;
  return { ...node, info, ...parts };
}

/** @param nodes the healthy master unless given */
export function storeWith(change: Partial<StoreFacts> = {}, nodes: readonly NodeFacts[] = [HEALTHY_NODE]): StoreFacts {
  return {
    name: 'store of goods',
    domains: ['goods'],
    kind: 'standalone',
    isCache: true,
    settings: { deadlineMs: 50, names: [] },
    nodes: { known: nodes },
    ...change,
  };
}

export function engineWith({
  status,
  ...change
}: Partial<Omit<EngineFacts, 'status'>> & { readonly status?: Fields } = {}) {
  const healthy: EngineFacts = {
    name: 'engine of goods',
    domains: ['goods'],
    kind: 'sphinx',
    endpoint: '127.0.0.1:9306',
    index: 'goods',
    settings: { maxConcurrent: 32, deadlineMs: 500, hardDeadlineMs: 2000 },
    status: {
      known: fieldsOf(
        {
          uptime: 3600,
          connections: 900,
          maxed_out: 0,
          command_search: 90_000,
          queries: 90_000,
          query_wall: '450.000',
        },
        status,
      ),
    },
    version: { known: '2.2.11-id64-release (95ae9a6)' },
    rttMs: { known: 0.4 },
    indexStatus: { known: { index_type: 'disk', indexed_documents: '100000' } },
    agents: { known: [] },
    threads: { known: { count: 2, longestMs: 3 } },
    indexAge: { known: { seconds: 600, from: 'file' } },
    maxConnections: { known: 100 },
  };
  return { ...healthy, ...change } satisfies EngineFacts;
}

export function hostWith(change: Partial<HostFacts> = {}): HostFacts {
  return {
    name: 'web-1',
    role: 'service',
    addresses: ['127.0.0.1', '10.0.0.1'],
    wallMs: WALL_MS,
    memory: { known: { swappedIn: 0, swappedOut: 0 } },
    qdiscs: { known: [] },
    intrinsic: { known: { medianMs: 0.06, maxMs: 0.4, samples: 100 } },
    dns: { known: [] },
    servers: { known: [] },
    ...change,
  };
}

/** A limiter of an interface, used before the window. */
export const TBF: QdiscFacts = {
  device: 'eth0',
  kind: 'tbf',
  handle: '1:',
  parent: 'root',
  rateBits: 50e6,
  burstBytes: 65_536,
  sentBytes: 1e9,
  dropped: 40,
  overlimits: 5000,
};

export function domainWith(change: Partial<DomainFacts> = {}): DomainFacts {
  return {
    domain: 'goods',
    settings: { ttlMs: 3_600_000, engineMaxConcurrent: 32, storeDeadlineMs: 50 },
    outcomes: {},
    engine: { queued: 0, inFlight: 0, maxConcurrent: 32, ceiling: 32 },
    shed: {},
    permits: { count: 0, waitedMs: 0 },
    reads: {},
    readDurations: DURATION_BOUNDS_MS.map(() => 0).concat(0),
    misses: {},
    pages: { count: 0, bytes: 0, big: 0, largestBytes: 0 },
    audits: {},
    staleSinceChange: 0,
    changedPages: {},
    ...change,
  };
}

export function serviceWith(change: Partial<ServiceFacts> = {}): ServiceFacts {
  return {
    processId: 'web-1-100',
    loop: { delayMs: 1 },
    domains: [domainWith()],
    fleet: { known: [{ id: 'web-1-100', configuration: 'a1b2c3d4' }] },
    ...change,
  };
}

export function snapshotWith(change: Partial<Snapshot> = {}): Snapshot {
  return { atMs: 1000, wallMs: WALL_MS, depth: 'full', stores: [], engines: [], hosts: [], ...change };
}

/** Four snapshots, a second apart. */
export function seriesOf(change: (at: number) => Partial<Snapshot>): readonly Snapshot[] {
  return [0, 1, 2, 3].map((at) => snapshotWith({ atMs: at * 1000, wallMs: WALL_MS + at * 1000, ...change(at) }));
}

/** The clocks of `after`, and of its hosts, are set to this time after `before`. */
export function windowOf(before: Snapshot, after: Snapshot, seconds = 1): Window {
  const later = (ms: number): number => ms + 1000 * seconds;
  const hosts = after.hosts.map((host) => {
    const then = before.hosts.find(({ name, role }) => name === host.name && role === host.role);
    return { ...host, wallMs: later(then?.wallMs ?? before.wallMs) };
  });
  return { before, after: { ...after, atMs: later(before.atMs), wallMs: later(before.wallMs), hosts }, seconds };
}

/** A window in which nothing changes. */
export function stillWindow(change: Partial<Snapshot>): Window {
  const at = snapshotWith(change);
  return windowOf(at, at);
}

interface StoreChange {
  readonly seconds?: number;
  readonly store?: Partial<StoreFacts>;
}

/** A store with these nodes at both ends of a window. */
export function storeWindow(
  before: readonly NodeFacts[],
  after: readonly NodeFacts[],
  { seconds = 1, store = {} }: StoreChange = {},
): Window {
  const at = (nodes: readonly NodeFacts[]): Snapshot => snapshotWith({ stores: [storeWith(store, nodes)] });
  return windowOf(at(before), at(after), seconds);
}

/** One second of a healthy stack with 500 searches. */
export function healthyWindow(): Window {
  const before = { engines: [engineWith()], hosts: [hostWith()], service: serviceWith() };
  return windowOf(
    snapshotWith({ ...before, stores: [storeWith()] }),
    snapshotWith({ ...before, stores: [storeWith({}, [laterNode(HEALTHY_NODE)])] }),
  );
}

/** The look of one check. */
export function lookOf(id: string): Check['look'] {
  const check = CHECKS.find((one) => one.id === id);
  assert.ok(check, `no check ${id}`);
  return check.look;
}

/** The only observation of one check in a window. */
export function seenIn(id: string, window: Window): CheckResult {
  return onlyOf(lookOf(id)(window));
}

/** The observation of one check, of a node of a store and the same node later. */
export function seen(id: string, before: NodeFacts, after: NodeFacts = before, more: StoreChange = {}): CheckResult {
  return seenIn(id, storeWindow([before], [after], more));
}

export function stateOf(...args: Parameters<typeof seen>): CheckResult['state'] {
  return seen(...args).state;
}

/** The states of one check in a window, by subject. */
export function statesIn(id: string, window: Window): readonly CheckResult['state'][] {
  return lookOf(id)(window).map(({ state }) => state);
}

export function assertRaised(observation: CheckResult, evidence: RegExp): void {
  assert.equal(observation.state, 'raise');
  assert.match(evidenceOf(observation), evidence);
}

/** A figure that must be known. */
export function told<T>(part: Figure<T>): T {
  return 'known' in part ? part.known : assert.fail(part.skipped);
}

/** The advice of a raised or held observation, one line each. */
export function adviceOf(observation: CheckResult): string {
  assert.ok(observation.state === 'raise' || observation.state === 'hold', `the state is ${observation.state}`);
  return observation.advice.join('\n');
}

/** The only observation of a window. */
export function onlyOf(observations: readonly CheckResult[]): CheckResult {
  const [first, ...others] = observations;
  assert.ok(first !== undefined && others.length === 0, `${observations.length} observations instead of one`);
  return first;
}

/** The evidence of a raised or held observation; fails for any other. */
export function evidenceOf(observation: CheckResult): string {
  assert.ok(observation.state === 'raise' || observation.state === 'hold', `the state is ${observation.state}`);
  return observation.evidence;
}

/** The checks that raise or hold, with their subjects. */
export function raisedBy(checks: readonly CheckRule[], window: Window): readonly string[] {
  return checks.flatMap(({ id, look }) =>
    look(window).flatMap(({ state, subject }) => (state === 'raise' || state === 'hold' ? [`${id}: ${subject}`] : [])),
  );
}
