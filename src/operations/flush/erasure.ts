import { OperationError } from '../../control/operation-error.ts';
import { type Clock, inParallel, pause } from '../../runtime.ts';
import { type StoreContent, StoreUnreachable } from './content.ts';
import type { EraseRequest, Erasure, FlushEvent } from './flush.ts';
import { includesBucket, keyOfStoreName } from './preview.ts';

interface ErasureOptions {
  readonly content: StoreContent;
  readonly bucketOf: (key: string) => number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Keys removed per second, on each node. */
  readonly keysPerSecond: number;
  /** Delay before the first key is removed: by then every process knows that it is flushed. */
  readonly delayMs: number;
}

/** Maximum number of nodes whose entries are unlinked in parallel. */
const MAX_PARALLEL_NODES = 8;
/**
 * Maximum number of rounds. A node that took over during the erasure has the keys of its predecessor, so it is erased
 * in another round.
 */
const MAX_ROUNDS = 3;

interface NodeErasure {
  node: string;
  by: EraseRequest['by'];
  state: Erasure['nodes'][number]['state'];
  scanned: number;
  removed: number;
  detail?: string;
}

/** `finished` never rejects. */
function startErasure(request: EraseRequest, options: ErasureOptions, signal: AbortSignal) {
  const { content, bucketOf, clock, keysPerSecond, delayMs } = options;
  const { ranges, by } = request;
  const startedMs = clock.monotonicMs();
  const nodes: NodeErasure[] = [];
  let endedMs: number | undefined;

  /** Includes nodes that joined since the last call. */
  const waiting = (): readonly NodeErasure[] => {
    const known = new Set(nodes.map(({ node }) => node));
    for (const node of request.nodes ?? content.nodes()) {
      if (!known.has(node)) nodes.push({ node, by, state: 'waiting', scanned: 0, removed: 0 });
    }
    return nodes.filter(({ state }) => state === 'waiting');
  };

  const isErased = (storeName: string): boolean => includesBucket(ranges, bucketOf(keyOfStoreName(storeName)));
  const eraseNode = async (one: NodeErasure): Promise<void> => {
    if (signal.aborted) return;
    one.state = 'running';
    try {
      if (by === 'flushall') await flushNode(one, content);
      else await unlinkOnNode(one.node, one, { content, isErased, clock, keysPerSecond }, signal);
      one.state = signal.aborted && by === 'unlink' ? 'stopped' : 'done';
    } catch (error) {
      one.state = 'failed';
      one.detail = error instanceof StoreUnreachable ? error.message : String(error);
    }
  };

  const run = async (): Promise<Erasure> => {
    await pause(delayMs, signal);
    for (let round = 0, next = waiting(); next.length > 0 && round < MAX_ROUNDS && !signal.aborted; round += 1) {
      // `flushall` empties one node at a time.
      await inParallel(next, by === 'flushall' ? 1 : MAX_PARALLEL_NODES, eraseNode);
      next = waiting();
    }
    for (const one of nodes) if (one.state === 'waiting') one.state = 'stopped';
    endedMs = clock.monotonicMs();
    return status();
  };

  const status = (): Erasure => ({
    state: endedMs === undefined ? 'running' : endOf(nodes),
    nodes: nodes.map((one) => ({ ...one })),
    seconds: ((endedMs ?? clock.monotonicMs()) - startedMs) / 1000,
  });

  waiting();
  return { status, finished: run() };
}

function endOf(nodes: readonly NodeErasure[]): 'done' | 'failed' | 'stopped' {
  if (nodes.some(({ state }) => state === 'failed')) return 'failed';
  return nodes.some(({ state }) => state === 'stopped') ? 'stopped' : 'done';
}

async function flushNode(one: NodeErasure, content: StoreContent): Promise<void> {
  const keys = await content.count(one.node);
  await content.flushNode(one.node);
  one.scanned = keys;
  one.removed = keys;
}

const NOTHING_TO_ERASE: Erasure = { state: 'done', nodes: [], seconds: 0 };

