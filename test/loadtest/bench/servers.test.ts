import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { selfTimes } from '../../../loadtest/bench/measure.ts';
import type { ServerPlan } from '../../../loadtest/bench/server.ts';
import { accepts, freePorts, startProcess } from '../../../loadtest/stack/process.ts';
import { temporaryFolder } from '../../folder.ts';

const HEADERS = { 'content-type': 'application/json; charset=utf-8', etag: '"abc"', vary: 'Accept-Encoding' };
const SERVER = join(import.meta.dirname, '../../../loadtest/bench/server.ts');

async function started(t: TestContext, kind: ServerPlan['kind']): Promise<string> {
  const folder = temporaryFolder(t);
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
  t.after(() => server.stop());
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

test('self times leave out idle time, and the largest comes first', () => {
  const frame = (id: number, functionName: string, url = '') => ({
    id,
    callFrame: { functionName, url, lineNumber: 6, columnNumber: 0, scriptId: '' },
  });
  const nodes = [frame(1, '(idle)'), frame(2, 'send', 'file:///a/src/http/x.ts'), frame(3, '')];
  const profile = { nodes, samples: [1, 2, 3, 2], timeDeltas: [900, 50, 25, 25] };
  assert.deepEqual(selfTimes(profile), [
    { name: 'send src/http/x.ts:7', share: 0.75 },
    { name: '(anonymous)', share: 0.25 },
  ]);
});
