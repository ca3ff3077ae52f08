import type { ProbeReply } from '../doctor.ts';
import type { Figure, KeyFacts, KeysFacts } from '../facts.ts';
import { refusalText, shortName } from './store-replies.ts';

/** Samples the keys of one node. In time it sees all of them: each sample goes on where the one before ended. */
export type KeySampler = ReturnType<typeof createKeySampler>;

const SCANS = 2;
const SCAN_COUNT = 250;
/** Values of any size are counted once; those above the last bound in no bucket. */
const SIZE_BOUNDS = [1024, 10_240, 102_400, 1_048_576, 10_485_760];
/** Keys that are asked again in each sample, so that a large one stays found. */
const MAX_REMEMBERED = 20;
const REMEMBERED_BYTES = 102_400;
const REMEMBERED_MEMBERS = 1000;
const MAX_SHOWN = 5;

const OURS = /^sc\d+:/;
const DOMAIN = /^sc\d+:[^:]*/;
/** Names of entries. Leases, control documents and counters have other names, and some have no expiry. */
const ENTRY = /^sc\d+:[^:]+:\{[\w-]{22}\}$/;
/** Refusals of one key: it moved, or was written again. Any other one is a refusal of the command. */
const OF_ONE_KEY = /^(?:MOVED|ASK|TRYAGAIN|WRONGTYPE)\b/;
const COUNTS: Readonly<Record<string, string>> = { hash: 'HLEN', list: 'LLEN', set: 'SCARD', zset: 'ZCARD' };

type Commands = readonly (readonly string[])[];
const NO_REPLY: ProbeReply = { kind: 'unreachable', detail: 'no reply' };

interface Sampled extends KeyFacts {
  readonly members?: number;
  /** PTTL of an entry. */
  readonly lifeMs?: number;
}

