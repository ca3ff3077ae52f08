import { get } from 'node:http';
import { connect } from 'node:tls';
import { PROBLEMS } from '../../src/http/transport/problem.ts';
import { hold } from './checker.ts';
import { clientOf, type Fleet, type Front, MISS_BURST, NAME, type Reply, searchPath } from './nginx-service.ts';

const HOST = '127.0.0.1';
const AT_ONCE = 100;
/** `burst` and the one that the rate itself admits. */
const BURST = 41;
const RATE_PER_SECOND = 20;
const LIMIT_MS = 5000;

/** @returns how many of 100 requests of one client at once were refused. */
export async function checkLimits(front: Front, fleet: Fleet): Promise<number> {
  const greedy = clientOf(front, '127.0.0.20');
  const other = clientOf(front, '127.0.0.21');
  try {
    const path = searchPath('alpha');
    await other.ask({ path });
    const startedMs = performance.now();
    // Not all at once: limit_conn counts 64 of them.
    const replies: Reply[] = [];
    for (let at = 0; at < AT_ONCE; at += 20)
      replies.push(...(await Promise.all(Array.from({ length: 20 }, () => greedy.ask({ path })))));
    const admitted = BURST + Math.ceil(((performance.now() - startedMs) / 1000) * RATE_PER_SECOND) + 1;
    const refused = replies.filter(({ status }) => status === 429);
    const answered = replies.filter(({ status }) => status === 200).length;
    hold(answered + refused.length === AT_ONCE, `of ${AT_ONCE}: ${answered} answered, ${refused.length} refused`);
    hold(answered >= BURST - 1 && answered <= admitted, `${answered} of ${AT_ONCE} were answered, not about ${BURST}`);
    for (const reply of refused) isProblem(reply, 429);
    const beside = await other.ask({ path });
    hold(beside.status === 200, `another client beside it: ${beside.status}`);
    await checkBatches(front);
    await checkBudget(front, fleet);
    return refused.length;
  } finally {
    greedy.close();
    other.close();
  }
}

/** Batches have a rate of their own, below that of requests. */
async function checkBatches(front: Front): Promise<void> {
  const client = clientOf(front, '127.0.0.26');
  try {
    const batch = { path: '/msearch', method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ searches: [{ q: 'alpha' }] });
    const replies = await Promise.all(Array.from({ length: 20 }, () => client.ask({ ...batch, body })));
    const refused = replies.filter(({ status }) => status === 429).length;
    hold(refused > 0 && refused < replies.length, `${refused} of ${replies.length} batches at once were refused`);
  } finally {
    client.close();
  }
}

/** A client that claims another address, and another key, with each request spends one budget: its own. */
async function checkBudget(front: Front, fleet: Fleet): Promise<void> {
  const liar = clientOf(front, '127.0.0.22');
  const honest = clientOf(front, '127.0.0.23');
  try {
    const misses = MISS_BURST * fleet.ports.length + 4;
    const codes: (string | undefined)[] = [];
    for (let at = 0; at < misses; at += 1) {
      const claims = { 'x-forwarded-for': `198.51.100.${at}`, forwarded: `for=198.51.100.${at}`, 'x-api-key': `${at}` };
      const reply = await liar.ask({ path: searchPath(`foxtrot ${at}`), headers: claims });
      codes.push(reply.status === 200 ? undefined : JSON.parse(reply.body).code);
    }
    const over = codes.filter((code) => code !== undefined);
    hold(
      over.length > 0 && over.every((code) => code === 'over-budget'),
      `${misses} misses with forged addresses got ${over.join(', ') || 'no refusal'}`,
    );
    const reply = await honest.ask({ path: searchPath('golf') });
    hold(reply.status === 200, `a client beside it: ${reply.status} ${reply.body}`);
  } finally {
    liar.close();
    honest.close();
  }
}

