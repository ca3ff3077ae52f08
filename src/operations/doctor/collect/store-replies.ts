import { formatHostPort } from '../../../schema/units.ts';
import type { ProbeReply } from '../doctor.ts';
import type { ClientsFacts, LatencyEvent, SlowEntry } from '../facts.ts';

/** Replies of servers as facts. All parsers accept what older servers and relatives of Redis leave out. */

/** Names and values that others choose are cut: a report is read by people. */
const MAX_NAME = 64;
const MAX_VALUE = 512;

/** A name that a client chose, in one short line. */
export function shortName(name: string): string {
  const line = name.slice(0, 2 * MAX_NAME).replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '·');
  return name.length <= MAX_NAME ? line : `${line.slice(0, MAX_NAME - 1)}…`;
}

/** Fields of INFO that name files of the server's machine. */
const PATHS = /^(?:executable|config_file|aof_base_file|rdb_.*_file)$/;

/** `INFO errorstats` has a line for the first word of each error, which a script chooses freely. */
const ERRORS: ReadonlySet<string> = new Set([
  ...['ERR', 'ASK', 'BUSY', 'BUSYGROUP', 'BUSYKEY', 'CLUSTERDOWN', 'CROSSSLOT', 'DENIED', 'EXECABORT', 'LOADING'],
  ...['MASTERDOWN', 'MISCONF', 'MOVED', 'NOAUTH', 'NOPERM', 'NOREPLICAS', 'NOSCRIPT', 'OOM', 'READONLY', 'TRYAGAIN'],
  ...['UNBLOCKED', 'UNKILLABLE', 'WRONGPASS', 'WRONGTYPE'],
]);

/** The lines `name:value` of INFO, without paths and without words of scripts. */
export function fieldsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon);
      const isOthers = name.startsWith('errorstat_') && !ERRORS.has(name.slice('errorstat_'.length));
      if (colon <= 0 || line.startsWith('#') || PATHS.test(name) || isOthers) return [];
      return [[name, line.slice(colon + 1, colon + 1 + MAX_VALUE)]];
    }),
  );
}

export interface Server {
  readonly product: 'Redis' | 'Valkey' | 'KeyDB' | 'Dragonfly' | 'unknown';
  readonly version: string;
  /** The project's tests run this product in this major version. */
  readonly run: boolean;
}

/** The product behind INFO. Valkey and others keep a `redis_version` for old clients. */
export function serverOf(info: Readonly<Record<string, string>>): Server {
  const { redis_version: redis, valkey_version: valkey, dragonfly_version: dragonfly } = info;
  if (valkey !== undefined) return { product: 'Valkey', version: valkey, run: valkey.startsWith('8.') };
  if (dragonfly !== undefined) return { product: 'Dragonfly', version: dragonfly, run: false };
  if (info['mvcc_depth'] !== undefined || /keydb/i.test(info['server_name'] ?? '')) {
    return { product: 'KeyDB', version: redis ?? '', run: false };
  }
  return redis === undefined
    ? { product: 'unknown', version: '', run: false }
    : { product: 'Redis', version: redis, run: redis.startsWith('7.') };
}

export function majorOf(info: Readonly<Record<string, string>>): number {
  return Number.parseInt(info['redis_version'] ?? '0', 10);
}

/** Pairs of a flat reply, as CONFIG GET gives them. */
export function pairsOf(reply: unknown): Readonly<Record<string, string>> {
  const list = Array.isArray(reply) ? reply.map(String) : [];
  return Object.fromEntries(
    list.flatMap((name, at) => (at % 2 === 0 && list[at + 1] !== undefined ? [[name, list[at + 1] ?? '']] : [])),
  );
}

/** SLOWLOG GET. Only the first word of each command is kept: the others may be anything that a client sent. */
export function slowEntriesOf(reply: unknown): readonly SlowEntry[] {
  return (Array.isArray(reply) ? reply : []).flatMap((entry: unknown): SlowEntry[] => {
    if (!Array.isArray(entry)) return [];
    const [id, atSeconds, micros, words, address, name] = entry as readonly unknown[];
    const [command = '', sub] = Array.isArray(words) ? words.map(String) : [];
    if (typeof id !== 'number' || typeof atSeconds !== 'number' || typeof micros !== 'number') return [];
    const client = [name, address].find((text) => typeof text === 'string' && text !== '');
    return [
      { id, atSeconds, micros, command: commandOf(command, sub), client: typeof client === 'string' ? client : '' },
    ];
  });
}

/** Commands whose second word is part of their name. */
const WITH_SUBCOMMAND = new Set([
  'CONFIG',
  'CLIENT',
  'CLUSTER',
  'MEMORY',
  'SLOWLOG',
  'LATENCY',
  'ACL',
  'SCRIPT',
  'XINFO',
]);

function commandOf(word: string, sub: string | undefined): string {
  const command = /^[A-Za-z][\w.-]{0,31}$/.test(word) ? word.toUpperCase() : 'other';
  const isSub = WITH_SUBCOMMAND.has(command) && sub !== undefined && /^[A-Za-z-]{1,24}$/.test(sub);
  return isSub ? `${command} ${sub.toUpperCase()}` : command;
}

