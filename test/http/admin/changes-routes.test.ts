import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Change, MAX_CHANGE_TEXT } from '../../../src/changes/change.ts';
import { OperationError } from '../../../src/control/operation-error.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { adminHarness, bearer } from './harness.ts';

/** The admin listener, with the changes that the feed of `goods` takes. */
function feedHarness(context: Parameters<typeof adminHarness>[0], fault?: () => Error | undefined) {
  const published: Change[] = [];
  const publish = async (changes: readonly Change[]): Promise<void> => {
    const error = fault?.();
    if (error !== undefined) throw error;
    published.push(...changes);
  };
  const harness = adminHarness(context, { operations: createFakeOperations({ clock: systemClock, publish }) });
  const send = async (
    payload: string | Buffer,
    { headers = {}, domain = 'goods' }: { headers?: Readonly<Record<string, string>>; domain?: string } = {},
  ) => {
    const url = `/admin/changes?domain=${domain}`;
    const answer = await harness.server.app.inject({
      method: 'POST',
      url,
      headers: { ...bearer, ...headers },
      payload,
    });
    return { status: answer.statusCode, headers: answer.headers, json: answer.json() };
  };
  return { ...harness, send, published };
}

const NDJSON = { 'content-type': 'application/x-ndjson' };
const MILLION = '{"id":"123456"}\n'.repeat(1_000_000);

test('lines are taken in order, and malformed ones are answered by number', async (context) => {
  const { send, published, entries } = feedHarness(context);
  const lines = [
    '{"id":"1"}',
    '',
    '{"id":2,"op":"delete"}',
    'nonsense',
    '{"id":"3","attributes":{"price":990,"city":"Москва"},"was":{"attributes":{"price":1090}}}',
    '{"id":""}',
    '{"id":"4","op":"move"}',
    '{"id":"4","stray":1}',
    '{"text":"no id"}',
    '[{"id":"5"}]',
    '{"id":"6","text":7}',
    '{"id":"7","attributes":{"price":{}}}',
  ];
  const { status, json } = await send(lines.join('\n'), { headers: NDJSON });
  assert.equal(status, 202);
  const { refused, ...counts } = json;
  assert.deepEqual(counts, { domain: 'goods', taken: 3, refusedCount: 8, cut: 0 });
  const faults: Readonly<Record<number, RegExp>> = {
    4: /^it is not JSON: /,
    6: /^id must be a text of 1 to 512 bytes, without NUL or half a character$/,
    7: /^op must be upsert or delete$/,
    8: /unknown member "stray"; known are id, op, text, attributes, was$/,
    9: /^id must be/,
    10: /^a change must be an object$/,
    11: /^text must be a text$/,
    12: /^attributes\.price must be/,
  };
  assert.deepEqual(
    refused.map(({ line }: { line: number }) => line),
    Object.keys(faults).map(Number),
  );
  for (const { line, detail } of refused) assert.match(detail, faults[line] ?? /^$/);
  assert.deepEqual(
    published.map(({ id, op }) => [id, op]),
    [
      ['1', 'upsert'],
      ['2', 'delete'],
      ['3', 'upsert'],
    ],
  );
  assert.partialDeepStrictEqual(published[2], { attributes: { price: [990], city: ['Москва'] } });
  assert.deepEqual(entries, [], 'changes are data: no line in the audit');
});