export function createKeySampler(options: {
  readonly askMany: (commands: Commands) => Promise<readonly ProbeReply[]>;
  /** Where the first pass begins; at the start unless given. */
  readonly random?: () => number;
}) {
  const { askMany, random = () => 0 } = options;
  /** Undefined before the first step, which begins anywhere: a short examination would always see the same keys. */
  let cursor: string | undefined;
  /** Keys of this pass so far. The first pass may begin in the middle: only one from the start to the end is whole. */
  let seen = 0;
  let isFromStart = true;
  let hasSeenAll = false;
  let remembered: readonly string[] = [];

  const ask = async (commands: Commands): Promise<readonly ProbeReply[]> =>
    commands.length === 0 ? [] : askMany(commands);

  /**
   * The first command of each kind goes ahead, and its refusal stands for the others: a server counts every refusal as an
   * error. Each domain's keys and foreign ones are asked apart, because a user may have the right for some of them only.
   */
  const askEach = async (commands: Commands): Promise<readonly ProbeReply[]> => {
    const groups = [...Map.groupBy(commands.keys(), (at) => kindOf(commands[at] ?? [])).values()];
    const replies: ProbeReply[] = [];
    const send = async (places: readonly number[]): Promise<void> => {
      const told = await ask(places.map((at) => commands[at] ?? []));
      for (const [index, at] of places.entries()) replies[at] = told[index] ?? NO_REPLY;
    };
    const rest: number[] = [];
    await send(groups.flatMap(([first]) => first ?? []));
    for (const [first = 0, ...others] of groups) {
      const reply = replies[first] ?? NO_REPLY;
      if (reply.kind === 'reply' || OF_ONE_KEY.test(reply.detail)) rest.push(...others);
      else for (const at of others) replies[at] = reply;
    }
    await send(rest);
    return replies;
  };

  const scan = async (total: number): Promise<Figure<readonly string[]>> => {
    const names = new Set<string>();
    if (cursor === undefined) {
      const first = total > SCANS * SCAN_COUNT ? Math.floor(random() * total) : 0;
      isFromStart = first === 0;
      cursor = String(first);
    }
    if (cursor === '0') seen = 0;
    for (let step = 0; step < SCANS; step += 1) {
      const [reply] = await ask([['SCAN', cursor, 'COUNT', String(SCAN_COUNT)]]);
      if (reply?.kind !== 'reply') return { skipped: refusalText('SCAN', reply) };
      const [next, found] = Array.isArray(reply.reply) ? (reply.reply as readonly unknown[]) : [];
      cursor = String(next ?? '0');
      for (const name of Array.isArray(found) ? found : []) names.add(String(name));
      if (cursor === '0') {
        hasSeenAll ||= isFromStart;
        isFromStart = true;
        break;
      }
    }
    seen += names.size;
    return { known: [...names] };
  };

  /** The facts of each name that exists. */
  const lookAt = async (names: readonly string[]): Promise<Figure<readonly Sampled[]>> => {
    const types = await askEach(names.map((name) => ['TYPE', name]));
    if (names.length > 0 && types.every(({ kind }) => kind !== 'reply'))
      return { skipped: refusalText('TYPE', types[0]) };
    const usages = await askEach(names.map((name) => ['MEMORY', 'USAGE', name, 'SAMPLES', '5']));
    const typeAt = (at: number): string => textIn(types[at]);
    const counted = names.map((name, at) => {
      const command = typeAt(at) === 'string' ? 'STRLEN' : COUNTS[typeAt(at)];
      // A string's length is only asked for where its memory is not told.
      const isWanted = typeAt(at) !== 'string' || usages[at]?.kind !== 'reply';
      return command === undefined || !isWanted ? undefined : [command, name];
    });
    const entries = names.map((name) => (ENTRY.test(name) ? ['PTTL', name] : undefined));
    const lengths = await answersTo(counted);
    const lives = await answersTo(entries);
    const known = names.flatMap((name, at): Sampled[] => {
      const type = typeAt(at);
      if (type === '' || type === 'none') return [];
      const length = lengths[at];
      const bytes = numberIn(usages[at]) ?? (type === 'string' ? (length ?? 0) : 0);
      return [{ name, type, bytes, members: type === 'string' ? undefined : length, lifeMs: lives[at] }];
    });
    return { known };
  };

  /** Numbers at the places of their commands. */
  const answersTo = async (
    commands: readonly (readonly string[] | undefined)[],
  ): Promise<readonly (number | undefined)[]> => {
    const replies = await askEach(commands.flatMap((command) => (command === undefined ? [] : [command])));
    let next = 0;
    return commands.map((command) => {
      if (command === undefined) return undefined;
      next += 1;
      return numberIn(replies[next - 1]);
    });
  };

  return {
    /** Keys that a sample looks at, about: for the budget. */
    count: SCANS * SCAN_COUNT,
    sample: async (): Promise<Figure<KeysFacts>> => {
      const [size] = await ask([['DBSIZE']]);
      const total = numberIn(size) ?? 0;
      const names = await scan(total);
      if ('skipped' in names) return names;
      const again = remembered.filter((name) => !names.known.includes(name));
      const looked = await lookAt([...names.known, ...again]);
      if ('skipped' in looked) return looked;
      const all = looked.known;
      const fresh = new Set(names.known);
      const sampled = all.filter(({ name }) => fresh.has(name));
      const bySize = all.toSorted((a, b) => b.bytes - a.bytes);
      const byLength = all
        .flatMap((key) => (key.members === undefined ? [] : [{ ...key, members: key.members }]))
        .toSorted((a, b) => b.members - a.members);
      const large = bySize.filter(({ bytes }) => bytes >= REMEMBERED_BYTES);
      const long = byLength.filter(({ members }) => members >= REMEMBERED_MEMBERS);
      remembered = [...new Set([...large, ...long].map(({ name }) => name))].slice(0, MAX_REMEMBERED);
      const entries = sampled.filter(({ name }) => ENTRY.test(name));
      return {
        known: {
          sampled: sampled.length,
          total: numberIn(size) ?? sampled.length,
          seen: hasSeenAll ? total : Math.min(seen, total),
          sizes: histogramOf(sampled),
          biggest: bySize.slice(0, MAX_SHOWN).map(({ name, type, bytes }) => ({ name: shortName(name), type, bytes })),
          longest: byLength
            .slice(0, MAX_SHOWN)
            .map(({ name, type, bytes, members }) => ({ name: shortName(name), type, bytes, members })),
          ours: sampled.filter(({ name }) => OURS.test(name)).length,
          oursWithoutExpiry: entries.filter(({ lifeMs }) => lifeMs === -1).length,
          foreign: sampled.filter(({ name }) => !OURS.test(name)).length,
        },
      };
    },
  };
}

/** The command and the domain of its key; foreign keys are of none. */
function kindOf(command: readonly string[]): string {
  const [domain = ''] = command.flatMap((word) => DOMAIN.exec(word)?.[0] ?? []);
  return `${command[0]} ${domain}`;
}

function histogramOf(keys: readonly KeyFacts[]): KeysFacts['sizes'] {
  return SIZE_BOUNDS.map((maxBytes, at) => ({
    maxBytes,
    count: keys.filter(({ bytes }) => bytes <= maxBytes && bytes > (SIZE_BOUNDS[at - 1] ?? -1)).length,
  }));
}

function textIn(reply: ProbeReply | undefined): string {
  return reply?.kind === 'reply' && typeof reply.reply === 'string' ? reply.reply : '';
}

function numberIn(reply: ProbeReply | undefined): number | undefined {
  return reply?.kind === 'reply' && typeof reply.reply === 'number' ? reply.reply : undefined;
}
