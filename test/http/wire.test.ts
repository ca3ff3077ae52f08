/** Bytes that a connection brings, and the answers that they get: by the lane and without it. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { RequestEvent } from '../../src/http/events.ts';
import { until } from '../until.ts';
import { listeningServer } from './harness.ts';

interface Row {
  readonly what: string;
  /** Status and id of each answer, in order, and the end of the connection: `200 A, 400, then closed`. */
  readonly outcome: string;
  /** Each is written when everything before it was answered. */
  readonly sent: readonly string[];
  readonly withoutLane?: string;
}

const named = (id: string): string => `X-Request-Id: ${id}\r\n`;
/** A search that the lane reads. */
const search = (id: string, fields = '', version = 'HTTP/1.1', target = '/search?q=hit'): string =>
  `GET ${target} ${version}\r\nHost: t\r\n${named(id)}${fields}\r\n`;
const withHost = (host: string): string => `GET /search?q=hit HTTP/1.1\r\nHost: ${host}\r\n${named('A')}\r\n`;
const msearch = (fields: string, version = 'HTTP/1.1'): string =>
  `POST /msearch ${version}\r\nHost: t\r\nContent-Type: application/json\r\n${named('A')}${fields}\r\n`;
const BODY = '{"searches":[{"q":"hit"}]}';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const chunked = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
const manyFields = Array.from({ length: 40 }, (_, at) => `X-${at}: a\r\n`).join('');
const FAULT = 'Bad\x01: a\r\n';

const row = (what: string, outcome: string, ...sent: readonly string[]): Row => ({ what, outcome, sent });
const refused = (what: string, ...sent: readonly string[]): Row => row(what, '400 A, then closed', ...sent);

const HOSTS = [
  ...['a b', 't/search', 'u@t', 't, u', 't#x', 't?x', 'http://t', ':80', ':', 't:99999', 't:8o', '[::1', '::1', '[t]'],
  ...['"t"', '%zz', 't\xe9', 'a\\b', '<t>'],
];

const ROWS: readonly Row[] = [
  ...HOSTS.map((host) => refused(`Host: ${host}`, withHost(host) + search('B'))),
  row('an empty Host', '200 A, then open', withHost('')),
  refused('two Hosts', search('A', 'Host: t\r\n') + search('B')),

  refused('GET *', search('A', '', 'HTTP/1.1', '*')),
  refused('HTTP/0.9 with fields', search('A', '', 'HTTP/0.9') + search('B')),
  refused('HTTP/2.0', search('A', '', 'HTTP/2.0') + search('B')),
  // Node's parser gives such a request as one of HTTP/1.0.
  {
    ...row('RTSP/1.0', '400, then closed', search('A', '', 'RTSP/1.0') + search('B')),
    withoutLane: '200 A, then closed',
  },

  refused('Transfer-Encoding: JUNK, chunked', msearch('Transfer-Encoding: JUNK, chunked\r\n') + chunked + search('B')),
  row(
    'chunked twice',
    '400, then closed',
    msearch('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n') + chunked,
  ),
  refused(
    'chunked in HTTP/1.0',
    msearch('Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n', 'HTTP/1.0') + chunked + search('B'),
  ),
  row('Transfer-Encoding: Chunked', '200 A, then open', msearch('Transfer-Encoding: Chunked\r\n') + chunked),

  row('Expect', '100, 200 A, then open', search('A', 'Expect: 100-continue\r\n')),
  row('Expect before a body', '100, 200 A, then open', msearch(`Expect: 100-continue\r\n${LENGTH}`), BODY),
  row(
    'Expect behind another request',
    '200 A, 200 B, then closed',
    search('A') + search('B', 'Expect: 100-continue\r\n'),
  ),
  row(
    'Expect and a body behind another request',
    '200 B, 100, 200 A, then open',
    search('B') + msearch(`Expect: 100-continue\r\n${LENGTH}`),
    BODY,
  ),
  row('Expect of something else', '417 A, then closed', search('A', 'Expect: x\r\n') + search('B')),

  // Node loses B: the client would take the answer to C for B's.
  {
    ...row(
      'an upgrade to h2c and a request in one chunk, then another one',
      '200 A, 200 B, 200 C, then open',
      search('A', UPGRADE) + search('B'),
      search('C'),
    ),
    withoutLane: '200 A, then closed',
  },
  row('an upgrade with a body', '200 A, then closed', msearch(UPGRADE + LENGTH) + BODY + search('B')),

  row('a fault', '400, then closed', search('A', FAULT)),
  row(
    'a fault behind good requests in one chunk',
    '200 A, 200 B, 400, then closed',
    search('A') + search('B') + search('C', FAULT) + search('D'),
  ),
  row(
    'a fault behind a good request in one chunk, after more than 32 fields',
    '200 A, 400, then closed',
    search('A') + search('B', manyFields + FAULT),
  ),
  row(
    'a fault behind good requests with more than 32 fields',
    '200 A, 200 B, 400, then closed',
    search('A') + search('B', manyFields) + search('C', FAULT),
  ),
  row(
    'a fault behind a search that is not in memory',
    '200 A, 400, then closed',
    search('A', '', 'HTTP/1.1', '/search?q=new') + search('B', FAULT),
  ),

  row('If-Match of another version', '412 A, then open', search('A', 'If-Match: "x"\r\n')),
  row('If-None-Match: w/"x"', '200 A, then open', search('A', 'If-None-Match: w/"x"\r\n')),
];

