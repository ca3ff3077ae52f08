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
const ERRORS: ReadonlySet<string> = new Set(
  [
    'ERR ASK BUSY BUSYGROUP BUSYKEY CLUSTERDOWN CROSSSLOT DENIED EXECABORT LOADING MASTERDOWN MISCONF MOVED NOAUTH',
    'NOPERM NOREPLICAS NOSCRIPT OOM READONLY TRYAGAIN UNBLOCKED UNKILLABLE WRONGPASS WRONGTYPE',
  ].flatMap((words) => words.split(' ')),
);

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

export function majorOf(info: Readonly<Record<string, string>>): number {
  return Number.parseInt(info['redis_version'] ?? '0', 10);
}

/** Pairs of a flat reply, as CONFIG GET gives them. */
export function directivesOf(reply: unknown): Readonly<Record<string, string>> {
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
const WITH_SUBCOMMAND = new Set('CONFIG CLIENT CLUSTER MEMORY SLOWLOG LATENCY ACL SCRIPT XINFO'.split(' '));

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
  const isYoung = (field: (name: string) => string): boolean => Number(field('age')) < YOUNG_SECONDS;
  const groups = [...Map.groupBy(clients, (field) => `${hostPart(field('addr'))} ${field('name')}`).values()];
  const largest = clients.toSorted((a, b) => Number(b('omem')) - Number(a('omem')))[0];
  return {
    count: clients.length,
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
  };
}

function kindOf(flags: string): ClientsFacts['largestOutput']['kind'] {
  if (/[SO]/.test(flags)) return 'replica';
  return flags.includes('P') ? 'pubsub' : 'normal';
}

/** As CLIENT LIST writes it, brackets of IPv6 included: the advice greps for it. */
function hostPart(address: string): string {
  return address.slice(0, Math.max(0, address.lastIndexOf(':')));
}

/** TIME of the server in milliseconds since the epoch. */
export function timeMsOf(reply: unknown): number | undefined {
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : [];
  const ms = seconds === undefined || micros === undefined ? Number.NaN : seconds * 1000 + micros / 1000;
  return Number.isFinite(ms) ? ms : undefined;
}

const MAX_REASON = 120;

/** The server's refusal in its own words; or why there was no reply. */
export function refusalText(command: string, reply: ProbeReply | undefined): string {
  if (reply === undefined || reply.kind === 'reply') return `${command} got another reply than expected`;
  const detail = reply.detail.slice(0, MAX_REASON);
  return reply.kind === 'refused' ? `${command} is refused: ${detail}` : detail;
}
