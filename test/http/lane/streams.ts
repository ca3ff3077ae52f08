import { createRandom, type Random, seedOf } from '../../../loadtest/random.ts';
import { attacks } from './attacks.ts';
import { mutated } from './mutations.ts';
import { otherRequest, textOf, usualSearch, type Vocabulary } from './requests.ts';
import { LIMITS } from './servers.ts';

/** Everything that one client sends on one connection. */
export interface Stream {
  readonly kind: StreamKind;
  /** The file that made the stream, and the way. */
  readonly name?: string;
  /** A word that stands in the texts of its slow searches and in no other stream. */
  readonly word: string;
  /** Each is written at once and read by the server at once. Latin-1 text. */
  readonly chunks: readonly string[];
  /** Turns of the event loop between the reading of a chunk and the writing of the next one. */
  readonly pauses: readonly number[];
  /** `quiet`: the client ends its side when no answer is left. `early`: it ends it after the last chunk was read. */
  readonly ending: 'quiet' | 'early';
}

/**
 * `usual`: searches that the lane understands. `split`: such searches, cut at any byte. `slow`: some answers come late.
 * `mixed`: with other requests between. `mutated`: with a few changed bytes or lines. `attack`: known ways to make two
 * parsers disagree. `large`: near the limits. `ended`: the client ends its side after any byte.
 */
export const STREAM_KINDS = ['usual', 'split', 'slow', 'mixed', 'mutated', 'attack', 'large', 'ended'] as const;
type GeneratedKind = (typeof STREAM_KINDS)[number];
/** `file`: the bytes of a file, see folder.ts. */
export type StreamKind = GeneratedKind | 'file';

const WEIGHTS: readonly { readonly kind: GeneratedKind; readonly weight: number }[] = [
  { kind: 'usual', weight: 22 },
  { kind: 'split', weight: 10 },
  { kind: 'slow', weight: 6 },
  { kind: 'mixed', weight: 18 },
  { kind: 'mutated', weight: 26 },
  { kind: 'attack', weight: 9 },
  { kind: 'large', weight: 4 },
  { kind: 'ended', weight: 5 },
];

/** A chunk is at most this long, because a server reads at most 64 KiB at once. */
const MAX_CHUNK_BYTES = 48 * 1024;
/** Pauses in which every answer that is not slow has been written. */
const SETTLED_TURNS = 4;

/** The same stream for the same seed and number. */
export function streamOf(seed: number, number: number, vocabulary: Vocabulary): Stream {
  const random = createRandom(seedOf(seed, number));
  const { kind } = random.weighted(WEIGHTS);
  const make = { random, vocabulary, number };
  const parts = PARTS[kind](make);
  const isCut = kind === 'split' || (kind !== 'usual' && random.chance(0.3));
  const chunks = parts.flatMap((text) => (isCut ? cut(random, text) : inChunks(text)));
  const isEarly = kind === 'ended' || (kind === 'slow' && parts.at(-1)?.includes(`${wordOf(number)}+0 `));
  // Requests that are well-formed may follow each other at once; a fault may cut the answers that are being written.
  const isFast = (kind === 'usual' || kind === 'split') && random.chance(0.5);
  const pauses = chunks.map(() => (isFast ? random.between(0, 2) : SETTLED_TURNS));
  return { kind, word: wordOf(number), chunks, pauses, ending: isEarly ? 'early' : 'quiet' };
}

interface Make {
  readonly random: Random;
  readonly vocabulary: Vocabulary;
  readonly number: number;
}

/** The parts of a stream, each of which is written at once unless it is cut. */
const PARTS: Readonly<Record<GeneratedKind, (make: Make) => string[]>> = {
  usual: (make) => grouped(make.random, usuals(make)),
  split: (make) => grouped(make.random, usuals(make)),
  slow: (make) => {
    const { random, vocabulary, number } = make;
    const requests = usuals(make);
    const slow = (count: number): string =>
      textOf({ ...usualSearch(random, vocabulary, number), target: `/search?q=slow+${wordOf(number)}+${count}` });
    // With bytes behind a slow search, the lane notices only after its answer that the client has gone.
    if (random.chance(0.3)) return grouped(random, [...requests, slow(0)]);
    for (let count = random.between(1, 3); count > 0; count -= 1)
      requests[random.between(0, requests.length - 1)] = slow(count);
    // In several chunks they would wait in the client's memory and not in the server's.
    if (random.chance(0.03)) return [Array.from({ length: 40 }, slow).join('')];
    return grouped(random, requests);
  },
  mixed: (make) => withLast(make, grouped(make.random, mixture(make))),
  mutated: (make) => {
    const texts = make.random.chance(0.7) ? usuals(make, 4) : mixture(make, 4);
    const at = make.random.between(0, texts.length - 1);
    texts[at] = mutated(make.random, texts[at] ?? '');
    return withLast(make, grouped(make.random, texts));
  },
  attack: (make) => {
    const before = make.random.chance(0.3) ? usuals(make, 2) : [];
    const attack = make.random.pick(attacks(make.random.pick(make.vocabulary.targets)));
    return withLast(make, grouped(make.random, [...before, attack]));
  },
  large: (make) => withLast(make, grouped(make.random, [large(make)])),
  ended: (make) => {
    const text = make.random.chance(0.8) ? usuals(make, 3).join('') : mixture(make, 3).join('');
    return [text.slice(0, make.random.between(1, text.length))];
  },
};

