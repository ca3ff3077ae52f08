import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createRandom, type Random, seedOf } from '../../loadtest/random.ts';
import type { ResultSets } from '../../src/engines/sphinx/connection.ts';
import { LEADING_COLUMNS, pageOf } from '../../src/engines/sphinx/rows.ts';
import { CONTRACT_DOMAIN } from '../contract/engine-documents.ts';
import { ask } from '../contract/engine-truth.ts';
import {
  type FakeSearchd,
  type FakeSet,
  GREETING,
  OK,
  packet,
  payloadsOf,
  reply,
  startFakeSearchd,
} from '../fakes/searchd.ts';
import { mutated, setsIn } from './mutate-mysql.ts';
import { type Mutations, type MutationsResult, runMutations } from './mutation-run.ts';
import type { SubjectReport, SubjectTask } from './mutations-mysql-subject.ts';

/**
 * Damaged answers of searchd. For each a child process makes an engine on a server that damages its first greeting, its
 * first reply to a login or a search, or what follows a reply. All other answers are right. No search may get another page
 * than the bytes say, and in the end all permits are back and searches are served.
 */
export const MYSQL_MUTATIONS: Mutations = {
  name: 'mysql',
  about: 'damages N replies of searchd',
  run: (seed, count) => runCases(Array.from({ length: count }, (_, id) => drawn(id, createRandom(seedOf(seed, id))))),
  replay: (inputs) =>
    runCases(
      inputs.flatMap((bytes, at) =>
        PLACES.map(
          (place, index) => ({ id: at * PLACES.length + index, place, bytes, after: 'stays', pieceBytes: 0 }) as const,
        ),
      ),
    ),
};

function runCases(cases: readonly Case[]): Promise<MutationsResult> {
  return runMutations({ cases, send, subject: join(import.meta.dirname, 'mutations-mysql-subject.ts') });
}

/** `unasked`: after a right reply, while no statement waits. */
const PLACES = ['reply', 'greeting', 'login', 'unasked'] as const;

interface Case {
  readonly id: number;
  readonly place: (typeof PLACES)[number];
  readonly bytes: Buffer;
  /** The end of the connection after these bytes. */
  readonly after: 'stays' | 'ends' | 'is reset';
  /** They are written in pieces of this size; 0: at once. */
  readonly pieceBytes: number;
}

const REQUEST = ask('гитара', { highlight: false, facets: ['city'], limit: 5 });
const ROWS = ['1', '2', '3'].map((id) => [
  ...[id, '1700', `Гитара ${id}`, 'Продаю гитару. '.repeat(id === '2' ? 30 : 1)],
  ...['музыка', 'Казань', 'Fender', '2', '15', '1200.5', '1700000000'],
  ...['["S","XL"]', '1990,5000000000', '-86400,0', 'Fender'],
]);
const meta = (total: string): FakeSet => ({
  columns: ['Variable_name', 'Value'],
  rows: [
    ['total', total],
    ['total_found', total],
  ],
});
const SETS: readonly FakeSet[] = [
  { columns: ROWS[0]?.map((_, at) => `column${at}`) ?? [], rows: ROWS },
  meta('3'),
  {
    columns: ['value', 'count'],
    rows: [
      ['Казань', '2'],
      [null, '1'],
    ],
  },
  meta('2'),
];
const PAYLOADS = payloadsOf(SETS);
const RIGHT = reply(...PAYLOADS);
const UNASKED = [OK, ...PAYLOADS.slice(0, 3)];

/** Replies are damaged most often. */
const DRAWN: readonly Case['place'][] = ['reply', 'reply', 'reply', 'reply', ...PLACES, 'unasked'];

function drawn(id: number, random: Random): Case {
  const place = random.pick(DRAWN);
  const sent = { reply: PAYLOADS, greeting: [GREETING], login: [OK], unasked: UNASKED }[place];
  const first = { reply: 1, greeting: 0, login: 2, unasked: random.between(0, 3) }[place];
  return {
    id,
    place,
    bytes: mutated(sent, first, random),
    after: random.pick(['ends', 'ends', 'ends', 'is reset', 'stays'] as const),
    pieceBytes: random.chance(0.7) ? 0 : random.between(1, 60),
  };
}

