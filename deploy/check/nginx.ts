import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { checkClosed, checkLimits } from './nginx-limits.ts';
import {
  type Client,
  clientOf,
  type Fleet,
  type Front,
  MAX_AGE_MS,
  type Reply,
  SWITCH,
  searchPath,
  startFleet,
  startFront,
} from './nginx-service.ts';
import { install } from './tools.ts';

/** `serpcache_fresh_seconds` of the file. */
const FRESH_MS = 1000;
/** `fail_timeout`: the time for which nginx leaves a process alone after failures. */
const FAIL_TIMEOUT_MS = 5000;
const POLL_MS = 50;
/** nginx and serpcache count whole seconds, each on its own. */
const ROUNDED_MS = 2000;
const CHANGE_LIMIT_MS = 10_000;
const STALE = 'nginx; hit; detail=stale-while-revalidate';

export const CHECKERS: readonly Checker[] = [
  {
    name: 'nginx',
    about: 'nginx with deploy/nginx/serpcache.conf before two processes of serpcache: its cache, limits and failures.',
    run: checkNginx,
  },
];

/** One nginx, two processes, and clients of one address each. */
interface Site {
  readonly front: Front;
  readonly fleet: Fleet;
  readonly folder: string;
  readonly client: (address: string) => Client;
}

