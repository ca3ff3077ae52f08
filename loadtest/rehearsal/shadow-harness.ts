import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdminClient } from '../../src/commands/admin-client.ts';
import type { Moved, ShadowStatus, ShadowSummary, Stopped } from '../../src/operations/shadow/shadow.ts';
import { startTcpProxy } from '../fault-proxy/tcp-proxy.ts';
import { closedLoop } from '../http-driver/loops.ts';
import type { ReplicaPlan, StackPlan } from '../stack/plan.ts';
import { waitUntil } from '../stack/process.ts';
import { type RedisStack, startCluster, until } from '../stack/redis.ts';
import type { RedisNode } from '../stack/redis-node.ts';
import { declarationOf } from '../stack/service.ts';
import { down, up } from '../stack/stack.ts';
import { firstIndex, queriesFor, readFreePlan, replicaAt, replicaOf } from './harness.ts';
import { createProbe, idsIn, type Load, type Probe } from './load.ts';
import { say } from './rehearse.ts';

export interface ShadowRehearsal {
  readonly harness: ShadowHarness;
  readonly load: Load;
  readonly probe: Probe;
  readonly pids: readonly number[];
  /** Results that pages of the load show. */
  readonly shownIds: ReadonlySet<string>;
}

export type ShadowHarness = Awaited<ReturnType<typeof startShadowHarness>>;

const REPLICAS = 3;
/** The name of the candidate in the configuration. */
export const CANDIDATE = 'valkey';
/** Copies of each read. */
export const READS = 3;
/** Searches of the load: a few times more than the memory of a replica holds, so that both stores are read. */
const REPEATED = 400;
/** Searches that the load never sends: pages to be removed, and texts that no store has seen. */
const SPARE = 500;
const AT_ONCE = 6;

/**
 * One domain of the local stack on its Redis cluster, with a Valkey cluster as the declared candidate, three replicas, and a
 * proxy between each replica and the control store. @throws when a stack already runs
 */
export async function startShadowHarness(checkout?: string) {
  const read = readFreePlan(REPLICAS, { checkout });
  const { domain } = firstIndex(read);
  await using parts = new AsyncDisposableStack();
  say('candidate: a valkey cluster of 3');
  const candidate = await startCluster({ flavour: 'valkey', masters: 3 });
  parts.defer(candidate.stop);
  const controls = await Array.fromAsync({ length: REPLICAS }, async () => {
    const proxy = await startTcpProxy({ target: { host: '127.0.0.1', port: read.control.port } });
    parts.defer(proxy.stop);
    return proxy;
  });
  parts.defer(() => down(read));
  mkdirSync(read.folder, { recursive: true });
  const plan: StackPlan = {
    ...read,
    clusters: read.clusters.slice(0, 1),
    indexes: read.indexes.slice(0, 1),
    replicas: read.replicas.map((replica, at): ReplicaPlan => {
      const config = join(read.folder, `${replica.name}.yaml`);
      writeFileSync(config, configurationOf(read, controls[at]?.port ?? 0, candidate));
      return { ...replica, config };
    }),
  };
  await up(plan, say);
  const queries = await queriesFor(plan, REPEATED + SPARE);
  const spare = queries.repeated.slice(REPEATED);
  const started = parts.move();
  return {
    domain: domain.name,
    replicas: plan.replicas.map((replica, at) => {
      const own = replicaOf(plan, replica);
      const control = controls[at];
      if (control === undefined) throw new Error('a replica without a proxy');
      return { ...own, control, operator: operatorOf(own.admin, domain.name) };
    }),
    candidate,
    queries: { ...queries, repeated: queries.repeated.slice(0, REPEATED) },
    /** Texts that were never asked. */
    newTexts: (count: number): readonly string[] => {
      if (spare.length < count) throw new Error(`${count} new texts are wanted, and ${spare.length} are left`);
      return spare.splice(0, count);
    },
    stop: () => started.disposeAsync(),
  };
}

/** JSON, which is valid YAML. No page expires during the rehearsal, and the memory holds a part of the pages only. */
function configurationOf(plan: StackPlan, controlPort: number, candidate: RedisStack): string {
  const { domain, index, kind } = firstIndex(plan);
  const nodes = (ports: readonly number[]): readonly string[] => ports.map((port) => `127.0.0.1:${port}`);
  const primary = plan.clusters[0]?.nodes.map(({ port }) => port) ?? [];
  return JSON.stringify({
    log: { hitSample: 0 },
    memory: { maxBytes: '1MiB' },
    compression: { coding: 'identity' },
    control: { kind: 'standalone', nodes: nodes([controlPort]) },
    domains: {
      [domain.name]: {
        store: { kind: 'cluster', nodes: nodes(primary) },
        candidates: { [CANDIDATE]: { kind: 'cluster', nodes: nodes(candidate.nodes.map(({ port }) => port)) } },
        engine: { kind, host: '127.0.0.1', port: plan.searchd.port, index, idAttribute: 'doc_id', maxConcurrent: 4 },
        freshness: { ttl: '1h', emptyTtl: '1h' },
        ...declarationOf(domain),
      },
    },
  });
}

