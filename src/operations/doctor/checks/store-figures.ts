import type { Evidence, Observation } from '../check.ts';
import { known, type StoreFacts } from '../facts.ts';
import { fine, type NodeView } from '../window.ts';

/** Readings of INFO that several checks of stores share. */

/** Reasons to skip. */
export const NO_INFO = 'INFO does not tell it';
export const NO_PAIR = 'no two readings of one run';

/** Calls of commands in the window, by `INFO commandstats`; undefined without two readings of one run. */
export function callsGrown(view: NodeView, counts: (command: string) => boolean): number | undefined {
  const { node, before, grown } = view;
  const [now, then] = [known(node.info), before === undefined ? undefined : known(before.info)];
  if (now === undefined || then === undefined || grown('total_commands_processed') === undefined) return undefined;
  const names = Object.keys(now).filter((field) => field.startsWith(PREFIX));
  if (names.length === 0) return undefined;
  return names
    .filter((field) => counts(field.slice(PREFIX.length).toLowerCase()))
    .reduce((sum, field) => sum + Math.max(0, callsIn(now[field]) - callsIn(then[field])), 0);
}

const PREFIX = 'cmdstat_';

function callsIn(line: string | undefined): number {
  return Number(/\bcalls=(\d+)/.exec(line ?? '')?.[1] ?? 0);
}

/** Commands of the doctor itself, whose number differs from node to node. */
const OWN_COMMANDS: ReadonlySet<string> = new Set([
  ...['ping', 'info', 'time', 'role', 'dbsize', 'scan', 'type', 'pttl', 'strlen', 'hlen', 'llen', 'scard', 'zcard'],
  ...['config', 'slowlog', 'latency', 'memory', 'client', 'cluster', 'acl', 'command', 'hello', 'auth', 'replconf'],
]);

/** Calls of all clients but the doctor, whose commands would hide those of a quiet node. */
export function othersCalls(view: NodeView): number | undefined {
  return callsGrown(view, (command) => !OWN_COMMANDS.has(command.split('|')[0] ?? ''));
}

/** Keys of all databases, and those of them with an expiry. */
export function keyspaceOf({ node }: NodeView): { readonly keys: number; readonly expires: number } {
  const lines = Object.entries(known(node.info) ?? {}).filter(([field]) => /^db\d+$/.test(field));
  const total = (member: RegExp): number =>
    lines.reduce((sum, [, line]) => sum + Number(member.exec(line)?.[1] ?? 0), 0);
  return { keys: total(/\bkeys=(\d+)/), expires: total(/\bexpires=(\d+)/) };
}

export interface ReplicaLine {
  readonly address: string;
  /** `online`, or a step of a full copy: `wait_bgsave`, `send_bulk`, `bg_transfer`. */
  readonly state: string;
  /** Last acknowledged byte of the replication stream. */
  readonly offset: number;
  /** Time since that acknowledgement. */
  readonly lagSeconds: number;
}

/** The lines `slave0`, `slave1` … of a master. */
export function replicasOf({ node }: NodeView): readonly ReplicaLine[] {
  return Object.entries(known(node.info) ?? {}).flatMap(([field, line]): ReplicaLine[] => {
    if (!/^slave\d+$/.test(field)) return [];
    const members: Readonly<Record<string, string>> = Object.fromEntries(
      line.split(',').map((member) => {
        const at = member.indexOf('=');
        return [member.slice(0, at), member.slice(at + 1)];
      }),
    );
    const { ip = '', port = '', state = '', offset = '0', lag = '0' } = members;
    return [{ address: `${ip}:${port}`, state, offset: Number(offset), lagSeconds: Number(lag) }];
  });
}

/** The address without its port: nodes with the same one run on the same machine. */
export function hostPartOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
}

/** Nodes of different stores may be one server: each server once, its first node. */
export function serversAmong(nodes: readonly NodeView[]): readonly NodeView[] {
  return [...new Map(nodes.toReversed().map((view) => [serverIdOf(view), view])).values()].toReversed();
}

export function serverIdOf({ text, node }: NodeView): string {
  return text('run_id') ?? node.address;
}

/**
 * The store's settings name it as the control store too: its documents have no expiry and cannot be computed again.
 * @param store named as `StoreFacts` describes: `store of goods, control store`
 */
export function keepsControl({ name }: Pick<StoreFacts, 'name'>): boolean {
  return name.split(', ').includes('control store');
}

/** `redis-cli -h 10.0.0.1 -p 6379 CONFIG SET save ""` */
export function cli({ node }: Pick<NodeView, 'node'>, command: string): string {
  const { address } = node;
  return `redis-cli -h ${hostPartOf(address)} -p ${address.slice(address.lastIndexOf(':') + 1)} ${command}`;
}

/** An observation of a setting: it is wrong, or it is not. */
export function wrongIf(isWrong: boolean, subject: string, evidence: () => Omit<Evidence, 'subject'>): Observation {
  return isWrong ? { subject, state: 'raise', ...evidence() } : fine(subject);
}