export async function checkClosed(front: Front): Promise<void> {
  const client = clientOf(front, '127.0.0.24');
  try {
    for (const path of ['/metrics', '/admin/domains', '/ops', '/admin', '/healthz', '/nginx-problem'])
      isProblem(await client.ask({ path }), 404);
    for (const path of ['/openapi.json', '/docs']) {
      const { status, headers } = await client.ask({ path });
      hold(status === 200, `${path}: ${status}`);
      const hsts = headers['strict-transport-security'];
      hold(hsts === 'max-age=31536000', `${path} has Strict-Transport-Security ${hsts}`);
    }
    isProblem(await client.ask({ path: '/readyz' }), 403);
    const own = clientOf(front, HOST);
    const ready = await own.ask({ path: '/readyz' }).finally(own.close);
    hold(ready.status === 200, `/readyz from an address that may ask: ${ready.status}`);
    // Each of these would take a connection to serpcache out of its fast path.
    isProblem(await client.ask({ path: '/search', method: 'POST', body: 'q=a' }), 405);
    isProblem(await client.ask({ path: searchPath('alpha'), body: 'q=a' }), 400);
    const other = await client.ask({ path: searchPath('alpha'), headers: { host: 'other.example' } });
    hold(other.status === 421 && other.body.length < 300, `another name in Host: ${other.status} ${other.body}`);
    const part = await client.ask({ path: searchPath('alpha'), headers: { range: 'bytes=0-5' } });
    hold(part.status === 200, `a range of a page: ${part.status}`);
    // Where serpcache has a limit of its own, its answer is the better one.
    const long = await client.ask({ path: searchPath('x'.repeat(7000)) });
    hold(JSON.parse(long.body).code === 'url-too-long', `a URL of 7 KB: ${long.status} ${long.body}`);
    isProblem(await client.ask({ path: searchPath('x'.repeat(9000)) }), 414);
    isProblem(await client.ask({ path: '/search?q=a', headers: { 'x-long': 'x'.repeat(9000) } }), 431);
    isProblem(await client.ask({ path: '/msearch', method: 'POST', body: 'x'.repeat(257 * 1024) }), 413);
    isProblem(await client.ask({ path: '/', method: 'POST', body: 'x'.repeat(2000) }), 413);
  } finally {
    client.close();
  }
  await redirects(front);
  await refusesOtherNames(front);
}

/** A problem document of nginx itself, with the fields that serpcache's have. */
function isProblem({ status, headers, body }: Reply, expected: number): void {
  hold(status === expected, `${status}, not ${expected}: ${body.slice(0, 200)}`);
  hold(headers['content-type'] === 'application/problem+json', `${status} is ${headers['content-type']}`);
  hold(headers['cache-control'] === 'no-store', `${status} says ${headers['cache-control']}`);
  const code = `nginx-${expected}`;
  const document: unknown = JSON.parse(body);
  hold(
    typeof document === 'object' && document !== null && 'code' in document && document.code === code,
    `${status} has the document ${body}`,
  );
  hold(!Object.hasOwn(PROBLEMS, code), `${code} is a code of serpcache too`);
  const seconds = Number(headers['retry-after'] ?? 0);
  hold(seconds >= 1 === (expected === 429 || expected >= 502), `${status} with Retry-After ${seconds}`);
}

function redirects({ plainPort }: Front): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'other.example' };
    const signal = AbortSignal.timeout(LIMIT_MS);
    get({ host: HOST, port: plainPort, path: '/search?q=a', headers, signal, agent: false }, (response) => {
      response.resume();
      const { location } = response.headers;
      if (response.statusCode === 308 && location === `https://${NAME}/search?q=a`) resolve();
      else reject(new Error(`plain HTTP gets ${response.statusCode} ${location}`));
    }).once('error', reject);
  });
}

function refusesOtherNames({ port, ca }: Front): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: HOST, port, ca, servername: 'other.example', timeout: LIMIT_MS });
    socket.once('error', ({ message }) => {
      if (/unrecognized name/.test(message)) resolve();
      else reject(new Error(`a handshake for another name: ${message}`));
    });
    for (const event of ['secureConnect', 'timeout'] as const)
      socket.once(event, () => {
        socket.destroy();
        reject(new Error(`a handshake for another name: ${event}`));
      });
  });
}
