import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OperationError } from '../../../src/control/operation-error.ts';
import { createRefusalSampler } from '../../../src/http/admin/audit.ts';
import type { AuditEntry } from '../../../src/operations/audit/audit.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { idle } from '../../fakes/idle.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { until } from '../../until.ts';
import { sendBytes } from '../harness.ts';
import { type AdminHarness, adminHarness, bearer, TOKEN } from './harness.ts';

const ADDRESS = '127.0.0.1';
const WHO = `operator from ${ADDRESS}`;

/** Sends bytes; the returned function cuts the connection. */
async function cutOff(context: TestContext, port: number, bytes: string): Promise<() => void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  context.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return () => socket.destroy();
}

const head = (method: string, target: string, fields: string): string =>
  `${method} ${target} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n${fields}\r\n`;
const AUTHORISED = `Authorization: Bearer ${TOKEN}\r\n`;
const JSON_BODY = `${AUTHORISED}Content-Type: application/json\r\n`;

/** Refused before or because of the token: the caller has no name. */
const NAMELESS: readonly string[] = [
  'a missing token',
  'a wrong token',
  'a broken path',
  'a path that is too long',
  'an expectation',
  'two hosts',
];

for (const [what, bytes, expected] of [
  ['a missing token', head('POST', '/admin/halt', ''), ['halt', 'unauthorized']],
  ['a wrong token', head('POST', '/admin/halt', 'Authorization: Bearer no\r\n'), ['halt', 'wrong-token']],
  ['an unknown route', head('POST', '/admin/nope?token=secret', AUTHORISED), ['POST /admin/nope', 'not-found']],
  ['a path outside /admin', head('DELETE', '/', AUTHORISED), ['DELETE /', 'not-found']],
  ['a wrong method', head('PUT', '/admin/halt', AUTHORISED), ['PUT /admin/halt', 'method-not-allowed']],
  ['an unknown method', head('PROPFIND', '/admin/halt', AUTHORISED), ['PROPFIND /admin/halt', 'method-not-allowed']],
  ['a broken path', head('POST', '/admin/%zz', AUTHORISED), ['POST /admin/%zz', 'invalid-url']],
  [
    'a path that is too long',
    head('POST', `/admin/warm/${'x'.repeat(300)}/stop`, AUTHORISED),
    [`POST /admin/warm/${'x'.repeat(300)}`.slice(0, 205), 'url-too-long'],
  ],
  ['half of JSON', `${head('POST', '/admin/halt', `${JSON_BODY}Content-Length: 1\r\n`)}{`, ['halt', 'invalid-body']],
  [
    'a form',
    `${head('POST', '/admin/halt', `Authorization: Bearer ${TOKEN}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n`)}a=b`,
    ['halt', 'unsupported-media-type'],
  ],
  [
    'a body too large',
    head('POST', '/admin/halt', `${JSON_BODY}Content-Length: 99999\r\n`),
    ['halt', 'body-too-large'],
  ],
  [
    'an expectation',
    head('POST', '/admin/halt', `${AUTHORISED}Expect: a miracle\r\n`),
    ['POST /admin/halt', 'expectation-failed'],
  ],
  ['two hosts', head('POST', '/admin/halt', 'Host: other\r\n'), ['POST /admin/halt', 'invalid-request']],
] as const) {
  test(`${what} leaves one line`, async (context) => {
    const { listen, entries } = adminHarness(context);
    const answer = await sendBytes(await listen(), bytes);
    assert.equal(answer.problem.code, expected[1]);
    await until('a line', () => entries.length > 0);
    assert.deepEqual(
      entries.map(({ action, by, result }) => [action, by, result]),
      [[expected[0], NAMELESS.includes(what) ? ADDRESS : WHO, expected[1]]],
    );
    assert.doesNotMatch(JSON.stringify(entries), /secret|correct-horse/);
  });
}