/** The calls of an operator at one replica. Each rejects with the problem that the service names. */
function operatorOf(admin: AdminClient, domain: string) {
  const reason = 'rehearsal';
  return {
    summary: async (): Promise<ShadowSummary> => {
      const { domains } = await admin.get<{ readonly domains: readonly ShadowSummary[] }>('/admin/shadow');
      const found = domains.find((each) => each.domain === domain);
      if (found === undefined) throw new Error(`no domain ${domain}`);
      return found;
    },
    /** With the verdict over the last seconds. */
    status: (seconds: number) =>
      admin.get<ShadowStatus>('/admin/shadow/status', { query: Object.entries({ domain, for: String(seconds) }) }),
    start: (fraction: number) =>
      admin.post<ShadowStatus>('/admin/shadow', { domain, candidate: CANDIDATE, fraction, reads: READS, reason }),
    change: (fraction: number) => admin.post<ShadowStatus>('/admin/shadow/change', { domain, fraction, reason }),
    stop: () => admin.post<Stopped>('/admin/shadow/stop', { domain, reason }),
    /** The verdict must cover these seconds; undefined: without a verdict. */
    cutOver: (seconds?: number) =>
      admin.post<Moved>('/admin/shadow/cut-over', {
        domain,
        reason,
        ...(seconds === undefined ? { force: true } : { for: seconds }),
      }),
    back: () => admin.post<Moved>('/admin/shadow/back', { domain, reason }),
    purge: (q: string) => admin.post('/admin/purge', { domain, q, reason }),
    suppress: (id: string) => admin.post('/admin/suppress', { domain, ids: [id], reason }),
    /** Resolves when every entry of the bucket is removed. */
    erase: async (bucket: number): Promise<readonly Erased[]> => {
      await admin.post('/admin/flush', { domain, mode: 'erase', fraction: 1 / 10_000, from: bucket, reason });
      type State = { readonly erasure?: { readonly state: string; readonly nodes: readonly Erased[] } };
      let nodes: readonly Erased[] = [];
      await until('the end of the erasure', async () => {
        const { erasure } = await admin.get<State>('/admin/flush', { query: [['domain', domain]] });
        nodes = erasure?.nodes ?? [];
        return erasure?.state === 'done';
      });
      return nodes;
    },
    explain: (q: string, limit: number) =>
      admin.get<{ readonly storeName: string; readonly bucket: number }>('/admin/explain', {
        query: Object.entries({ domain, q, limit: String(limit) }),
      }),
  };
}

interface Erased {
  readonly node: string;
  readonly removed: number;
}

/** Asks every search of the load once. @returns the ids of all results */
export async function warmPrimary(harness: ShadowHarness): Promise<ReadonlySet<string>> {
  const probe = createProbe(harness);
  const ids = new Set<string>();
  try {
    await closedLoop(harness.queries.repeated.entries(), AT_ONCE, async ([at, text]) => {
      const reply = await probe.ask(at % REPLICAS, text);
      if (reply.kind === 'answer') for (const id of idsIn(reply.body)) ids.add(id);
    });
  } finally {
    probe.close();
  }
  return ids;
}

export function sayCriteria(verdict: ShadowStatus['verdict']): void {
  for (const { what, met } of verdict?.criteria ?? []) say(`${met === 'yes' ? 'met' : met}: ${what}`);
}

/** A shadow of every key, without a cut-over. Begins it when there is none. */
export async function shadowOfAll(harness: ShadowHarness): Promise<void> {
  const { operator } = replicaAt(harness, 0);
  const { shadow } = await operator.summary();
  if (shadow === undefined) await operator.start(1);
  else if (shadow.fraction < 1) await operator.change(1);
}

/** Ends the shadow or the cut-over of the domain, if there is one. */
export async function endOfShadow(harness: ShadowHarness): Promise<void> {
  const { operator } = replicaAt(harness, 0);
  const { shadow, placement } = await operator.summary();
  if (shadow !== undefined || placement !== undefined) await operator.stop();
}

/** Waits until the shadow is judged favourably over its last seconds. @returns the time that it took, or never. */
export async function favourableAfterMs(harness: ShadowHarness, seconds: number, limitMs: number): Promise<number> {
  const { operator } = replicaAt(harness, 0);
  const startedMs = performance.now();
  const isFavourable = async () => (await operator.status(seconds)).verdict?.kind === 'cut-over';
  const isMet = await waitUntil(isFavourable, limitMs, 1000);
  return isMet ? performance.now() - startedMs : Number.POSITIVE_INFINITY;
}

/** The value of a name in the candidate: one of its nodes holds it, the others refuse the command. */
export async function valueIn({ candidate }: ShadowHarness, name: string): Promise<Buffer | undefined> {
  const found = await Promise.all(candidate.nodes.map((node) => node.commandBuffer('GET', name).catch(() => null)));
  return found.find((value) => Buffer.isBuffer(value));
}

/** Undefined removes the name from the candidate. */
export async function replaceIn({ candidate }: ShadowHarness, name: string, value: Buffer | undefined): Promise<void> {
  const replace = (node: RedisNode): Promise<unknown> =>
    value === undefined ? node.command('DEL', name) : node.commandBuffer('SET', name, value, 'KEEPTTL');
  await Promise.all(candidate.nodes.map((node) => replace(node).catch(() => undefined)));
}
