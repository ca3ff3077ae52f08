import { setTimeout as sleep } from 'node:timers/promises';
import { outcomeOf } from '../http-driver/client.ts';
import { openLoop } from '../http-driver/loops.ts';
import { engineCalls, replicaAt } from './harness.ts';
import { idsIn } from './load.ts';
import { type ShadowRehearsal, valueIn } from './shadow-harness.ts';

type Parts = Pick<ShadowRehearsal, 'harness' | 'probe' | 'load' | 'shownIds'>;

/** Its own number of results makes the pages of these searches keys that the load never asks for. */
const LIMIT = 8;
/** The replica at which the pages are removed. */
const AT = 1;

const KINDS = ['purge', 'suppress', 'erase'] as const;
type Kind = (typeof KINDS)[number];

interface Planted {
  readonly text: string;
  readonly storeName: string;
  readonly bucket: number;
  /** A result of this page and of no other one, where there is one. */
  readonly id: string | undefined;
}

interface Removed extends Planted {
  readonly kind: Kind;
  /** When the removal was in force. */
  readonly atMs: number;
}

const COPIED_MS = 50;
/** Age is told in whole seconds, and a page may be on its way. */
const AGE_SLACK_MS = 2000;

/** Pages that are purged, suppressed or erased in the course of a cut-over, to find out whether an old one comes back. */
export function createMarkers({ harness, probe, shownIds }: Parts) {
  const planted: Planted[] = [];
  const removed: Removed[] = [];
  const used = new Set<string>();
  const replicas = [...harness.replicas.keys()];
  const { operator } = replicaAt(harness, AT);
  let probes = 0;

  const plantOne = async (text: string): Promise<Planted> => {
    let ids: readonly string[] = [];
    for (const replica of replicas) {
      const reply = await probe.ask(replica, text, LIMIT);
      if (reply.kind === 'answer') ids = idsIn(reply.body);
      // The candidate has its copy before the next read: a read that overtook it would count as a miss of the candidate.
      await sleep(COPIED_MS);
    }
    const fresh = ids.filter((id) => !used.has(id));
    for (const id of ids) used.add(id);
    const { storeName, bucket } = await operator.explain(text, LIMIT);
    return { text, storeName, bucket, id: fresh.find((id) => !shownIds.has(id)) };
  };

  const remove = async (page: Planted, kind: Kind): Promise<string | undefined> => {
    let fault: string | undefined;
    if (kind === 'purge') await operator.purge(page.text);
    if (kind === 'suppress' && page.id !== undefined) await operator.suppress(page.id);
    if (kind === 'erase') {
      const nodes = await operator.erase(page.bucket);
      const copies = nodes.reduce((sum, node) => sum + node.removed, 0);
      const isLeft = (await valueIn(harness, page.storeName)) !== undefined;
      if (isLeft || copies < 2)
        fault = `${page.text}: ${copies} copies removed, ${isLeft ? 'one is left' : 'none is left'}`;
    }
    removed.push({ ...page, kind, atMs: performance.now() });
    return fault;
  };

  const comesBack = async ({ text, kind, id, atMs }: Removed, replica: number): Promise<string | undefined> => {
    probes += 1;
    const reply = await probe.ask(replica, text, LIMIT);
    const where = `${kind} of ${text}, replica ${replica}`;
    if (reply.kind !== 'answer' || reply.status !== 200) return `${where}: no page`;
    const ageMs = Number(reply.headers['age']) * 1000;
    if (ageMs > performance.now() - atMs + AGE_SLACK_MS)
      return `${where}: a page of ${ageMs / 1000} s (${outcomeOf(reply)})`;
    if (kind === 'suppress' && id !== undefined && idsIn(reply.body).includes(id)) return `${where}: ${id} is shown`;
    return undefined;
  };

  return {
    /** Caches pages at every replica, in every store that is written. */
    plant: async (count: number): Promise<void> => {
      for (const text of harness.newTexts(count)) planted.push(await plantOne(text));
      if (planted.filter(({ id }) => id !== undefined).length < count / KINDS.length) {
        throw new Error('too few pages with a result of their own');
      }
    },
    /** Removes pages in each way. @returns copies that an erasure has left behind */
    removeSome: async (perKind: number): Promise<readonly string[]> => {
      const faults: (string | undefined)[] = [];
      for (const kind of KINDS) {
        for (let page = 0; page < perKind; page += 1) {
          const at = planted.findIndex(({ id }) => kind !== 'suppress' || id !== undefined);
          const [next] = planted.splice(at, 1);
          if (at < 0 || next === undefined) throw new Error(`no planted page is left to ${kind}`);
          faults.push(await remove(next, kind));
        }
      }
      return faults.filter((fault) => fault !== undefined);
    },
    /** Asks for every removed page at these replicas (all by default). @returns those that are older than their removal */
    returned: async (at: readonly number[] = replicas): Promise<readonly string[]> => {
      const found: (string | undefined)[] = [];
      for (const page of removed) for (const replica of at) found.push(await comesBack(page, replica));
      return found.filter((page) => page !== undefined);
    },
    probes: (): number => probes,
  };
}

const MAX_NEW_TEXTS = 150;

/**
 * Asks for new texts until the work is done, each at all replicas at once: a lease that two stores hold shows as a second
 * call of the engine.
 */
export async function whileAskingNewTexts<T>(
  { harness, probe, load }: Parts,
  perSecond: number,
  work: () => Promise<T>,
) {
  const startedMs = performance.now();
  const before = await engineCalls(harness);
  let texts = 0;
  let errors = 0;
  const computedTwiceAtMs: number[] = [];
  const loop = openLoop({
    ratePerSecond: perSecond,
    maxRequests: MAX_NEW_TEXTS,
    send: async () => {
      const [text = ''] = harness.newTexts(1);
      texts += 1;
      const atMs = performance.now() - startedMs;
      const replies = await Promise.all([...harness.replicas.keys()].map((replica) => probe.ask(replica, text)));
      errors += replies.filter((reply) => reply.kind !== 'answer' || reply.status !== 200).length;
      if (replies.filter((reply) => outcomeOf(reply) === 'engine').length > 1) computedTwiceAtMs.push(atMs);
    },
  });
  let result: T;
  try {
    result = await work();
  } finally {
    loop.stop();
    await loop.ended;
  }
  const calls = (await engineCalls(harness)) - before;
  const ofLoad = load.answers.filter((answer) => answer.atMs >= startedMs && answer.result === 'engine').length;
  return {
    texts,
    /** Those that the searches of the load did not cause. */
    engineCalls: calls - ofLoad,
    /** Texts that two replicas had computed, by the milliseconds from the start. */
    computedTwiceAtMs,
    errors,
    result,
  };
}