test('a request whose connection is cut before its end leaves a line', async (context) => {
  const { listen, entries, server } = adminHarness(context);
  const accepted: Socket[] = [];
  server.app.server.on('connection', (socket) => accepted.push(socket));
  const port = await listen();
  const bytes = `${head('POST', '/admin/halt', `${JSON_BODY}Content-Length: 20\r\n`)}{"rea`;
  const cut = await cutOff(context, port, bytes);
  await until('the server has read the bytes', () => accepted[0]?.bytesRead === bytes.length);
  await idle();
  assert.equal(entries.length, 0);
  cut();
  await until('a line', () => entries.length > 0);
  assert.equal(entries[0]?.action, 'halt');
  assert.notEqual(entries[0]?.result, 'done');
});

for (const [what, fail, result] of [
  ['was done', false, 'done'],
  ['was refused', true, 'control-unavailable'],
] as const) {
  test(`a change that ${what} after its client disconnected is written with that result, once`, async (context) => {
    const operations = createFakeOperations({ clock: systemClock });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let begun = false;
    const { halt } = operations.drills;
    const slow = async (caller: Parameters<typeof halt>[0]): Promise<void> => {
      begun = true;
      await held;
      if (fail) throw new OperationError('control-unavailable', 'away');
      await halt(caller);
    };
    Object.assign(operations.drills, { halt: slow });
    const { listen, entries, server } = adminHarness(context, { operations });
    const body = '{"reason":"now"}';
    const port = await listen();
    let isGone = false;
    server.app.server.once('connection', (socket) =>
      socket.once('close', () => {
        isGone = true;
      }),
    );
    const bytes = `${head('POST', '/admin/halt', `${JSON_BODY}Content-Length: ${body.length}\r\n`)}${body}`;
    const cut = await cutOff(context, port, bytes);
    await until('the route is working', () => begun);
    cut();
    await until('the connection is closed', () => isGone);
    assert.equal(entries.length, 0, 'the result is not known yet');
    release();
    await until('a line', () => entries.length > 0);
    await idle();
    assert.deepEqual(
      entries.map((entry) => [entry.action, entry.reason, entry.result]),
      [['halt', 'now', result]],
    );
  });
}

test('reads leave no line, refused or not', async (context) => {
  const { server, entries } = adminHarness(context);
  for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) {
    for (const url of ['/admin/domains', '/admin/nope', '/admin/drills/x', '/admin/flush?domain=nope', '/ops']) {
      await server.app.inject({ method, url, headers: bearer });
      await server.app.inject({ method, url });
    }
  }
  assert.deepEqual(entries, []);
});

test('a line has the given name of the operator, in printable ASCII', async (context) => {
  const harness = adminHarness(context);
  for (const [given, by] of [
    ['max@host', `max@host from 127.0.0.1`],
    ['  max  ', 'max from 127.0.0.1'],
    ['', WHO],
    ['\u001b[2Jmax\u0007', '[2Jmax from 127.0.0.1'],
    ['x'.repeat(500), `${'x'.repeat(64)} from 127.0.0.1`],
    ['\u00e9', WHO],
  ] as const) {
    assert.equal(await nameOf(harness, given), by);
  }
});

async function nameOf({ server, entries }: AdminHarness, given: string): Promise<string | undefined> {
  await server.app.inject({ method: 'POST', url: '/admin/halt', headers: { ...bearer, 'x-operator': given } });
  return entries.at(-1)?.by;
}

test('no token, right or wrong, is written to the audit or the log', async (context) => {
  const { server, entries, lines } = adminHarness(context);
  for (const authorization of [`Bearer ${TOKEN}`, 'Bearer another-secret']) {
    const headers = { authorization, cookie: 'session=another-secret' };
    for (const payload of [{ reason: 'x' }, { reason: 'x', token: 'another-secret' }, '{"token":"another-secret"']) {
      const sent =
        typeof payload === 'string' ? { headers: { ...headers, 'content-type': 'application/json' } } : { headers };
      await server.app.inject({ method: 'POST', url: '/admin/halt?key=another-secret', ...sent, payload });
    }
  }
  assert.equal(entries.length, 6);
  assert.doesNotMatch(JSON.stringify([entries, lines]), /correct-horse|another-secret/);
});

