import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Load, scriptOf } from '../../../loadtest/bench/load.ts';
import { selfTimes } from '../../../loadtest/bench/measure.ts';
import type { ServerPlan } from '../../../loadtest/bench/server.ts';
import { accepts, freePorts, startProcess } from '../../../loadtest/stack/process.ts';

const HEADERS = { 'content-type': 'application/json; charset=utf-8', etag: '"abc"', vary: 'Accept-Encoding' };
const SERVER = join(import.meta.dirname, '../../../loadtest/bench/server.ts');

async function started(t: TestContext, kind: ServerPlan['kind']): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-bench-'));
  const [port = 0] = await freePorts(1);
  const plan: ServerPlan = { kind, port, headers: HEADERS, body: Buffer.from('{"a":1}').toString('base64') };
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan));
  const server = await startProcess({
    name: kind,
    command: process.execPath,
    args: [SERVER, join(folder, 'plan.json')],
    cwd: folder,
    logFile: join(folder, 'server.log'),
    ready: () => accepts(port),
  });
  t.after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  return `http://127.0.0.1:${port}/search?q=a`;
}

async function answerOf(url: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).once('error', reject);
  });
  const parts = await response.toArray();
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(parts).toString() };
}

for (const kind of ['http', 'fastify', 'net'] as const) {
  test(`the ${kind} server sends the page with its headers, a date and a request id`, async (t) => {
    const url = await started(t, kind);
    const startedMs = Math.floor(Date.now() / 1000) * 1000;
    const [first, second, named] = [
      await answerOf(url),
      await answerOf(url),
      await answerOf(url, { 'X-Request-Id': 'mine' }),
    ];
    assert.deepEqual([first.status, first.body], [200, '{"a":1}']);
    for (const [name, value] of Object.entries(HEADERS)) assert.equal(first.headers[name], value);
    assert.equal(first.headers['content-length'], '7');
    const { date = 'no date' } = first.headers;
    assert.ok(Date.parse(date) >= startedMs && Date.parse(date) <= Date.now(), date);
    assert.notEqual(first.headers['x-request-id'], second.headers['x-request-id']);
    assert.equal(named.headers['x-request-id'], 'mine');
    if (kind === 'fastify') return;
    const known = await answerOf(url, { 'If-None-Match': '"abc"' });
    assert.deepEqual([known.status, known.body, known.headers.etag], [304, '', '"abc"']);
    assert.equal(known.headers['content-length'], undefined);
  });
}

const OPTIONS = { host: '127.0.0.1:1', list: '/x/targets.txt', firstNumber: 90_000_000, random: () => 0 };
const script = (load: Load): string => scriptOf(load, OPTIONS);

test('a few requests are written once; many requests, and those with a number of their own, are written each time', () => {
  assert.match(
    script({ targets: ['/search?q=a', '/b'] }),
    /return made\[kind \* count \+ at\] or keep\(texts\[kind\]\(\)\)/,
  );
  const many = Array.from({ length: 1001 }, (_, at) => `/${at}`);
  assert.match(script({ targets: many }), /return texts\[kind\]\(\)\nend/);
  const unique = script({
    targets: ['/search?q=a'],
    headers: { 'X-Request-Id': 'req-{n}', 'X-Forwarded-For': '{ip}' },
  });
  assert.match(unique, /return texts\[kind\]\(\)\nend/);
  assert.match(unique, /X-Request-Id: req-" \.\. hex\(\) \.\. "\\013\\010X-Forwarded-For: " \.\. address\(\) \.\. "/);
  assert.match(script({ targets: ['/search?p=..{d}'] }), /"GET \/search\?p=\.\." \.\. n \.\. " HTTP\/1\.1/);
});

test('heads come in turn, each with the fields of every request before its own', () => {
  const headers = { Accept: '*/*' };
  const turns = script({
    targets: ['/a'],
    headers,
    heads: [
      [['CF-Ray', 'x']],
      [
        ['From', 'a'],
        ['from', 'b'],
      ],
    ],
  });
  assert.match(turns, /kind = kind % 2 \+ 1/);
  assert.match(
    turns,
    /Accept: [^\n]*CF-Ray: x\\013\\010\\013\\010" end,\n.*From: a\\013\\010from: b\\013\\010\\013\\010" end,/,
  );
});

test('other requests come in their share, and a body makes a POST with its length in bytes', () => {
  const others = script({ targets: ['/a'], others: { target: '/healthz', every: 100 } });
  assert.match(others, /if n % 100 == 0 then return other\(\) end/);
  assert.match(others, /local function other\(\) return "GET \/healthz HTTP/);
  assert.match(script({ targets: ['/a'], body: '{"q":"я"}' }), /"POST " \.\. targets\[at\] .*Content-Length: 10\\013/);
});

test('self times leave out idle time, and the largest comes first', () => {
  const frame = (id: number, functionName: string, url = '') => ({
    id,
    callFrame: { functionName, url, lineNumber: 6 },
  });
  const nodes = [frame(1, '(idle)'), frame(2, 'send', 'file:///a/src/http/x.ts'), frame(3, '')];
  const profile = { nodes, samples: [1, 2, 3, 2], timeDeltas: [900, 50, 25, 25] };
  assert.deepEqual(selfTimes(profile), [
    { name: 'send src/http/x.ts:7', share: 0.75 },
    { name: '(anonymous)', share: 0.25 },
  ]);
});