/** LATENCY LATEST. */
export function latencyEventsOf(reply: unknown): readonly LatencyEvent[] {
  return (Array.isArray(reply) ? reply : []).flatMap((line: unknown): LatencyEvent[] => {
    if (!Array.isArray(line)) return [];
    const [event, atSeconds, latestMs, maxMs] = line as readonly unknown[];
    if (typeof event !== 'string' || typeof atSeconds !== 'number') return [];
    const known = /^[\w-]{1,64}$/.test(event) ? event : 'other';
    return [{ event: known, atSeconds, latestMs: Number(latestMs), maxMs: Number(maxMs) }];
  });
}

/** MEMORY STATS: a flat list of names and numbers, with further lists for each database. */
export function memoryStatsOf(reply: unknown): Readonly<Record<string, number>> {
  const flat: Record<string, number> = {};
  let left = MAX_STATS;
  const read = (list: readonly unknown[], prefix: string, depth: number): void => {
    for (let at = 0; at + 1 < list.length && left > 0; at += 2) {
      left -= 1;
      const [name, value] = [`${prefix}${list[at]}`, list[at + 1]];
      if (Array.isArray(value) && depth < MAX_STATS_DEPTH) read(value, `${name}.`, depth + 1);
      else if (!Array.isArray(value) && Number.isFinite(Number(value))) flat[name] = Number(value);
    }
  };
  if (Array.isArray(reply)) read(reply, '', 0);
  return flat;
}

/** A server has about 40, and two for each database. */
const MAX_STATS = 1000;
const MAX_STATS_DEPTH = 2;

const YOUNG_SECONDS = 10;
const MAX_TOP = 10;
const OWN = 'serpcache-doctor';

/** CLIENT LIST. Connections of doctors are left out. */
export function clientsOf(text: string): ClientsFacts {
  const clients = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = new Map(
        line.split(' ').map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
      );
      return (name: string): string => fields.get(name) ?? '';
    })
    .filter((field) => !field('name').startsWith(OWN));
  const numbers = (name: string): readonly number[] => clients.map((field) => Number(field(name)) || 0);
  const idle = numbers('idle').toSorted((a, b) => a - b);
  const isYoung = (field: (name: string) => string): boolean => Number(field('age')) < YOUNG_SECONDS;
  const groups = [...Map.groupBy(clients, (field) => `${hostPart(field('addr'))} ${field('name')}`).values()];
  const largest = clients.toSorted((a, b) => Number(b('omem')) - Number(a('omem')))[0];
  return {
    count: clients.length,
    young: clients.filter(isYoung).length,
    idleSecondsMedian: idle[Math.floor(idle.length / 2)] ?? 0,
    blocked: clients.filter((field) => field('flags').includes('b')).length,
    largestOutput: {
      bytes: largest === undefined ? 0 : Number(largest('omem')) || 0,
      client: largest === undefined ? '' : shortName(largest('name') || largest('addr')),
      kind: kindOf(largest?.('flags') ?? ''),
    },
    top: groups
      .map((group) => {
        const [first] = group;
        return {
          address: hostPart(first?.('addr') ?? ''),
          name: shortName(first?.('name') ?? ''),
          count: group.length,
          young: group.filter(isYoung).length,
        };
      })
      .toSorted((a, b) => b.count - a.count)
      .slice(0, MAX_TOP),
    databases: [...new Set(numbers('db'))].toSorted((a, b) => a - b),
  };
}

function kindOf(flags: string): ClientsFacts['largestOutput']['kind'] {
  if (/[SO]/.test(flags)) return 'replica';
  return flags.includes('P') ? 'pubsub' : 'normal';
}

function hostPart(address: string): string {
  return address.slice(0, Math.max(0, address.lastIndexOf(':')));
}

/**
 * Slots of each node, by its address and by its announced name, from CLUSTER NODES. Slots that migrate are counted at the
 * node that has them. @param asked the address of the node that answered
 */
export function slotsOf(text: string, asked: string): ReadonlyMap<string, number> {
  const slots = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, endpoint = '', flags = '', , , , , , ...ranges] = line.trim().split(' ');
    let count = 0;
    for (const range of ranges) {
      const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
      if (from !== undefined) count += Number(to ?? from) - Number(from) + 1;
    }
    // `ip:port@bus,name,shard-id=…`; an IPv6 address stands without brackets.
    const [place = '', name = ''] = endpoint.split(',');
    const [, ip = '', port = ''] = /^(.*):(\d+)(?:@\d+)?$/.exec(place) ?? [];
    const hosts = [ip, name].filter((host) => host !== '' && !host.includes('='));
    for (const host of hosts) slots.set(formatHostPort({ host, port: Number(port) }), count);
    if (flags.split(',').includes('myself')) slots.set(asked, count);
  }
  return slots;
}

/** TIME of the server in milliseconds since the epoch. */
export function timeMsOf(reply: unknown): number | undefined {
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : [];
  const ms = seconds === undefined || micros === undefined ? Number.NaN : seconds * 1000 + micros / 1000;
  return Number.isFinite(ms) ? ms : undefined;
}

const MAX_REASON = 120;

/** The server's refusal in its own words; or why there was no reply. */
export function refusalOf(command: string, reply: ProbeReply | undefined): string {
  if (reply === undefined || reply.kind === 'reply') return `${command} got another reply than expected`;
  const detail = reply.detail.slice(0, MAX_REASON);
  return reply.kind === 'refused' ? `${command} is refused: ${detail}` : detail;
}
