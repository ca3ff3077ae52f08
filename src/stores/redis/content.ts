import { setTimeout as sleep } from 'node:timers/promises';
import { ENTRY_VERSION } from '../../cache/codec.ts';
import { type StoreContent, StoreUnreachable } from '../../operations/flush/content.ts';
import { type CommandFault, type StoreCommand, sendCommand } from './commands.ts';
import type { RedisNode } from './node.ts';
import type { Topology } from './send.ts';

interface RedisContentOptions extends Pick<Topology, 'owners' | 'ownerOf'> {
  readonly domain: string;
  readonly batchSize: number;
  /** Deadline of a call, 2 s unless given: operators wait for it, so that it is longer than any ordinary stall of a node. */
  readonly deadlineMs?: number;
}

/** A step of SCAN blocks the node for about a microsecond per key: this count takes 5 ms. */
const MAX_SCAN_COUNT = 5000;
const MAX_INFO_BYTES = 64 * 1024;
/** The pause before a call checks for room again, after other commands have taken all of it. */
const NO_ROOM_WAIT_MS = 10;

/** The entries that the nodes hold: SCAN, STRLEN, UNLINK, DBSIZE, FLUSHDB, INFO, PTTL on the nodes themselves. */
export function createRedisContent(options: RedisContentOptions): StoreContent {
  const { domain, owners, ownerOf, batchSize, deadlineMs = 2000 } = options;
  const prefix = `sc${ENTRY_VERSION}:${domain}:{`;
  const pattern = `${prefix}${'?'.repeat(22)}}`;
  /** Stricter than the pattern, in which `?` is any byte. */
  const isEntry = (name: string): boolean => name.startsWith(prefix) && /^[\w-]{22}\}$/.test(name.slice(prefix.length));

  const nodeAt = (address: string): RedisNode => {
    const node = owners().find((each) => each.address === address);
    if (node === undefined) throw new StoreUnreachable(`${address} is no node of this store now that owns keys.`);
    return node;
  };
  const ask = async (
    node: RedisNode,
    parts: StoreCommand['parts'],
    shape: StoreCommand['shape'],
    withinMs = deadlineMs,
  ): Promise<unknown> => {
    const reply = await sendCommand(node, { operation: 'content', parts, shape, deadlineMs: withinMs });
    if (reply.kind === 'reply') return reply.reply;
    // A key of another type is not one of our values.
    if (reply.detail?.startsWith('WRONGTYPE')) return 0;
    throw unreachable(node.address, String(parts[0]), { ...reply, deadlineMs });
  };
  const scanStep = async (address: string, cursor: string, match: string, count: number) => {
    const reply = await ask(nodeAt(address), ['SCAN', cursor, 'MATCH', match, 'COUNT', scanCountOf(count)], 'array');
    const [next, found] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
    if (!Buffer.isBuffer(next) || !Array.isArray(found)) {
      throw new StoreUnreachable(`${address} answered SCAN with something else.`);
    }
    return { cursor: next.toString(), names: (found as readonly unknown[]).map(String) };
  };
  /**
   * One command for each name, in steps that leave in one write each: single reads are sent between them. A name that is no
   * entry of this domain is not sent: its reply is 0, as if nothing were there.
   */
  const each = async (
    address: string,
    command: 'STRLEN' | 'UNLINK',
    names: readonly string[],
  ): Promise<readonly number[]> => {
    const node = nodeAt(address);
    const untilMs = node.clock.monotonicMs() + deadlineMs;
    const replies: number[] = [];
    while (replies.length < names.length) {
      const room = Math.min(batchSize, node.pipelineRoom());
      const leftMs = untilMs - node.clock.monotonicMs();
      if (leftMs <= 0) {
        throw unreachable(address, command, { fault: room === 0 ? 'store-saturated' : 'store-slow', deadlineMs });
      }
      if (room === 0) await sleep(Math.min(NO_ROOM_WAIT_MS, leftMs));
      const sent = names
        .slice(replies.length, replies.length + room)
        .map(async (name) => (isEntry(name) ? Number(await ask(node, [command, name], 'integer', leftMs)) : 0));
      replies.push(...(await Promise.all(sent)));
    }
    return replies;
  };

  return {
    nodes: () => owners().map(({ address }) => address),
    async scan(address, cursor, count) {
      const step = await scanStep(address, cursor, pattern, count);
      return { cursor: step.cursor, names: step.names.filter(isEntry) };
    },
    sizes: (address, names) => each(address, 'STRLEN', names),
    async unlink(address, names) {
      const removed = await each(address, 'UNLINK', names);
      return removed.reduce((sum, one) => sum + one, 0);
    },
    count: async (address) => Number(await ask(nodeAt(address), ['DBSIZE'], 'integer')),
    // Empties only the database of this store: a cluster has no other one, and on other servers the other databases
    // stay.
    async flushNode(address) {
      await ask(nodeAt(address), ['FLUSHDB', 'ASYNC'], 'string');
    },
    async info(address) {
      const reply = await ask(nodeAt(address), ['INFO'], 'string');
      return Buffer.isBuffer(reply) ? reply.toString('utf8', 0, MAX_INFO_BYTES) : '';
    },
    async lifeMs(name) {
      if (!isEntry(name)) return undefined;
      const node = ownerOf(name);
      if (node === undefined) throw new StoreUnreachable(`No node of this store is known that owns ${name}.`);
      const left = Number(await ask(node, ['PTTL', name], 'integer'));
      if (left < -1) return undefined;
      return left === -1 ? Number.POSITIVE_INFINITY : left;
    },
    async sample(address, match, count) {
      // A step may find more keys than it was asked for.
      return (await scanStep(address, '0', match, count)).names.slice(0, scanCountOf(count));
    },
  };
}

function scanCountOf(count: number): number {
  return Math.min(MAX_SCAN_COUNT, Math.max(1, Math.floor(count)));
}

function unreachable(
  address: string,
  command: string,
  { fault, detail, deadlineMs }: Pick<CommandFault, 'fault' | 'detail'> & { readonly deadlineMs: number },
): StoreUnreachable {
  const words = detail === undefined ? '' : `: ${detail}`;
  const known: Partial<Record<typeof fault, string>> = {
    refused: `refused ${command}${words}`,
    'store-slow': `did not answer ${command} within ${deadlineMs} ms`,
    'store-saturated': `has too much to do for ${command}: too many commands await its answer`,
    'node-open': `was given up a moment ago, because it did not answer; ${command} was not sent`,
  };
  return new StoreUnreachable(`${address} ${known[fault] ?? `cannot be reached for ${command}${words}`}.`);
}