for (const [what, payload, headers] of [
  ['without a type', '{"id":"1"}\n{"id":"2"}', {}],
  ['as JSON', '{"id":"1"}\n{"id":"2"}\n', { 'content-type': 'application/json' }],
  ['as curl sends a file', '{"id":"1"}\n{"id":"2"}\n', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['with a byte order mark and CRLF', '\ufeff{"id":"1"}\r\n\r\n{"id":"2"}\r\n', { 'content-type': 'text/plain' }],
  ['packed', gzipSync('{"id":"1"}\n{"id":"2"}\n'), { ...NDJSON, 'content-encoding': 'gzip' }],
] as const) {
  test(`lines ${what} are read`, async (context) => {
    const { send, published } = feedHarness(context);
    const { status, json } = await send(payload, { headers });
    assert.deepEqual([status, json], [202, { domain: 'goods', taken: 2, refused: [], refusedCount: 0, cut: 0 }]);
    assert.deepEqual(
      published.map(({ id }) => id),
      ['1', '2'],
    );
  });
}

test('a call without a line takes none', async (context) => {
  const { send } = feedHarness(context);
  for (const payload of ['', '\n\r\n \n']) {
    const { status, json } = await send(payload, { headers: NDJSON });
    assert.deepEqual([status, json.taken, json.refusedCount], [202, 0, 0]);
  }
});

const plain = { headers: NDJSON };
const packed = { headers: { ...NDJSON, 'content-encoding': 'gzip' } };
describe('a call that is refused', () => {
  const feed = feedHarness({ after });

  for (const [what, payload, options, status, code, detail] of [
    ['a million ids', MILLION, plain, 413, 'body-too-large', /at most 8388608 bytes/],
    ['a million ids, packed', gzipSync(MILLION), packed, 413, 'body-too-large', /10000 lines and 8388608 bytes/],
    ['a line more than allowed', '{"id":"1"}\n'.repeat(10_001), plain, 413, 'body-too-large', /at most 10000 lines/],
    ['many empty lines', '\n'.repeat(8_000_000), plain, 413, 'body-too-large', /at most 10000 lines/],
    [
      'nothing but faults',
      'a\n\nb\n',
      plain,
      400,
      'invalid-body',
      /^No line was taken\. line 1: it is not JSON.*; line 3: /,
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x7b, 0xff, 0x7d]),
      plain,
      400,
      'invalid-body',
      /line 1: it is not UTF-8/,
    ],
    ['a deep list', '['.repeat(2_000_000), plain, 400, 'invalid-body', /line 1: it has more than 10000 values/],
    [
      'a line of 3 MB',
      `{"id":"1","text":"${'x'.repeat(3_000_000)}"}`,
      plain,
      400,
      'invalid-body',
      /longer than 2097152 bytes/,
    ],
    ['damaged gzip', gzipSync('{"id":"1"}').subarray(0, 12), packed, 400, 'invalid-body', /damaged/],
    ['another coding', '{"id":"1"}', { headers: { 'content-encoding': 'br' } }, 415, 'unsupported-media-type', /gzip/],
    ['an unknown domain', '{"id":"1"}', { domain: 'god' }, 404, 'unknown-domain', /goods, auto/],
    ['a domain without a feed', '{"id":"1"}', { domain: 'auto' }, 409, 'no-feed', /domains\.auto\.changes/],
    ['an empty domain', '{"id":"1"}', { domain: '' }, 400, 'invalid-request', /domain: ""; allowed: a text of 1 to 64/],
    ['a second parameter', '{"id":"1"}', { domain: 'goods&top=1' }, 400, 'invalid-request', /known are domain/],
  ] as const) {
    test(`${what}: ${code}, and nothing is published`, async () => {
      const { send, published } = feed;
      const answer = await send(payload, options);
      assert.deepEqual([answer.status, answer.json.code], [status, code]);
      assert.match(answer.json.detail, detail);
      assert.ok(answer.json.detail.length < 1000);
      assert.deepEqual(published, []);
    });
  }
});

test('the refusal of all lines has the first hundred of them, in short', async (context) => {
  const { send } = feedHarness(context);
  const { status, json } = await send(`{"id":"1","${'ж'.repeat(100_000)}":1}\n`.repeat(20) + 'x\n'.repeat(1000), plain);
  assert.deepEqual([status, json.refused.length], [400, 100]);
  assert.ok(json.refused.every(({ detail }: { detail: string }) => detail.length <= 200));
});

test('a text of a megabyte is cut, and the answer counts it', async (context) => {
  const { send, published } = feedHarness(context);
  const { status, json } = await send(`{"id":"1","text":"${'ы'.repeat(1_000_000)}"}\n{"id":"2"}`, plain);
  assert.deepEqual([status, json.taken, json.cut], [202, 2, 1]);
  assert.equal(published[0]?.text?.length, MAX_CHANGE_TEXT);
});

test('the same change a thousand times is taken a thousand times', async (context) => {
  const { send, published } = feedHarness(context);
  const { status, json } = await send('{"id":"1"}\n'.repeat(1000), plain);
  assert.deepEqual([status, json.taken, published.length], [202, 1000, 1000]);
});

test('a call beyond those that may wait is told so, with Retry-After', async (context) => {
  const { send } = feedHarness(context, () => new OperationError('overloaded', 'too many calls with changes at once'));
  const { status, json, headers } = await send('{"id":"1"}', plain);
  assert.deepEqual([status, json.code, json.title], [503, 'overloaded', 'Overloaded']);
  assert.ok(Number(headers['retry-after']) >= 1);
});

test('while the stream is away a call gets 503 with Retry-After, and the next one is taken', async (context) => {
  let fault: Error | undefined = new OperationError(
    'control-unavailable',
    'the stream of changes does not take them: timeout',
  );
  const { send, published } = feedHarness(context, () => fault);
  const away = await send('{"id":"1"}', plain);
  assert.deepEqual([away.status, away.json.code], [503, 'control-unavailable']);
  assert.ok(Number(away.headers['retry-after']) >= 1);
  fault = undefined;
  assert.equal((await send('{"id":"1"}', plain)).status, 202);
  assert.equal(published.length, 1);
});

test('without the token nothing is read, and the audit has the refusal', async (context) => {
  const { server, published, entries } = feedHarness(context);
  const { statusCode } = await server.app.inject({
    method: 'POST',
    url: '/admin/changes?domain=goods',
    payload: '{"id":"1"}',
  });
  assert.equal(statusCode, 401);
  assert.deepEqual(
    entries.map(({ action, result }) => [action, result]),
    [['changes', 'unauthorized']],
  );
  assert.deepEqual(published, []);
});

test('a large call leaves turns of the event loop to others while it is read', async (context) => {
  const { send } = feedHarness(context);
  let isDone = false;
  const sent = send(`{"id":"1","text":"${'слово '.repeat(60)}"}\n`.repeat(10_000), plain).finally(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns += 1) await nextTurn();
  assert.equal((await sent).json.taken, 10_000);
  assert.ok(turns > 50, `${turns} turns`);
});