function pageIn(sets: ResultSets | undefined): string | undefined {
  try {
    const options = {
      domain: CONTRACT_DOMAIN,
      snippetLength: SNIPPET_LENGTH,
      marks: { open: '\u0001', close: '\u0002' },
    };
    return sets === undefined ? undefined : JSON.stringify(pageOf(sets, REQUEST, options));
  } catch {
    return undefined;
  }
}

const SNIPPET_LENGTH = 240;
const RIGHT_PAGE = pageIn(setsIn(RIGHT));
if (ROWS[0]?.length !== LEADING_COLUMNS.attributes + CONTRACT_DOMAIN.attributes.length || RIGHT_PAGE === undefined) {
  throw new Error('the rows do not fit the domain');
}

async function send(each: Case, ask: (task: SubjectTask) => Promise<Outcome>): Promise<string | undefined> {
  const searchd = await startDamaged(each);
  const wrong = wrongIn(each, await ask(taskOf(each, searchd)));
  searchd.stop();
  return wrong === undefined ? undefined : `case ${each.id}, ${each.place} ${each.bytes.toString('hex')}: ${wrong}`;
}

function wrongIn({ place, bytes }: Case, outcome: Outcome): string | undefined {
  if (typeof outcome === 'string') return outcome;
  // A whole reply that comes too early cannot be told from the right one.
  const damaged = place === 'reply' || place === 'unasked' ? pageIn(setsIn(bytes)) : undefined;
  const wrong = outcome.pages.find((page) => page !== RIGHT_PAGE && page !== damaged);
  return wrong === undefined ? undefined : `a wrong page: ${wrong}`;
}

/** A searchd whose first answer of a kind is damaged. Its probes get a reply that is no page. */
function startDamaged({ place, bytes, after, pieceBytes }: Case): Promise<FakeSearchd> {
  let pending = true;
  const isFirst = (wanted: Case['place']): boolean => {
    const isIt = pending && place === wanted;
    if (isIt) pending = false;
    return isIt;
  };
  const write = (socket: Socket, at = 0): void => {
    const end = pieceBytes === 0 ? bytes.length : at + pieceBytes;
    if (socket.destroyed) return;
    socket.write(bytes.subarray(at, end));
    if (end < bytes.length) setImmediate(write, socket, end);
    else if (after === 'ends') socket.end();
    else if (after === 'is reset') setImmediate(() => socket.resetAndDestroy());
  };
  const damages = (wanted: Case['place'], socket: Socket, right: Buffer): Buffer | undefined => {
    if (!isFirst(wanted)) return right;
    write(socket);
    return undefined;
  };
  return startFakeSearchd({
    greet: (socket) => damages('greeting', socket, packet(0, GREETING)),
    welcome: (socket) => damages('login', socket, packet(2, OK)),
    answer: (sql, socket) => {
      if (sql.includes('serpcacheprobe')) return RIGHT;
      if (isFirst('unasked')) {
        socket.write(RIGHT);
        setImmediate(write, socket);
        return undefined;
      }
      return damages('reply', socket, RIGHT);
    },
  });
}

function taskOf({ id }: Case, { host, port }: FakeSearchd): SubjectTask {
  return {
    id,
    domain: CONTRACT_DOMAIN,
    request: REQUEST,
    engine: {
      kind: 'sphinx',
      endpoints: [{ host, port }],
      index: 'contract',
      idAttribute: 'doc_id',
      ranker: 'bm25',
      maxMatches: 1000,
      snippetLength: SNIPPET_LENGTH,
      limit: 'fixed',
      maxConcurrent: 2,
      maxQueued: 8,
      deadlineMs: 1500,
      hardDeadlineMs: 2000,
      connectTimeoutMs: 2000,
    },
  };
}

type Outcome = SubjectReport | string;
