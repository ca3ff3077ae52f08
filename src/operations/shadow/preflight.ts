import { ENTRY_VERSION } from '../../cache/codec.ts';
import type { StoreRef } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import { bytesText, percentText } from '../../report/format.ts';
import { type Clock, waitFor } from '../../runtime.ts';
import { type StoreContent, StoreUnreachable } from '../flush/content.ts';
import { isConnected, type OpenStore } from './placed-store.ts';
import { infoFields, parseInfo } from './server-figures.ts';

/** Time for the connections of a candidate that was not open before. */
const CONNECT_MS = 5000;
/** Names per node that are looked through for entries of other versions. */
const SAMPLED_NAMES = 1000;
/** Room for growth while the shadow runs, and for another fragmentation than the primary's. */
const MEMORY_MARGIN = 1.25;

type NodeFacts = Awaited<ReturnType<typeof factsOf>>[number];

/**
 * Checks a candidate before anything is copied: it only reads. @throws OperationError candidate-unfit, which names the fault
 */
export async function checkCandidate(options: {
  readonly domain: string;
  readonly ref: StoreRef;
  readonly candidate: Pick<OpenStore, 'nodes' | 'content'>;
  readonly primary: Pick<OpenStore, 'content'>;
  readonly fraction: number;
  readonly lastFailure: () => string | undefined;
  readonly clock: Clock;
  readonly connectMs?: number;
}): Promise<void> {
  const { domain, ref, candidate, primary, fraction, lastFailure, clock, connectMs = CONNECT_MS } = options;
  const unfit = (words: string): OperationError =>
    new OperationError(
      'candidate-unfit',
      `candidate ${ref.name} of ${domain}: ${words}; nothing was copied`,
      'candidate',
    );
  await waitFor(() => isConnected(candidate), connectMs, clock);
  if (!isConnected(candidate)) {
    throw unfit(`it cannot be connected within ${connectMs / 1000} s (${lastFailure() ?? 'no answer'})`);
  }
  const [own, theirs] = await Promise.all([factsOf(primary.content), factsOf(candidate.content)]).catch((error) => {
    throw error instanceof StoreUnreachable ? unfit(error.message) : error;
  });
  const ids = new Map(own.map(({ runId, node }) => [runId, node]));
  const shared = theirs.find(({ runId }) => runId !== undefined && ids.has(runId));
  if (shared !== undefined) {
    throw unfit(`${shared.node} is the same server as ${ids.get(shared.runId)} of the primary`);
  }
  const replica = theirs.find(({ role }) => role === 'slave' || role === 'replica');
  if (replica !== undefined) {
    throw unfit(`${replica.node} is a replica of another server, and takes no writes`);
  }
  const foreign = await foreignName(candidate.content, domain).catch((error) => {
    throw error instanceof StoreUnreachable ? unfit(error.message) : error;
  });
  if (foreign !== undefined) {
    throw unfit(`it holds entries of another version of serpcache, such as ${foreign}`);
  }
  const needed = sum(own, 'used_memory_dataset') * fraction * MEMORY_MARGIN;
  // The pages of an earlier shadow are there already.
  const kept = Math.min(sum(theirs, 'used_memory_dataset'), needed);
  const free = theirs.reduce((total, facts) => total + freeBytes(facts), kept);
  if (needed > free) {
    throw unfit(
      `it lacks memory: ${percentText(fraction)} of the primary's entries need about ${bytesText(needed)}, and it has ${bytesText(free)} free`,
    );
  }
}

async function factsOf(content: StoreContent) {
  return Promise.all(
    content.nodes().map(async (node) => {
      const info = await content.info(node);
      const { run_id: runId, role } = infoFields(info);
      return { node, runId, role, field: parseInfo(info) };
    }),
  );
}

function sum(facts: readonly NodeFacts[], name: string): number {
  return facts.reduce((total, { field }) => total + field(name), 0);
}

/** Without `maxmemory` the memory of the machine is the limit. A server that tells neither is not judged. */
function freeBytes({ field }: NodeFacts): number {
  const limit = field('maxmemory') || field('total_system_memory');
  return limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, limit - field('used_memory'));
}

/** A name of this domain whose prefix is that of another entry version. */
async function foreignName(content: StoreContent, domain: string): Promise<string | undefined> {
  const found = await Promise.all(
    content.nodes().map((node) => content.sample(node, `sc[0-9]*:${domain}:*`, SAMPLED_NAMES)),
  );
  return found.flat().find((name) => /^sc\d+:/.test(name) && !name.startsWith(`sc${ENTRY_VERSION}:`));
}
