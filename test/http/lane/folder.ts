import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, seedOf } from '../../../loadtest/random.ts';
import type { Played } from './play.ts';
import type { Vocabulary } from './requests.ts';
import { cut, inChunks, type Stream } from './streams.ts';

/** The streams that the files of a folder make, each file in every one of these ways. */
const WAYS = [
  'whole',
  'in pieces',
  'between searches',
  'in pieces between searches',
  'in one chunk with both',
] as const;
const SETTLED_TURNS = 4;
const [BEFORE, AFTER] = ['before', 'after'];

export interface FolderStreams {
  readonly count: number;
  readonly streamOf: (number: number) => Stream;
}

/** @throws when the folder has no file. */
export function folderStreams(folder: string, seed: number, { targets }: Vocabulary): FolderStreams {
  const files = globSync('**/*', { cwd: folder })
    .filter((file) => statSync(join(folder, file)).isFile())
    .sort();
  if (files.length === 0) throw new Error(`${folder} has no file`);
  const good = (id: string): string => `GET ${targets[0]} HTTP/1.1\r\nHost: t\r\nX-Request-Id: ${id}\r\n\r\n`;
  return {
    count: files.length * WAYS.length,
    streamOf: (number) => {
      const file = files[Math.floor(number / WAYS.length)] ?? '';
      const way = WAYS[number % WAYS.length] ?? 'whole';
      const bytes = readFileSync(join(folder, file), 'latin1');
      const random = createRandom(seedOf(seed, number));
      const own = way.startsWith('in pieces') ? cut(random, bytes) : inChunks(bytes);
      const chunks =
        way === 'in one chunk with both'
          ? inChunks(good(BEFORE) + bytes + good(AFTER))
          : way.endsWith('between searches')
            ? [good(BEFORE), ...own, good(AFTER)]
            : own;
      const pauses = chunks.map(() => SETTLED_TURNS);
      return { kind: 'file', name: `${file}, ${way}`, word: `n${number}n`, chunks, pauses, ending: 'quiet' };
    },
  };
}

/**
 * A server closes after its client whatever the bytes are, sends whole answers one after another, answers the search before
 * the file first, and the one behind it, if at all, once and last. @returns the fault
 */
export function faultOf({ chunks }: Stream, { text, closedBy }: Played): string | undefined {
  if (closedBy === 'stuck') return 'the connection is not closed';
  const ids = idsOf(text);
  if (ids === undefined) return 'there are bytes between two answers';
  const sent = chunks.join('');
  const times = (id: string): number => ids.filter((each) => each === id).length;
  if (sent.includes(`X-Request-Id: ${BEFORE}\r\n`) && (ids[0] !== BEFORE || times(BEFORE) !== 1))
    return 'the search before is not answered first, or more than once';
  if (times(AFTER) > 1 || (times(AFTER) === 1 && ids.at(-1) !== AFTER)) return 'the search behind is not answered last';
  return undefined;
}

/** The id of each answer. An answer to HEAD has a length and no body. @returns undefined when anything else is between. */
function idsOf(text: string): string[] | undefined {
  const ids: string[] = [];
  for (let from = 0; from < text.length; ) {
    const headTo = text.indexOf('\r\n\r\n', from);
    const head = text.slice(from, headTo);
    if (headTo < 0 || !ANSWER.test(head)) return undefined;
    if (!head.startsWith('HTTP/1.1 100 ')) ids.push(/\r\nx-request-id: ([^\r]*)/i.exec(head)?.[1] ?? '');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    from = headTo + 4;
    if (!ANSWER.test(text.slice(from, from + ANSWER_BYTES))) from = Math.min(from + length, text.length);
  }
  return ids;
}

const ANSWER = /^HTTP\/1\.1 \d{3} /;
const ANSWER_BYTES = 'HTTP/1.1 200 '.length;
