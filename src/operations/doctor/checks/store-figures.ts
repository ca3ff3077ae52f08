import { MIB } from '../../../schema/units.ts';
import type { Window } from '../check.ts';
import { type ClientsFacts, known } from '../facts.ts';
import { hostPartOf, type NodeView, portPartOf, type ServerUse, whyMissing } from '../window.ts';

/** Readings of INFO and CONFIG that several checks of stores share, and the commands that they advise. */

/** Reason to skip. */
export const NO_INFO = 'INFO does not tell it';

/** Reason to skip a check that reads CONFIG. */
export function noConfig({ node }: Pick<NodeView, 'node'>): string {
  return whyMissing(node.config) || 'CONFIG does not tell it';
}

/** Seconds since the epoch by the clock of the server, which writes the times of SLOWLOG and LATENCY. */
export function serverSeconds({ level, node }: NodeView, { after }: Window): number {
  const micros = level('server_time_usec');
  return micros === undefined ? (after.wallMs + (known(node.clockOffsetMs) ?? 0)) / 1000 : micros / 1e6;
}

/** Growth of the counts behind `prefix` in INFO, by the rest of the field's name. A count that is not there is 0. */
function grownCounts({ node, before }: NodeView, prefix: string, member: RegExp): ReadonlyMap<string, number> {
  const then = known(before?.info);
  const count = (line: string | undefined): number => Number(member.exec(line ?? '')?.[1] ?? 0);
  return new Map(
    Object.entries(known(node.info) ?? {})
      .filter(([field]) => field.startsWith(prefix))
      .map(([field, line]) => [field.slice(prefix.length), Math.max(0, count(line) - count(then?.[field]))]),
  );
}

/** Calls of commands in the window, by `INFO commandstats`; undefined without two readings of one run. */
export function callsGrown(view: NodeView, counts: (command: string) => boolean): number | undefined {
  if (view.grown('total_commands_processed') === undefined) return undefined;
  const calls = [...grownCounts(view, 'cmdstat_', /\bcalls=(\d+)/)];
  if (calls.length === 0) return undefined;
  return calls.filter(([command]) => counts(command.toLowerCase())).reduce((sum, [, count]) => sum + count, 0);
}

/** Commands of the doctor itself, whose number differs from node to node. */
const OWN_COMMANDS: ReadonlySet<string> = new Set(
  [
    'ping info time role dbsize scan type pttl strlen hlen llen scard zcard',
    'config slowlog latency memory client cluster acl command hello auth replconf',
  ].flatMap((names) => names.split(' ')),
);

/** Calls of all clients but the doctor, whose commands would hide those of a quiet node. */
export function othersCalls(view: NodeView): number | undefined {
  return callsGrown(view, (command) => !OWN_COMMANDS.has(command.split('|')[0] ?? ''));
}

/** Bytes of replies in the window. INFO counts the stream to replicas, and their full copies, as output too. */
export function repliedBytes({ grown }: NodeView): number | undefined {
  const sent = grown('total_net_output_bytes');
  return sent === undefined ? undefined : Math.max(0, sent - (grown('total_net_repl_output_bytes') ?? 0));
}

export type ReplicaLine = ReturnType<typeof replicasOf>[number];

/**
 * The lines `slave0`, `slave1` … of a master. `state`: `online`, or a step of a full copy (`wait_bgsave`, `send_bulk`,
 * `bg_transfer`). `offset`: the last acknowledged byte of the replication stream, `lagSeconds` ago.
 */
export function replicasOf({ node }: NodeView) {
  return Object.entries(known(node.info) ?? {}).flatMap(([field, line]) => {
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

/** `redis-cli -h 10.0.0.1 -p 6379 CONFIG SET save ""` */
export function cli({ node }: Pick<NodeView, 'node'>, command: string): string {
  const { address } = node;
  if (address.startsWith('unix:')) return `redis-cli -s ${address.slice('unix:'.length)} ${command}`;
  return `redis-cli -h ${hostPartOf(address)} -p ${portPartOf(address)} ${command}`;
}

/** The policy under which a server at its limit loses nothing that lasts: pages have an expiry, control documents have none. */
export function policyFor(use: ServerUse): string {
  return { cache: 'allkeys-lru', mixed: 'volatile-lru', lasting: 'noeviction' }[use];
}

/** A limit of output buffers; 0 is no limit. */
export interface OutputLimit {
  readonly hardBytes: number;
  readonly softBytes: number;
  readonly softSeconds: number;
}

type OutputKind = ClientsFacts['largestOutput']['kind'];

/** `normal 0 0 0 slave 268435456 67108864 60 pubsub …`. Undefined: CONFIG GET did not tell it. */
export function outputLimitOf({ config }: Pick<NodeView, 'config'>, kind: OutputKind): OutputLimit | undefined {
  const words = config('client-output-buffer-limit')?.split(/\s+/) ?? [];
  const at = words.findIndex((word) => word === kind || (kind === 'replica' && word === 'slave'));
  if (at < 0) return undefined;
  const [hardBytes = 0, softBytes = 0, softSeconds = 0] = words.slice(at + 1, at + 4).map(Number);
  return { hardBytes, softBytes, softSeconds };
}

/** The command that sets this limit. */
export function setOutputLimit(view: NodeView, kind: OutputKind, limit: OutputLimit): string {
  const [hard, soft] = [limit.hardBytes, limit.softBytes].map((bytes) => (bytes === 0 ? '0' : sizeText(bytes)));
  return cli(view, `CONFIG SET client-output-buffer-limit "${kind} ${hard} ${soft} ${limit.softSeconds}"`);
}

/** The command that raises the limit of replicas to this one; none when the present limit is unknown or as large. */
export function largerReplicaLimit(view: NodeView, wanted: OutputLimit): readonly string[] {
  const present = outputLimitOf(view, 'replica');
  if (present === undefined) return [];
  const { hardBytes, softBytes, softSeconds } = present;
  const larger = (now: number, bytes: number): number => (now === 0 ? 0 : Math.max(now, bytes));
  const [hard, soft] = [larger(hardBytes, wanted.hardBytes), larger(softBytes, wanted.softBytes)];
  // The seconds belong to a soft limit.
  const seconds = softBytes === 0 ? softSeconds : Math.max(softSeconds, wanted.softSeconds);
  if (hard === hardBytes && soft === softBytes && seconds === softSeconds) return [];
  return [setOutputLimit(view, 'replica', { hardBytes: hard, softBytes: soft, softSeconds: seconds })];
}

/** The command that raises the replication backlog to this size; none when the present one is unknown or as large. */
export function largerBacklog(view: NodeView, bytes: number): readonly string[] {
  const [present, limit] = [view.level('repl_backlog_size'), view.level('maxmemory') ?? 0];
  if (present === undefined || present >= bytes) return [];
  // The backlog counts toward maxmemory: a large one would evict the keys.
  const most = limit > 0 ? Math.floor(limit * BACKLOG_SHARE) : bytes;
  if (most <= present) return ['A larger backlog needs a higher maxmemory first: it counts toward it.'];
  return [cli(view, `CONFIG SET repl-backlog-size ${sizeText(Math.min(bytes, most))}`)];
}

const BACKLOG_SHARE = 0.1;

/** `64mb`, as a configuration writes it: whole MiB, never less than the bytes. */
export function sizeText(bytes: number): string {
  return `${Math.ceil(bytes / MIB)}mb`;
}
