import type { ControlRead, ControlStore } from '../../control/control-store.ts';
import type { Command, CommandReply } from './command.ts';
import { READ, REPORT, REPORTS, SWAP } from './control-script.ts';

export interface RedisControlOptions {
  /** To the owner of `name`; a fault when there is none. */
  readonly send: (name: string, command: Command) => Promise<CommandReply>;
}

/** Of as many processes per domain; beyond it the oldest report goes. */
const MAX_REPORTS = 256;
/** A larger report is neither taken nor read: all of them together stay below what one reply may be. */
const MAX_REPORT_BYTES = 64 * 1024;

/** Control documents and reports, by scripts on the node that owns the domain's slot. Any Redis-protocol server ≥ 5. */
export function createRedisControl({ send }: RedisControlOptions): ControlStore {
  const run = (
    script: string,
    keys: readonly string[],
    args: Command['parts'],
    more: Pick<Command, 'shape' | 'deadlineMs' | 'bytes'>,
  ): Promise<CommandReply> =>
    send(keys[0] ?? '', { operation: 'control', parts: ['EVAL', script, keys.length, ...keys, ...args], ...more });

  return {
    async read(domain, known, deadlineMs) {
      const reply = await run(READ, [namesOf(domain).document], [Buffer.from(known ?? '', 'latin1')], {
        shape: 'array',
        deadlineMs,
      });
      return reply.kind === 'fault' ? faultOf(reply) : decode(reply.reply);
    },
    async swap(domain, expected, { tag, value }, deadlineMs) {
      const args = [expected === undefined ? 'absent' : Buffer.from(`t${expected}`, 'latin1'), tag, value];
      const more = { shape: 'integer', deadlineMs, bytes: value.byteLength } as const;
      const reply = await run(SWAP, [namesOf(domain).document], args, more);
      if (reply.kind === 'fault') return faultOf(reply);
      return { kind: reply.reply === 1 ? 'swapped' : 'conflict' };
    },
    async renew(domain, deadlineMs) {
      const { document } = namesOf(domain);
      const parts = ['HINCRBY', document, 'renewals', 1];
      const reply = await send(document, { operation: 'control', shape: 'integer', parts, deadlineMs });
      return reply.kind === 'fault' ? faultOf(reply) : { kind: 'renewed', renewals: Number(reply.reply) };
    },
    async report(domain, id, value, ttlMs, deadlineMs) {
      if (value.byteLength > MAX_REPORT_BYTES) return false;
      const { reports, order } = namesOf(domain);
      const args = [id, value, Math.max(1, Math.ceil(ttlMs)), MAX_REPORTS];
      const more = { shape: 'integer', deadlineMs, bytes: value.byteLength } as const;
      return (await run(REPORT, [reports, order], args, more)).kind === 'reply';
    },
    async reports(domain, deadlineMs) {
      const { reports } = namesOf(domain);
      const reply = await run(REPORTS, [reports], [MAX_REPORTS, MAX_REPORT_BYTES], { shape: 'array', deadlineMs });
      if (reply.kind === 'fault') return faultOf(reply);
      const flat = buffersOf(reply.reply) ?? [];
      const found = flat.flatMap((id, at) => {
        const value = at % 2 === 0 ? flat[at + 1] : undefined;
        // Perhaps a view of a larger read buffer.
        return value === undefined ? [] : [{ id: id.toString(), value: Buffer.from(value) }];
      });
      return { kind: 'reports', reports: found };
    },
  };
}

/** One slot for all of a domain. The colon in the tag is in no key of an entry, so no SCAN for entries finds these. */
function namesOf(domain: string): { readonly document: string; readonly reports: string; readonly order: string } {
  const document = `sc1:${domain}:{control:${domain}}`;
  return { document, reports: `${document}:reports`, order: `${document}:reports:order` };
}

const UNREADABLE = { kind: 'fault', fault: 'refused' } as const;

const faultOf = ({ fault }: Extract<CommandReply, { readonly kind: 'fault' }>) => ({ kind: 'fault', fault }) as const;

const buffersOf = (reply: unknown): readonly Buffer[] | undefined =>
  Array.isArray(reply) && reply.every((each) => Buffer.isBuffer(each)) ? reply : undefined;

function decode(reply: unknown): ControlRead {
  const found = buffersOf(reply);
  if (found?.length === 0) return { kind: 'absent' };
  const [count, tag, value] = found ?? [];
  const renewals = Number(count?.toString());
  // Never absent: that would be an invitation to begin anew.
  if (!Number.isFinite(renewals) || (tag === undefined) !== (value === undefined)) return UNREADABLE;
  if (tag === undefined || value === undefined) return { kind: 'unchanged', renewals };
  // One character a byte: whatever tag somebody has put there can be named in a swap.
  return { kind: 'value', tag: tag.toString('latin1'), value: Buffer.from(value), renewals };
}
