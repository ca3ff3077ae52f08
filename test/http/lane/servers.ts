import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { Entry } from '../../../src/cache/entry.ts';
import { createPublicServer } from '../../../src/http/search-api/public-server.ts';
import { parseQueryString } from '../../../src/http/transport/request-target.ts';
import { type NoPageReason, SearchError } from '../../../src/resilience/search-error.ts';
import type { Clock } from '../../../src/runtime.ts';
import type { PreparedSearch } from '../../../src/search/key.ts';
import type { Answer } from '../../../src/search/read-path.ts';
import { createFakeSearch, type FakeSearch } from '../../fakes/search.ts';
import { injectorOf } from '../harness.ts';

/** Limits of the listeners, which the streams approach. */
export const LIMITS = { maxUrlBytes: 4096, maxHeadBytes: 4096 + 16 * 1024, maxBodyBytes: 64 * 1024 };

/** The server's end of one connection, and its requests in Node. */
export interface Served {
  readonly socket: Socket;
  /** Requests that Node's parser has read. */
  requests: number;
  /** Requests that Node's parser has read and that are not answered. */
  pending: number;
}

/** A public server with everything that the comparison reads. */
export interface Side {
  readonly name: 'lane' | 'alone';
  /** The path of the Unix socket. */
  readonly path: string;
  /** The next accepted connection belongs to this call. */
  readonly nextConnection: (accepted: (served: Served) => void) => void;
  /** Lets the searches end whose text contains this word. @returns their number. */
  readonly release: (word: string) => number;
  /** Events and log lines since the last call, without durations and generated ids. */
  readonly takeReports: () => readonly string[];
  readonly log: (on: boolean) => void;
  readonly memory: Map<string, Entry>;
  readonly fill: (target: string) => Promise<unknown>;
  readonly close: () => Promise<unknown>;
}

/** Two servers over the same content at the same time: one with the lane and one without it. */
export interface Sides {
  readonly lane: Side;
  readonly alone: Side;
  /** Moves the clock by a multiple of `CLOCK_STEP_MS`. */
  readonly advance: (ms: number) => void;
  /** Puts one version of each page into both memories. */
  readonly put: (targets: readonly string[], version: number) => Promise<void>;
  readonly remove: (target: string) => void;
  /** Whether searches get log lines from now on, hits too. */
  readonly log: (on: boolean) => void;
  readonly etagOf: (target: string) => string;
  /** The ages, in seconds, that pages with this tag in memory have now. */
  readonly agesOf: (etag: string) => readonly number[];
  readonly close: () => Promise<void>;
}

/**
 * Ages and lifetimes are shown in whole seconds. Times of entries and batches are multiples of this step, and the reads of
 * the clock within a batch add less than one step, so both servers show the same second.
 */
export const CLOCK_STEP_MS = 50;
/** Each read of the clock takes one to five of these, so that measured durations are neither zero nor constant. */
const READ_MS = 0.001;
const FRESH_MS = 120_000;
/** A page is served stale for this time. */
const STALE_MS = 30_000;
const START_MS = 1_000_000;
const START_WALL_MS = Date.parse('2026-11-20T12:00:00Z');