async function checkNginx({ folder, say, signal }: CheckRun): Promise<string> {
  install('nginx', 'openssl');
  const ends: (() => unknown)[] = [];
  const step = (text: string): void => {
    signal.throwIfAborted();
    say(text);
  };
  try {
    step('two processes of serpcache, and nginx');
    const fleet = await startFleet(folder);
    ends.push(fleet.stop);
    const front = await startFront({ folder, upstreamPorts: fleet.ports });
    ends.push(front.stop);
    const client = (address: string): Client => {
      const made = clientOf(front, address);
      ends.push(made.close);
      return made;
    };
    const site: Site = { front, fleet, folder, client };

    step('hits, variants, 304, the switch');
    await checkHits(site);
    await checkSwitch(site);
    step('lifetimes');
    await checkLifetimes(site);
    await checkErrors(site);
    step('limits, and paths that are closed');
    const refused = await checkLimits(front, fleet);
    await checkClosed(front);
    step('a suppression');
    const hiddenMs = await checkSuppression(site);
    step('restarts under load');
    const asked = await checkRestarts(site);
    step('no process is left');
    await checkOutage(site);
    return [
      'a clean nginx -t; hits, variants, 304, stale pages, problems and closed paths as README.md says',
      `${refused} of 100 requests at once refused`,
      `a suppression seen after ${Math.round(hiddenMs)} ms`,
      `${asked} requests during restarts of each process and a reload, none lost`,
    ].join('; ');
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

async function checkHits({ client, fleet }: Site): Promise<void> {
  const one = client('127.0.0.10');
  const path = searchPath('alpha');
  const first = await one.ask({ path, headers: { 'x-request-id': 'first' } });
  const second = await one.ask({ path, headers: { 'x-request-id': 'second' } });
  hold(first.status === 200, `${path}: ${first.status} ${first.body}`);
  sees(first, /^serpcache-l1; fwd=[^,]+, nginx; fwd=miss$/, 'a first request');
  sees(second, /^serpcache-l1; fwd=[^,]+, nginx; hit$/, 'a second one');
  hold(second.body === first.body, 'a hit has another body');
  for (const name of ['etag', 'date', 'age'])
    hold(
      first.headers[name] !== undefined && first.headers[name] === second.headers[name],
      `a hit has another ${name}`,
    );
  hold(second.headers['server-timing'] === undefined, 'a hit has the Server-Timing of another request');
  const ids = [first, second].map(({ headers }) => headers['x-request-id']);
  hold(ids.join() === 'first,second', `X-Request-Id first and second: ${ids.join()}`);
  hold(first.headers['x-accel-expires'] === undefined, 'X-Accel-Expires reaches the client');

  const gzip = { 'accept-encoding': 'gzip' };
  const variant = await one.ask({ path, headers: gzip });
  sees(variant, /, nginx; fwd=miss$/, 'the first request for gzip');
  hold(variant.headers['content-encoding'] === 'gzip', 'gzip was asked for, and the page is not compressed');
  sees(await one.ask({ path, headers: gzip }), /, nginx; hit$/, 'the second request for gzip');
  hold(variant.headers.etag !== first.headers.etag, 'both codings have one ETag');

  const confirmed = await one.ask({ path, headers: { 'if-none-match': String(first.headers.etag) } });
  hold(confirmed.status === 304 && confirmed.body === '', `If-None-Match with the ETag: ${confirmed.status}`);
  const head = await one.ask({ path, method: 'HEAD' });
  hold(head.status === 200 && head.body === '', `HEAD: ${head.status}, ${head.body.length} bytes`);

  // A field that serpcache's fast path does not know must not reach it: the connections of /search stay there.
  const before = await fleet.laneSearches();
  for (let at = 0; at < 10; at += 1)
    await one.ask({ path: searchPath('alpha', `&n=${at}`), headers: { 'x-odd': 'odd', cookie: 'a=b' } });
  const inLane = (await fleet.laneSearches()) - before;
  hold(inLane === 10, `${inLane} of 10 searches with unknown fields were read in the fast path of serpcache`);
}

async function checkSwitch({ client, folder }: Site): Promise<void> {
  const one = client('127.0.0.11');
  const path = searchPath('bravo');
  const file = join(folder, SWITCH);
  writeFileSync(file, '');
  await one.ask({ path });
  const off = await one.ask({ path });
  sees(off, /^serpcache-l1; [^,]+, nginx; fwd=bypass$/, 'a request while the microcache is off');
  rmSync(file);
  sees(await one.ask({ path }), /, nginx; fwd=miss$/, 'the first request after that');
}

/** The page stays in nginx for a second, whatever its max-age, then it is renewed in the background, then it is gone. */
async function checkLifetimes({ client, fleet }: Site): Promise<void> {
  const one = client('127.0.0.12');
  const path = searchPath('charlie');
  const bornMs = Date.now();
  await fleet.warm(path);
  await one.ask({ path });
  // Old enough that nginx would go by the difference between max-age and Age.
  await sleep(FRESH_MS + MAX_AGE_MS + 1500);
  const later = await one.ask({ path });
  sees(later, /^serpcache-l1; hit; [^,]+, nginx; fwd=stale$/, 'a request long after the last one');
  const [, maxAge = ''] = /max-age=(\d+)/.exec(String(later.headers['cache-control'])) ?? [];
  const age = Number(later.headers.age);
  hold(age >= 4 && Number(maxAge) === age + MAX_AGE_MS / 1000, `Age ${age} with max-age ${maxAge}`);
  hasAge(later, bornMs);
  await sleep(FRESH_MS + 1100);
  const stale = await one.ask({ path });
  sees(stale, new RegExp(`, ${STALE}$`), 'a request after the second of the microcache');
  hold(stale.headers['cache-control'] === 'no-cache', `a stale page says ${stale.headers['cache-control']}`);
  await until('the page was renewed in the background', async () => {
    const renewed = await one.ask({ path });
    if (!renewed.cacheStatus.endsWith('nginx; hit') || renewed.headers.date === stale.headers.date) return false;
    hasAge(renewed, bornMs);
    return true;
  });
}

/** By Age and by the time since Date, of which a cache takes the larger one (RFC 9111 §4.2.3), plus nginx's own second. */
function hasAge({ headers }: Reply, bornMs: number): void {
  const apparentMs = Math.max(Number(headers.age) * 1000, Date.now() - Date.parse(String(headers.date)));
  const errorMs = Date.now() - bornMs - apparentMs;
  hold(errorMs <= FRESH_MS + ROUNDED_MS, `a page seems ${Math.round(errorMs)} ms younger than it is`);
}

async function checkErrors({ client }: Site): Promise<void> {
  const one = client('127.0.0.13');
  for (const path of ['/search', '/search?q=alpha&domain=none', '/search?q=alpha&sort=nothing']) {
    for (const time of ['first', 'second']) {
      const reply = await one.ask({ path });
      hold(reply.status === 400 || reply.status === 404, `${path}: ${reply.status}`);
      hold(reply.cacheStatus === 'nginx; fwd=miss', `the ${time} ${path}: ${reply.cacheStatus}`);
      hold(JSON.parse(reply.body).code !== undefined, `${path} has no problem document`);
    }
  }
  const batch = { path: '/msearch', method: 'POST', headers: { 'content-type': 'application/json' } };
  for (const _ of [1, 2]) {
    const reply = await one.ask({ ...batch, body: JSON.stringify({ searches: [{ q: 'alpha' }] }) });
    hold(reply.status === 200, `/msearch: ${reply.status} ${reply.body}`);
    hold(!reply.cacheStatus.includes('nginx'), `/msearch: ${reply.cacheStatus}`);
  }
  const page = await one.ask({ path: '/?q=alpha' });
  hold(page.status === 200 && page.cacheStatus === '', `the page: ${page.status}, ${page.cacheStatus}`);
}

/** @returns the time from the change in both processes until a page that is asked for all the time is without it. */
async function checkSuppression({ client, fleet }: Site): Promise<number> {
  const one = client('127.0.0.14');
  const path = searchPath('delta');
  const id = '"d-1"';
  const before = await one.ask({ path });
  hold(before.body.includes(id), `${path} does not find ${id}`);
  await fleet.admin('/admin/suppress', { domain: 'goods', ids: ['d-1'] });
  const tookMs = await until(`${id} is hidden`, async () => !(await one.ask({ path })).body.includes(id), 100);
  const boundMs = FRESH_MS + MAX_AGE_MS;
  hold(tookMs <= boundMs + ROUNDED_MS, `a suppression was seen after ${Math.round(tookMs)} ms, not ${boundMs}`);
  return tookMs;
}

/** Each process is ended and started again, and nginx reads its file again, while clients ask. @returns their requests. */
async function checkRestarts({ client, fleet, front }: Site): Promise<number> {
  const ending = new AbortController();
  const ask = async (address: string): Promise<number> => {
    const one = client(address);
    let count = 0;
    for (; !ending.signal.aborted; count += 1) {
      // A parameter of no meaning: a page of its own in nginx, one page in serpcache.
      const reply = await one.ask({ path: searchPath('alpha', `&n=${address}-${count}`) });
      hold(reply.status === 200, `during a restart: ${reply.status} ${reply.body}`);
      await sleep(70);
    }
    return count;
  };
  const asking = Promise.all(Array.from({ length: 8 }, (_, at) => ask(`127.0.1.${at + 1}`)));
  // It is awaited below; a failure meanwhile must not end the program.
  asking.catch(() => {});
  try {
    for (const at of [0, 1]) {
      await fleet.restart(at);
      await sleep(FAIL_TIMEOUT_MS + 500);
    }
    await front.reload();
    await sleep(500);
  } finally {
    ending.abort();
  }
  const counts = await asking;
  return counts.reduce((sum, count) => sum + count, 0);
}

async function checkOutage({ client, fleet }: Site): Promise<void> {
  const one = client('127.0.0.15');
  const path = searchPath('alpha', '&kept');
  await one.ask({ path });
  await fleet.kill();
  await sleep(FRESH_MS + MAX_AGE_MS + 1500);
  const kept = await one.ask({ path });
  hold(kept.status === 200, `no process is left, and a page that nginx has: ${kept.status}`);
  sees(kept, /, nginx; fwd=stale; fwd-status=50[24]; detail=stale-if-error$/, 'no process is left: a page');
  hold(kept.headers['cache-control'] === 'no-cache', `it says ${kept.headers['cache-control']}`);
  const unknown = await one.ask({ path: searchPath('echo') });
  const { code }: { readonly code?: string } = JSON.parse(unknown.body);
  hold(unknown.status === 502 && code === 'nginx-502', `no process is left: ${unknown.status} ${unknown.body}`);
  hold(Number(unknown.headers['retry-after']) >= 1, 'a 502 without Retry-After');
}

function sees({ cacheStatus }: Reply, expected: RegExp, what: string): void {
  hold(expected.test(cacheStatus), `${what} has Cache-Status ${cacheStatus}, not ${expected.source}`);
}

/** @returns the time it took. */
async function until(what: string, holds: () => Promise<boolean>, betweenMs = POLL_MS): Promise<number> {
  const startedMs = performance.now();
  while (!(await holds())) {
    hold(performance.now() - startedMs < CHANGE_LIMIT_MS, `within ${CHANGE_LIMIT_MS / 1000} s it never was: ${what}`);
    await sleep(betweenMs);
  }
  return performance.now() - startedMs;
}