function wordOf(number: number): string {
  return `n${number}n`;
}

function usuals({ random, vocabulary, number }: Make, max = 20): string[] {
  const count = random.chance(0.8) ? random.between(1, Math.min(3, max)) : random.between(1, max);
  const texts = Array.from({ length: count }, () => textOf(usualSearch(random, vocabulary, number)));
  // Clients of a pool send the same head again and again.
  return random.chance(0.3) ? texts.map(() => texts[0] ?? '') : texts;
}

function mixture(make: Make, max = 6): string[] {
  const { random, vocabulary, number } = make;
  const texts = usuals(make, max);
  const at = random.between(0, texts.length - 1);
  texts[at] = textOf(otherRequest(random, vocabulary, number), random.weighted(VERSIONS).version);
  return texts;
}

const VERSIONS = [
  { version: 'HTTP/1.1', weight: 20 },
  { version: 'HTTP/1.0', weight: 3 },
  { version: 'HTTP/1.2', weight: 1 },
  { version: 'HTTP/2.0', weight: 1 },
  { version: 'http/1.1', weight: 1 },
  { version: 'HTTP/1.1 ', weight: 1 },
];

/** Often adds a last search: its answer shows whether both servers still agree on where a request begins. */
function withLast({ random, vocabulary, number }: Make, parts: string[]): string[] {
  if (random.chance(0.4)) return parts;
  const last = usualSearch(random, vocabulary, number);
  const id = ['X-Request-Id', `last-${number}`] as const;
  const close = random.chance(0.5) ? [['Connection', 'close'] as const] : [];
  const fields = [...last.fields.filter(([name]) => name.toLowerCase() !== 'x-request-id'), id, ...close];
  const text = textOf({ ...last, fields });
  if (random.chance(0.5)) return [...parts, text];
  return [...parts.slice(0, -1), `${parts.at(-1) ?? ''}${text}`];
}

/** A request with many fields, a large field or a long target, around each limit. */
function large(make: Make): string {
  const { random, vocabulary, number } = make;
  const request = usualSearch(random, vocabulary, number);
  const { maxUrlBytes, maxHeadBytes } = LIMITS;
  switch (random.between(0, 3)) {
    case 0: {
      const names = random.pick([() => 'Accept-Language', (at: number) => `X-Unknown-${at}`, () => 'Cookie']);
      const count = random.chance(0.5) ? random.between(125, 130) : random.between(60, 200);
      const more = Array.from({ length: count - request.fields.length }, (_, at) => [names(at), 'a'] as const);
      return textOf({ ...request, fields: [...request.fields, ...more] });
    }
    case 1: {
      const name = random.pick(['Cookie', 'Referer', 'User-Agent', 'X-Forwarded-For', 'If-None-Match', 'X-Unknown']);
      const size = maxHeadBytes - textOf(request).length + random.between(-60, 60);
      const fields = request.fields.filter((field) => field[0].toLowerCase() !== name.toLowerCase());
      return textOf({ ...request, fields: [...fields, [name, 'a'.repeat(Math.max(1, size))]] });
    }
    case 2: {
      const size = maxUrlBytes - request.target.length + random.between(-4, 4);
      const join = request.target.includes('?') ? '&' : '?';
      return textOf({ ...request, target: `${request.target}${join}${'x'.repeat(Math.max(1, size))}` });
    }
    default: {
      const target = `${random.pick(vocabulary.targets)}&x=${'y'.repeat(maxHeadBytes + random.between(-200, 200))}`;
      return textOf({ ...request, target });
    }
  }
}

/** Requests in the order given, with one to all of them in each part. */
function grouped(random: Random, requests: readonly string[]): string[] {
  if (random.chance(0.3)) return [requests.join('')];
  const parts: string[] = [];
  for (let from = 0; from < requests.length; ) {
    const to = from + (random.chance(0.5) ? 1 : random.between(1, 6));
    parts.push(requests.slice(from, to).join(''));
    from = to;
  }
  return parts;
}

export function cut(random: Random, text: string): string[] {
  const points = Array.from({ length: random.between(1, 3) }, () => random.between(0, text.length)).sort(
    (a, b) => a - b,
  );
  return [0, ...points].flatMap((from, at) => inChunks(text.slice(from, points[at] ?? text.length)));
}

export function inChunks(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; from += MAX_CHUNK_BYTES) chunks.push(text.slice(from, from + MAX_CHUNK_BYTES));
  return chunks;
}
