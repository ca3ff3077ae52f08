import { createClient } from '../../../loadtest/traffic/client.ts';
import { connectionsToSubject, faultEffect, subjectPort, unreadConnections } from '../fault-effects.ts';
import { openRawConnections, type RawConnections } from '../raw-connections.ts';
import type { Row } from '../row.ts';
import { HUNG_MS } from '../service.ts';

/** Clients that hold, trickle, do not read, or ask only what nobody asked. Everybody else notices nothing. */
export const CLIENTS: readonly Row[] = [
  {
    name: 'idle-clients',
    summary: '10,000 connections that say nothing cost memory in proportion and nobody time',
    faultMs: 6000,
    changes: { public: { maxConnections: 12_000 } },
    ...withCrowd((port) => openRawConnections({ port, size: 10_000 })),
    effect: faultEffect(
      'connections to the subject',
      connectionsToSubject,
      (before, during) => during - before >= 9900,
    ),
    // About 20 KiB of node and kernel for each.
    bounds: { peakRssRatio: 3 },
  },
  {
    name: 'slowloris',
    summary: 'headers that never end are cut off, and nobody waits for them',
    faultMs: 14_000,
    ...withCrowd(
      (port) =>
        openRawConnections({
          port,
          size: 1000,
          greeting: 'GET /search?q=x HTTP/1.1\r\nHost: slow\r\n',
          trickle: (member) => `X-${member}: y\r\n`,
        }),
      {
        // A header of each, after the first ones.
        proves: ({ connected, writes }) => connected >= 990 && writes >= 1000,
        check: ({ closed }) => (closed >= 900 ? [] : [`${closed} of 1000 trickling connections were closed`]),
      },
    ),
  },
  {
    name: 'deaf-clients',
    summary: 'clients that ask and do not read their answers hold a bounded part of memory',
    faultMs: 5000,
    ...withCrowd((port) =>
      openRawConnections({
        port,
        size: 100,
        // Pipelined, far more than a socket's buffers hold.
        greeting: `GET /search?q=${encodeURIComponent('кресло')}&limit=100 HTTP/1.1\r\nHost: deaf\r\n\r\n`.repeat(30),
        neverRead: true,
      }),
    ),
    effect: faultEffect(
      'connections with unread answers',
      unreadConnections,
      (before, during) => during - before >= 90,
    ),
    bounds: { peakRssRatio: 3 },
  },
  {
    name: 'crowded-out',
    summary: 'more connections than are allowed are refused, and those that are there go on',
    changes: { public: { maxConnections: 600 } },
    ...withCrowd((port) => openRawConnections({ port, size: 1500 }), {
      proves: ({ connected }) => connected > 600,
      check: ({ closed }) => (closed >= 900 ? [] : [`${closed} of 1500 connections were closed, 600 are allowed`]),
    }),
    // A new connection of the stream's may be refused like anybody's; the old ones may not.
    bounds: { brokenConnections: 0.02, unansweredDuring: 0.1, knownUnansweredDuring: 0.1, unansweredAfter: 0.05 },
  },
  {
    name: 'crawler',
    summary: "one client that asks only new searches spends its own budget and nobody else's",
    faultMs: 5000,
    changes: {
      public: { missBudget: { perMinute: 300, burst: 50 }, trustedProxies: ['127.0.0.1'] },
    },
    ...crawler(),
  },
];

interface CrowdCounts {
  readonly connected: number;
  readonly closed: number;
  readonly writes: number;
}

/** The crowd stays from the beginning of the fault to its end; what it counted is told when it goes. */
function withCrowd(
  gather: (port: number) => Promise<RawConnections>,
  {
    proves = () => false,
    check = () => [],
  }: {
    readonly proves?: (during: CrowdCounts) => boolean;
    readonly check?: (atEnd: CrowdCounts) => readonly string[];
  } = {},
): Required<Pick<Row, 'begin' | 'end' | 'effect' | 'check'>> {
  let crowd: RawConnections | undefined;
  let broken: readonly string[] = [];
  const counts = (): CrowdCounts => ({
    connected: crowd?.connected() ?? 0,
    closed: crowd?.closed() ?? 0,
    writes: crowd?.writes() ?? 0,
  });
  return {
    begin: async (harness) => {
      crowd = await gather(subjectPort(harness));
    },
    end: async () => {
      broken = check(counts());
      const gone = crowd;
      crowd = undefined;
      await gone?.close();
    },
    effect: faultEffect('what the crowd counted', counts, (before, during) => before.connected === 0 && proves(during)),
    check: () => ({ broken }),
  };
}

const CRAWLS_PER_SECOND = 200;
/** 50 at once and 5 a second. */
const MOST_CRAWLED = 150;

/** It comes from one address; the stream's people come from many. */
function crawler(): Required<Pick<Row, 'begin' | 'end' | 'effect' | 'check'>> {
  /** By status; 0 without an answer. */
  const statuses = new Map<number, number>();
  const total = (): number => [...statuses.values()].reduce((sum, count) => sum + count, 0);
  let crawling = Promise.resolve();
  let leave = (): void => {};
  return {
    begin: async (harness) => {
      const client = createClient({ baseUrl: harness.subject.url, boundMs: HUNG_MS, maxConnections: 64 });
      const open = new Set<Promise<void>>();
      const crawl = async (): Promise<void> => {
        const target = `/search?q=${encodeURIComponent(harness.newSearch())}&limit=7`;
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
    effect: {
      watch: (harness) => {
        statuses.clear();
        return faultEffect(
          'searches of the crawler that ended',
          total,
          (_before, during) => during > 2 * MOST_CRAWLED,
        ).watch(harness);
      },
    },
    check: () => {
      const answered = statuses.get(200) ?? 0;
      const refused = statuses.get(429) ?? 0;
      const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      if (total() === 0) return { unmeasured: ['what the crawler got'] };
      return {
        broken: [
          ...(answered > MOST_CRAWLED
            ? [`the crawler got ${answered} new pages (${told}), at most ${MOST_CRAWLED}`]
            : []),
          ...(refused + answered < total() ? [`the crawler was refused otherwise than by 429: ${told}`] : []),
        ],
      };
    },
  };
}