for (const lane of ['auto', 'off'] as const) {
  describe(`with public.lane: ${lane}`, () => {
    let port = 0;
    let events: readonly RequestEvent[] = [];
    const ends: (() => unknown)[] = [];
    before(async () => {
      ({ port, events } = await listeningServer({ after: (end) => ends.push(end) }, { lane }));
    });
    after(async () => {
      for (const end of ends) await end();
    });
    for (const { what, outcome: withLane, sent, withoutLane = withLane } of ROWS) {
      const outcome = lane === 'off' ? withoutLane : withLane;
      test(`${what}: ${outcome}`, async () => {
        const [said = '', end] = outcome.split(', then ');
        const answers = said.split(', ');
        // A connection that stays open takes a further request, and its answer is the next one.
        const last = end === 'open' ? { sent: [search('last')], answers: ['200 last'] } : { sent: [], answers: [] };
        const before = events.length;
        const played = await exchanged(port, [...sent, ...last.sent], answers.length + last.answers.length);
        assert.deepEqual(played, { answers: [...answers, ...last.answers], end });
        const answered = played.answers.filter((answer) => answer.startsWith('200'));
        const searched = events.slice(before).filter(({ status }) => status === 200);
        assert.equal(searched.length, answered.length, 'each search that was done was answered');
      });
    }
  });
}

/** Writes the parts, each after the answers to those before it; ends when the server closes, or with the last answer. */
async function exchanged(port: number, parts: readonly string[], expected: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {});
  let [text, isClosed] = ['', false];
  socket.setEncoding('latin1').on('data', (bytes) => {
    text += bytes;
  });
  socket.on('close', () => {
    isClosed = true;
  });
  for (const [at, part] of parts.entries()) {
    const known = answersIn(text).length;
    if (isClosed) break;
    socket.write(part, 'latin1');
    await until(`an answer to part ${at + 1}`, () => isClosed || answersIn(text).length > known);
  }
  await until(`${expected} answers`, () => isClosed || answersIn(text).length >= expected);
  // The last part of an open connection is a request that was answered, so the server waits for the next one.
  if (!isClosed && !parts.at(-1)?.includes(named('last'))) await until('the server closes', () => isClosed);
  socket.destroy();
  return { answers: answersIn(text), end: isClosed ? 'closed' : 'open' };
}

/** Status and id of each whole answer; what is no answer in its place is shown as it is. */
function answersIn(text: string): string[] {
  const answers: string[] = [];
  for (let from = 0; from < text.length; ) {
    const headTo = text.indexOf('\r\n\r\n', from);
    if (headTo < 0) break;
    const head = text.slice(from, headTo);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    if (status === undefined) return [...answers, text.slice(from)];
    from = headTo + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const id = /\r\nx-request-id: (\w+)$/im.exec(head)?.[1];
    if (from <= text.length) answers.push(id === undefined ? status : `${status} ${id}`);
  }
  return answers;
}