export async function startSides(lane: 'auto' | 'off' = 'auto'): Promise<Sides> {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-lane-'));
  let baseMs = START_MS;
  const clocks = { lane: readClock(() => baseMs), alone: readClock(() => baseMs) };
  const start = (name: Side['name'], option: 'auto' | 'off') =>
    startSide({ name, lane: option, path: join(folder, name), clock: clocks[name].clock });
  const [fast, alone] = await Promise.all([start('lane', lane), start('alone', 'off')]);
  const pageOf = createPages();
  const first = new Map<string, string>();

  return {
    lane: fast,
    alone,
    advance: (ms) => {
      baseMs += ms;
      for (const { restart } of Object.values(clocks)) restart();
    },
    put: async (targets, version) => {
      const pages = await Promise.all(targets.map((target) => pageOf(target, version)));
      const fills = pages.flatMap(({ target, key, entry }) => {
        if (!first.has(target)) first.set(target, entry.etag);
        const born = { ...entry, bornMs: baseMs };
        return [fast, alone].map((side) => {
          side.memory.set(key, born);
          // The inflated page is cached from now on, so that no later answer waits for another thread.
          return side.fill(target);
        });
      });
      await Promise.all(fills);
      for (const side of [fast, alone]) side.takeReports();
    },
    remove: (target) => {
      const { key } = preparedOf(fast, target);
      for (const side of [fast, alone]) side.memory.delete(key);
    },
    log: (on) => {
      for (const side of [fast, alone]) side.log(on);
    },
    etagOf: (target) => first.get(target) ?? 'none',
    agesOf: (etag) => {
      const same = [...fast.memory.values()].filter((entry) => entry.etag === etag);
      return same.map(({ bornMs }) => Math.floor((baseMs - bornMs) / 1000));
    },
    close: async () => {
      await Promise.all([fast.close(), alone.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readClock(baseMs: () => number) {
  let [calls, reads] = [0, 0];
  const clock: Clock = {
    wallMs: () => START_WALL_MS + baseMs() - START_MS,
    monotonicMs: () => {
      calls += 1;
      reads += 1 + (calls % 5);
      return baseMs() + reads * READ_MS;
    },
  };
  return {
    clock,
    restart: () => {
      if (reads * READ_MS >= CLOCK_STEP_MS) throw new Error('a batch read the clock too often');
      reads = 0;
    },
  };
}

/** The pages of the memory, each made once: every second one is stored as gzip. */
function createPages() {
  const known = new Map<string, Promise<{ readonly target: string; readonly key: string; readonly entry: Entry }>>();
  const make = async (target: string, version: number) => {
    const coding = target.length % 2 === 0 ? 'gzip' : 'identity';
    const clock: Clock = { wallMs: () => START_WALL_MS, monotonicMs: () => START_MS };
    const search = createFakeSearch({ clock, coding, results: 1 + version });
    const prepared = prepare(search, target);
    const { entry } = await search.computed(prepared);
    return { target, key: prepared.key, entry: { ...entry, freshForMs: FRESH_MS } };
  };
  return (target: string, version: number) => {
    const name = `${version} ${target}`;
    const page = known.get(name) ?? make(target, version);
    known.set(name, page);
    return page;
  };
}

function prepare(search: Pick<FakeSearch, 'prepare'>, target: string): PreparedSearch {
  return search.prepare({ pairs: parseQueryString(target.slice(target.indexOf('?') + 1)), header: () => undefined });
}

const preparers = new WeakMap<Side, Pick<FakeSearch, 'prepare'>>();

function preparedOf(side: Side, target: string): PreparedSearch {
  const search = preparers.get(side);
  if (search === undefined) throw new Error('no such server');
  return prepare(search, target);
}

interface SideOptions {
  readonly lane: 'auto' | 'off';
  readonly name: Side['name'];
  readonly path: string;
  readonly clock: Clock;
}

async function startSide({ name, lane, path, clock }: SideOptions): Promise<Side> {
  const { fake, release } = scriptedSearch(clock);
  let reports: string[] = [];
  const report = (event: object): void => void reports.push(JSON.stringify({ ...event, durationMs: undefined }));
  const write = (line: string): void => void reports.push(lineReport(JSON.parse(line)));
  const log = pino({ level: 'silent' }, { write });
  const server = createPublicServer({
    domains: fake.domains,
    observe: report,
    observeConnection: report,
    observeToken: report,
    log,
    clock,
    ...LIMITS,
    random: () => 0.5,
    maxPageBytes: 1_000_000,
    maxConnections: 4096,
    maxInFlight: 4096,
    maxLoopDelayMs: 600_000,
    drainMs: 1000,
    lameDuckMs: 0,
    hitSample: 1,
    version: '0.0.0',
    lane,
  });
  await server.app.ready();
  const http = server.app.server;
  const expected: ((served: Served) => void)[] = [];
  const known = new WeakMap<object, Served>();
  http.on('connection', (socket) => {
    // client-error.ts connects streams in memory too.
    if (!(socket instanceof Socket)) return;
    const served: Served = { socket, requests: 0, pending: 0 };
    known.set(socket, served);
    expected.shift()?.(served);
  });
  const count = (request: IncomingMessage, response: ServerResponse): void => {
    const served = known.get(request.socket);
    if (served === undefined) return;
    served.requests += 1;
    served.pending += 1;
    response.once('close', () => {
      served.pending -= 1;
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) http.on(event, count);
  await new Promise<void>((resolve) => http.listen(path, resolve));

  const inject = injectorOf(server.app);
  const side: Side = {
    name,
    path,
    release,
    log: (on) => {
      log.level = on ? 'info' : 'silent';
    },
    memory: fake.memory,
    nextConnection: (accepted) => void expected.push(accepted),
    takeReports: () => {
      const taken = reports.filter((one) => one !== REFUSAL_LINE);
      reports = [];
      return taken;
    },
    fill: (target) => inject({ url: target, headers: { host: 't', 'accept-encoding': 'identity' } }),
    close: () => server.close(),
  };
  preparers.set(side, fake);
  return side;
}

/** A generated request id, see createRequestIds; the streams send none of this form. */
export const GENERATED_ID = /^[0-9a-z]{12,14}-[0-9a-z]+$/;
/** Members of log lines that differ between two servers, at any depth. */
const VARIABLE = ['ms', 'duration_ms', 'time', 'pid', 'hostname', 'stack'];
/** The number of lines of refusals is limited, so their order decides which ones there are. */
const REFUSAL_LINE = 'a line of a refusal';
const THROTTLED = ['shed', 'rejected', 'aborted'];

function lineReport(line: Record<string, unknown>): string {
  if (THROTTLED.includes(String(line['outcome']))) return REFUSAL_LINE;
  const { requestId } = line;
  const named = typeof requestId === 'string' && GENERATED_ID.test(requestId) ? { ...line, requestId: '#' } : line;
  return `line ${JSON.stringify(named, (key, value) => (VARIABLE.includes(key) ? undefined : value))}`;
}

/** The first word of a text decides how its search ends when memory has no page. */
function scriptedSearch(clock: Clock) {
  const fake = createFakeSearch({ clock, results: 1 });
  const made = new Map<string, Answer>();
  /** A page that is not kept: it is born when it is asked for. */
  const computed = async (prepared: PreparedSearch, parts: Partial<Answer> = {}): Promise<Answer> => {
    const known = made.get(prepared.key) ?? (await fake.computed(prepared));
    if (made.size >= MAX_MADE) made.clear();
    made.set(prepared.key, known);
    return { ...known, entry: { ...known.entry, bornMs: clock.monotonicMs() }, ...parts };
  };
  const held: { readonly text: string; readonly resume: () => void }[] = [];
  fake.answer = async (prepared): Promise<Answer> => {
    const { text } = prepared.request;
    const [kind = '', code = ''] = text.split(' ');
    switch (kind) {
      case 'slow':
        await new Promise<void>((resume) => held.push({ text, resume }));
        return computed(prepared);
      case 'stored':
        return computed(prepared, { outcome: 'hit-l2', l2: { kind: 'hit' }, timings: { l2Ms: 0.8 } });
      case 'lost':
        throw new SearchError(SEARCH_REASONS[code.length % SEARCH_REASONS.length] ?? 'queue-full');
      case 'broken':
        throw new Error('broken');
      default:
        return computed(prepared);
    }
  };
  fake.fromMemory = (prepared: PreparedSearch): Answer | undefined => {
    const entry = fake.memory.get(prepared.key);
    if (entry === undefined) return undefined;
    const remainingMs = entry.freshForMs - (clock.monotonicMs() - entry.bornMs);
    if (remainingMs <= -STALE_MS) return undefined;
    const outcome = remainingMs > 0 ? 'hit-l1' : 'stale';
    return { entry, outcome, remainingMs, l1: { kind: 'hit' }, timings: {} };
  };
  return {
    fake,
    release: (word: string): number => {
      const ending = held.filter(({ text }) => text.split(' ').includes(word));
      for (const one of ending) held.splice(held.indexOf(one), 1);
      for (const { resume } of ending) resume();
      return ending.length;
    },
  };
}

/** Making a page again and again would take a tenth of the time. */
const MAX_MADE = 1000;

const SEARCH_REASONS: readonly NoPageReason[] = [
  'queue-full',
  'breaker-open',
  'engine-deadline',
  'engine-unavailable',
  'engine-rejected',
];
