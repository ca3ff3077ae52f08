import { createClient } from '../../../loadtest/traffic/client.ts';
import type { Bed } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import { type Crowd, gatherCrowd } from '../crowd.ts';
import type { Row } from '../row.ts';

/** Clients that hold, trickle, do not read, or ask only what nobody asked. Everybody else notices nothing. */
export const CLIENTS: readonly Row[] = [
  crowdRow({
    name: 'idle-clients',
    says: '10,000 connections that say nothing cost memory in proportion and nobody time',
    faultMs: 6000,
    changes: { public: { maxConnections: 12_000 } },
    gather: (port) => gatherCrowd({ port, size: 10_000 }),
    // About 20 KiB of node and kernel for each.
    bounds: { peakRssRatio: 3 },
  }),
  crowdRow({
    name: 'slowloris',
    says: 'headers that never end are cut off, and nobody waits for them',
    faultMs: 14_000,
    gather: (port) =>
      gatherCrowd({
        port,
        size: 1000,
        greeting: 'GET /search?q=x HTTP/1.1\r\nHost: slow\r\n',
        trickle: (member) => `X-${member}: y\r\n`,
      }),
    check: (crowd) => (crowd.closed() >= 900 ? [] : [`${crowd.closed()} of 1000 trickling connections were closed`]),
  }),
  crowdRow({
    name: 'deaf-clients',
    says: 'clients that ask and do not read their answers hold a bounded part of memory',
    faultMs: 5000,
    gather: (port) =>
      gatherCrowd({
        port,
        size: 100,
        // Pipelined, far more than a socket's buffers hold.
        greeting: `GET /search?q=${encodeURIComponent('кресло')}&limit=100 HTTP/1.1\r\nHost: deaf\r\n\r\n`.repeat(30),
        deaf: true,
      }),
    bounds: { peakRssRatio: 3 },
  }),
  {
    name: 'crowded-out',
    says: 'more connections than are allowed are refused, and those that are there go on',
    changes: { public: { maxConnections: 600 } },
    ...withCrowd((port) => gatherCrowd({ port, size: 1500 })),
    // A new connection of the stream's may be refused like anybody's; the old ones may not.
    bounds: { brokenConnections: 0.02, unansweredDuring: 0.1, knownUnansweredDuring: 0.1, unansweredAfter: 0.05 },
  },
  {
    name: 'crawler',
    says: "one client that asks only new searches spends its own budget and nobody else's",
    faultMs: 5000,
    changes: {
      public: { missBudget: { perMinute: 300, burst: 50 }, trustedProxies: ['127.0.0.1'] },
    },
    ...crawler(),
  },
];

function crowdRow(given: {
  readonly name: string;
  readonly says: string;
  readonly faultMs: number;
  readonly changes?: Row['changes'];
  readonly bounds?: Row['bounds'];
  readonly gather: (port: number) => Promise<Crowd>;
  readonly check?: (crowd: Crowd) => readonly string[];
}): Row {
  const { gather, check, changes = {}, bounds = {}, ...row } = given;
  return { ...row, changes, bounds, ...withCrowd(gather, check) };
}

function withCrowd(
  gather: (port: number) => Promise<Crowd>,
  check: (crowd: Crowd) => readonly string[] = () => [],
): Required<Pick<Row, 'begin' | 'end' | 'check'>> {
  const crowds = new WeakMap<Bed, Crowd>();
  let broken: readonly string[] = [];
  return {
    begin: async (bed) => {
      crowds.set(bed, await gather(Number(new URL(bed.subject.url).port)));
    },
    end: async (bed) => {
      const crowd = crowds.get(bed);
      if (crowd === undefined) return;
      broken = check(crowd);
      await crowd.disperse();
    },
    check: () => broken,
  };
}

const CRAWLS_PER_SECOND = 200;

/** It comes from one address; the stream's people come from many. */
function crawler(): Required<Pick<Row, 'begin' | 'end' | 'check'>> {
  const statuses = new Map<number, number>();
  let crawling = Promise.resolve();
  let leave = (): void => {};
  return {
    begin: async (bed) => {
      statuses.clear();
      const client = createClient({ baseUrl: bed.subject.url, boundMs: HUNG_MS, maxConnections: 64 });
      const open = new Set<Promise<void>>();
      const crawl = async (): Promise<void> => {
        const target = `/search?q=${encodeURIComponent(bed.once())}&limit=7`;
        const reply = await client.get(target, { 'x-forwarded-for': '192.0.2.1' });
        const status = reply.kind === 'answer' ? reply.status : 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      };
      const timer = setInterval(() => {
        const one = crawl().finally(() => open.delete(one));
        open.add(one);
      }, 1000 / CRAWLS_PER_SECOND);
      leave = () => {
        clearInterval(timer);
        crawling = Promise.all(open).then(() => client.close());
      };
    },
    end: async () => {
      leave();
      await crawling;
    },
    check: () => {
      const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
      const answered = statuses.get(200) ?? 0;
      const refused = statuses.get(429) ?? 0;
      const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      // 50 at once and 5 a second.
      if (answered > 150) return [`the crawler got ${answered} new pages of ${total} (${told}), at most 150`];
      return refused + answered === total ? [] : [`the crawler was refused otherwise than by 429: ${told}`];
    },
  };
}