test('a flood without the token is a few lines and a count, and does not hide the lines of operators', async (context) => {
  const clock = createFakeClock();
  const { server, entries } = adminHarness(context, { clock });
  const flood = async (n: number, remoteAddress = '192.0.2.66'): Promise<void> => {
    for (let i = 0; i < n; i += 1) {
      const headers = { 'x-operator': 'root', ...(i % 2 === 0 ? {} : { authorization: 'Bearer wrong' }) };
      await server.app.inject({ method: 'POST', url: '/admin/halt', remoteAddress, headers });
    }
  };
  const halt = () =>
    server.app.inject({ method: 'POST', url: '/admin/halt', headers: bearer, payload: { reason: 'x' } });
  await flood(200);
  assert.equal((await halt()).statusCode, 200);
  clock.advance(60_000);
  await flood(200);
  assert.deepEqual(
    entries.map(({ by, result, omitted }) => [by, result, omitted]),
    [
      ...Array.from({ length: 5 }, (_, i) => ['192.0.2.66', i % 2 === 0 ? 'unauthorized' : 'wrong-token', undefined]),
      [WHO, 'done', undefined],
      ['192.0.2.66', 'unauthorized', 195],
      ...Array.from({ length: 4 }, (_, i) => ['192.0.2.66', i % 2 === 0 ? 'wrong-token' : 'unauthorized', undefined]),
    ],
  );
  assert.doesNotMatch(JSON.stringify(entries), /root/);
  await server.close();
  assert.deepEqual(
    [entries.at(-1)?.action, entries.at(-1)?.by, entries.at(-1)?.result, entries.at(-1)?.omitted],
    ['refusals', '192.0.2.66', 'omitted', 195],
  );
});

test('a flood from many addresses is limited too, and every request is counted', async (context) => {
  const clock = createFakeClock();
  const { server, entries } = adminHarness(context, { clock });
  for (let i = 0; i < 1000; i += 1) {
    const remoteAddress = `10.1.${i >> 8}.${i & 255}`;
    await server.app.inject({ method: 'POST', url: '/admin/halt', remoteAddress });
    clock.advance(30);
  }
  await server.close();
  const isOwn = ({ result }: { readonly result: string }): boolean => result !== 'omitted';
  assert.ok(entries.length <= 20 + 30 + 1, `${entries.length} lines in 30 s`);
  assert.equal(
    entries.reduce((sum, entry) => sum + (isOwn(entry) ? 1 : 0) + (entry.omitted ?? 0), 0),
    1000,
  );
  assert.match(String(entries.at(-1)?.by), /addresses$/);
});

function sampler(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const entries: AuditEntry[] = [];
  const lines = createRefusalSampler({ record: (entry) => entries.push(entry), clock: createFakeClock() });
  const note = (address: string): void => lines.note(address, { action: 'halt', by: address, result: 'unauthorized' });
  return { entries, note };
}

test('omitted refusals are written after ten seconds without another request', (t) => {
  const { entries, note } = sampler(t);
  for (let i = 0; i < 9; i += 1) note('192.0.2.1');
  t.mock.timers.tick(9_999);
  assert.equal(entries.length, 5);
  t.mock.timers.tick(1);
  assert.deepEqual(entries.slice(5), [{ action: 'refusals', by: '192.0.2.1', result: 'omitted', omitted: 4 }]);
  t.mock.timers.tick(60_000);
  assert.equal(entries.length, 6, 'once');
});

test('above the maximum number of addresses every refusal is still counted', (t) => {
  const { entries, note } = sampler(t);
  for (let i = 0; i < 3000; i += 1) note(`192.0.${i >> 8}.${i & 255}`);
  t.mock.timers.tick(10_000);
  const { by, omitted } = entries.at(-1) ?? assert.fail();
  assert.deepEqual([by, omitted], ['more than 1000 addresses', 2980]);
});