/** The erasures of one domain in this process. One at a time: two would double the rate on each node. */
export function createErasures(
  options: Omit<ErasureOptions, 'content' | 'delayMs'> & {
    readonly domain: string;
    readonly content?: StoreContent;
    readonly observe: (event: FlushEvent) => void;
  },
) {
  const { domain, content, bucketOf, keysPerSecond, clock, observe } = options;
  const closing = new AbortController();
  let latest: (() => Erasure) | undefined;
  /** Set before the floor is raised, so that the second of two concurrent requests changes nothing. */
  let isBusy = false;

  const acquire = (): void => {
    if (isBusy) {
      throw new OperationError('erasure-running', `an erasure of ${domain} runs in this process: wait for its end`);
    }
    if (content?.nodes().length === 0) {
      throw new OperationError('no-store', `the store of ${domain} has not been reached yet: its nodes are not known`);
    }
    isBusy = true;
  };

  const start = async (request: EraseRequest, delayMs: number, signal: AbortSignal): Promise<Erasure> => {
    if (content === undefined) {
      latest = () => NOTHING_TO_ERASE;
      isBusy = false;
      return NOTHING_TO_ERASE;
    }
    const run = startErasure(request, { content, bucketOf, clock, keysPerSecond, delayMs }, signal);
    latest = run.status;
    const ended = await run.finished;
    isBusy = false;
    report(ended);
    return ended;
  };

  const report = ({ state, nodes, seconds }: Erasure): void => {
    if (state === 'running') return;
    const removed = nodes.reduce((sum, node) => sum + node.removed, 0);
    const detail = nodes.flatMap((node) => node.detail ?? []).join(' ') || undefined;
    const durationMs = seconds * 1000;
    observe({ kind: 'erasure', domain, state, removed, durationMs, detail });
  };

  return {
    latest: (): Erasure | undefined => latest?.(),
    /** Resolves at the end of the erasure. @throws OperationError erasure-running, no-store */
    now: async (request: EraseRequest, signal: AbortSignal): Promise<Erasure> => {
      acquire();
      return start(request, 0, AbortSignal.any([signal, closing.signal]));
    },
    /**
     * Calls `raise`, and begins the erasure in the background `delayMs` after it has resolved. No erasure when it rejects.
     * @throws OperationError erasure-running, no-store, before `raise` is called; and the errors of `raise`
     */
    after: async <Result>(request: EraseRequest, delayMs: number, raise: () => Promise<Result>): Promise<Result> => {
      acquire();
      try {
        const result = await raise();
        void start(request, delayMs, closing.signal);
        return result;
      } catch (error) {
        isBusy = false;
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}

interface EraseNodeOptions extends Pick<ErasureOptions, 'content' | 'clock' | 'keysPerSecond'> {
  readonly isErased: (storeName: string) => boolean;
}

/** Maximum number of keys per step, so that reads of searches are served between the steps. */
const STEP_KEYS = 500;
/** Maximum number of keys per UNLINK: SCAN may return more than its count. */
const MAX_UNLINK = 512;
/**
 * Scanning a key is charged as a tenth of removing it, so that erasing a small fraction of a large store does not take
 * hours.
 */
const SCANNED_PER_REMOVED = 10;
/** Number of failed steps at which a node is given up: the first four are retried after 0.5, 1, 2 and 4 s. */
const MAX_FAILURES = 5;
const FIRST_WAIT_MS = 500;

/**
 * SCAN and UNLINK in steps, paced from the start of each step, until the end or until the signal is aborted.
 * @throws StoreUnreachable when the node fails too often
 */
async function unlinkOnNode(
  node: string,
  progress: Pick<NodeErasure, 'scanned' | 'removed'>,
  { content, isErased, clock, keysPerSecond }: EraseNodeOptions,
  signal: AbortSignal,
): Promise<void> {
  const stepKeys = Math.max(1, Math.min(STEP_KEYS, Math.floor(keysPerSecond / 4)));
  const step = async (cursor: string): Promise<string> => {
    const beganMs = clock.monotonicMs();
    const { cursor: next, names } = await content.scan(node, cursor, stepKeys);
    progress.scanned += names.length;
    const erased = names.filter(isErased);
    for (let at = 0; at < erased.length && !signal.aborted; at += MAX_UNLINK) {
      progress.removed += await content.unlink(node, erased.slice(at, at + MAX_UNLINK));
    }
    const cost = Math.max(erased.length, stepKeys / SCANNED_PER_REMOVED);
    await pause((cost * 1000) / keysPerSecond - (clock.monotonicMs() - beganMs), signal);
    return next;
  };

  let failures = 0;
  for (let cursor = '0'; !signal.aborted; ) {
    try {
      cursor = await step(cursor);
      if (cursor === '0') return;
    } catch (error) {
      failures += 1;
      if (!(error instanceof StoreUnreachable) || failures === MAX_FAILURES) throw error;
      // The node may have been restarted, which makes the cursor invalid: the scan begins again.
      cursor = '0';
      await pause(FIRST_WAIT_MS * 2 ** (failures - 1), signal);
    }
  }
}
