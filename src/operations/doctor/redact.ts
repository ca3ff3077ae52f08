import { createHash } from 'node:crypto';
import { looksSecret } from '../../schema/faults.ts';
import {
  type Figure,
  type HostFacts,
  type KeyFacts,
  type KeysFacts,
  known,
  type NodeFacts,
  type ServerFacts,
  type Snapshot,
  type StoreFacts,
} from './facts.ts';

/**
 * Snapshots for a ticket or an answer. Names of keys that serpcache did not make become hashes, the same name the same hash;
 * words of servers lose what a client may have sent; commands keep their names only. Judged again, the snapshots give the
 * same findings, with these names.
 */
export function redacted(snapshots: readonly Snapshot[]): readonly Snapshot[] {
  return snapshots.map((snapshot) => {
    const { stores, hosts } = snapshot;
    return withoutQuotes({ ...snapshot, stores: stores.map(storeOf), hosts: hosts.map(hostOf) });
  });
}

function storeOf(store: StoreFacts): StoreFacts {
  const nodes = known(store.nodes);
  return nodes === undefined ? store : { ...store, nodes: { known: nodes.map(nodeOf) } };
}

function nodeOf(node: NodeFacts): NodeFacts {
  return {
    ...node,
    config: mapped(node.config, withoutSecrets),
    slowlog: mapped(node.slowlog, (entries) =>
      entries.map((entry) => ({ ...entry, command: commandName(entry.command) })),
    ),
    keys: mapped(node.keys, keysOf),
  };
}

function mapped<T>(figure: Figure<T>, change: (value: T) => T): Figure<T> {
  return 'known' in figure ? { known: change(figure.known) } : figure;
}

/** The collector asks for no such directive; a relative of Redis may tell one unasked. */
function withoutSecrets(config: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !looksSecret(name)));
}

/** One or two words in capitals, such as `CONFIG GET`. */
function commandName(command: string): string {
  return /^[A-Z][A-Z0-9_.-]{0,31}(?: [A-Z-]{1,24})?$/.test(command) ? command : (command.split(/\s/, 1)[0] ?? '');
}

function keysOf(keys: KeysFacts): KeysFacts {
  const hidden = <K extends KeyFacts>(key: K): K => ({ ...key, name: keyName(key.name) });
  return { ...keys, biggest: keys.biggest.map(hidden), longest: keys.longest.map(hidden) };
}

/** Every form of a key that serpcache makes. Its own parts are hashes, numbers and names of domains. */
const OWN_KEY = new RegExp(
  [
    String.raw`^sc\d+:(?<domain>[\w.~-]{1,64}):`,
    String.raw`(?:(?:lease:)?\{[\w-]{22}\}|fleet|epoch:\{\d+\}|\{control:\k<domain>\}(?::reports(?::order)?)?|\{popular:\k<domain>\}:\d+)$`,
  ].join(''),
);

/** A foreign name under our prefix keeps the prefix, because checks read it. */
function keyName(name: string): string {
  if (OWN_KEY.test(name)) return name;
  return `${/^sc\d+:/.exec(name)?.[0] ?? ''}key-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

function hostOf(host: HostFacts): HostFacts {
  return { ...host, servers: mapped(host.servers, (servers) => servers.map(serverOf)) };
}

/** The known members only: a part of another host is a file, and may hold more. */
function serverOf(server: ServerFacts): ServerFacts {
  const { program, pid, port, maxChildren, indexAgeSeconds } = server;
  return { program, pid, port, maxChildren, indexAgeSeconds };
}

/** Members that hold words of a server or of the system. */
const WORDS: ReadonlySet<string> = new Set(['skipped', 'problem']);

/** A copy of plain JSON in which such words, at any depth, are without quotations. */
function withoutQuotes<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (name, one: unknown) =>
    WORDS.has(name) && typeof one === 'string' ? textWithoutQuotes(one) : one,
  );
}

const MAX_QUOTED = 24;
const REMOVED = '…';

/**
 * Words of a server without what they may quote of a client: arguments of a command, long quotations, credentials inside an
 * address, and long words such as tokens.
 */
export function textWithoutQuotes(text: string): string {
  return text
    .replace(/(with args beginning with:).*$/is, `$1 ${REMOVED}`)
    .replaceAll(
      /(?<![\p{L}\p{N}])(['"`«“])((?:(?!\1|[»”]).)*)(['"`»”]|$)/gsu,
      (whole, open: string, quoted: string, close: string) =>
        quoted.length > MAX_QUOTED ? `${open}${REMOVED}${close}` : whole,
    )
    .replaceAll(/\/\/[^\s/@]*@/g, `//${REMOVED}@`)
    .replaceAll(/[A-Za-z0-9+/=_.-]{40,}/g, (word) => (isToken(word) ? REMOVED : word));
}

/** A long word that is no host name. */
function isToken(word: string): boolean {
  return /[^.]{40}/.test(word) || (/[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word));
}
