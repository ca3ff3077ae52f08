import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { decodeEntry, encodeEntry } from '../../src/cache/codec.ts';
import { createSigning } from '../../src/cache/signing.ts';
import { purge, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { createControl } from '../../src/control/create-control.ts';
import { MAX_PURGES, MAX_RANGES, MAX_SUPPRESSED } from '../../src/control/document.ts';
import { searchDomainOf } from '../../src/engines/create-engines.ts';
import { systemClock } from '../../src/runtime.ts';
import type { HostPort } from '../../src/schema/units.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { openAdapter } from '../labs/experiments/adapter.ts';
import type { Service } from './processes.ts';
import { EXPIRY_DIGITS } from './server.ts';

/** An answer as another server can repeat it. */
export interface Page {
  /** In their order, without those that every answer has of its own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a POST of JSON. */
  readonly body?: string;
}

const OWN = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'x-request-id'];

/** The bytes as sent, compressed or not. @throws unless the status is 200. */
export async function fetchPage(url: string, { headers = {}, body }: Asked = {}): Promise<Page> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = request(url, { method: body === undefined ? 'GET' : 'POST', headers: { ...type, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = Buffer.concat(await response.toArray());
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode} ${bytes}`);
  const fields = Object.entries(response.headers).filter(([name]) => !OWN.includes(name));
  return { headers: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])), body: bytes };
}

export const PAGE_BYTES = 4096;

/** The search whose page comes nearest to 4 KiB. */
export async function pageOfSize(baseUrl: string): Promise<string> {
  const sized: { target: string; off: number }[] = [];
  for (let limit = 4; limit <= 24; limit += 1) {
    const target = `/search?q=${encodeURIComponent('кроссовки')}&limit=${limit}&facet=city`;
    const { body } = await fetchPage(baseUrl + target);
    sized.push({ target, off: Math.abs(body.length - PAGE_BYTES) });
  }
  return sized.sort((a, b) => a.off - b.off)[0]?.target ?? '';
}

/** The key of a target, as this service computes it. */
export function preparedBy({ settings }: Service) {
  const domains = settings.domains.map(searchDomainOf);
  return (target: string) => {
    const pairs = [...new URLSearchParams(target.slice(target.indexOf('?')))];
    return prepareSearch({ pairs }, domains);
  };
}

interface FillOptions {
  readonly store: { readonly host: string; readonly port: number };
  readonly count: number;
  /** Stores the body alone as well, under the URL, for servers that do not read entries. */
  readonly withBodies?: true;
  readonly signingKey?: string;
  /** Pads the page with spaces to this size. */
  readonly bodyBytes?: number;
}

const BATCH = 500;
const STORED_MS = 5000;

/**
 * Stores one page of 4 KiB as the entries of many searches: each has another upper bound, which no price reaches. Entries
 * are encoded here, because the engine would need minutes for 100,000. @returns the targets.
 */
export async function fillStore(service: Service, options: FillOptions): Promise<readonly string[]> {
  const { store, count, withBodies, signingKey, bodyBytes } = options;
  const page = await pageOfSize(service.url);
  const { body } = await fetchPage(service.url + page);
  const prepared = preparedBy(service);
  const { storeName, canonical } = prepared(page);
  const redis = new Redis({ ...store });
  try {
    const entry = decodeEntry(await written(redis, storeName), canonical, systemClock);
    if (entry.kind !== 'entry') throw new Error(`the entry of ${page} is ${entry.kind}`);
    const parts = { ...entry.entry, resultIds: [], ...(bodyBytes !== undefined && { body: padded(body, bodyBytes) }) };
    const signing = signingKey === undefined ? undefined : createSigning({ key: signingKey, required: false }, 'goods');
    const targets = Array.from({ length: count }, (_, at) => `${page}&filter=price:..${80_000_000 + at}`);
    for (let from = 0; from < count; from += BATCH) {
      const pipeline = redis.pipeline();
      for (const target of targets.slice(from, from + BATCH)) {
        const own = prepared(target);
        const { encoded } = encodeEntry({ ...parts, canonical: own.canonical }, systemClock, signing);
        pipeline.set(own.storeName, encoded);
        if (withBodies) pipeline.set(target, Buffer.concat([Buffer.from('9'.repeat(EXPIRY_DIGITS)), body]));
      }
      await pipeline.exec();
    }
    return targets;
  } finally {
    redis.disconnect();
  }
}

const padded = (body: Buffer, bytes: number): Buffer => Buffer.concat([body, Buffer.alloc(bytes - body.length, ' ')]);

/** The service writes an entry after it has answered. */
async function written(redis: Redis, name: string): Promise<Buffer> {
  for (const untilMs = performance.now() + STORED_MS; performance.now() < untilMs; await sleep(20)) {
    const value = await redis.getBuffer(name);
    if (value !== null) return value;
  }
  throw new Error('the service did not store its page');
}

/** Every process has followed the document after this time. */
const FOLLOWED_MS = 1500;

/**
 * Writes a document with the maximum number of purges, suppressions and ranges. None of them matches the measured page or
 * its `bucket`, and every hit of an older entry checks all of them.
 */
export async function fillDocument(domain: string, node: HostPort, bucket: number): Promise<void> {
  const store = openAdapter({ target: node, deadlineMs: 1000 });
  const control = createControl({
    domain,
    store: store.control,
    shared: true,
    locate: () => undefined,
    clock: systemClock,
    random: Math.random,
    observe: () => undefined,
    longestLifeMs: 3_600_000,
    deadlineMs: 1000,
  });
  while (!control.hasSynced()) await sleep(20);
  const atMs = systemClock.wallMs();
  const away = (bucket + 5000) % 9000;
  await control.change((empty) => {
    let document = empty;
    for (let at = 0; at < MAX_RANGES; at += 1) {
      document = raiseFreshFloors(document, [{ from: away + 2 * at, to: away + 2 * at + 1 }], atMs);
    }
    for (let at = 0; at < MAX_PURGES; at += 1) document = purge(document, `nobody asks ${at}`, atMs);
    return suppress(
      document,
      Array.from({ length: MAX_SUPPRESSED }, (_, at) => `no document ${at}`),
      atMs,
    );
  });
  await sleep(FOLLOWED_MS);
  await control.close();
  await store.close();
}
