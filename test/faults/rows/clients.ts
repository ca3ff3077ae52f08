import { createClient } from '../../../loadtest/http-driver/client.ts';
import { openLoop } from '../../../loadtest/http-driver/loops.ts';
import { HUNG_MS } from '../configuration.ts';
import { connectionsToSubject, faultEffect, subjectPort, unreadConnections } from '../fault-effects.ts';
import { openRawConnections, type RawConnections } from '../raw-connections.ts';
import type { Row } from '../row.ts';

/** Clients that stay idle, send slowly, do not read, or ask only new searches. Other clients are not affected. */
export const CLIENTS: readonly Row[] = [
  {
    name: 'idle-clients',
    summary: '10,000 idle connections cost memory in proportion and do not slow other clients',
    faultMs: 6000,
    changes: { public: { maxConnections: 12_000 } },
    ...withRawConnections((port) => openRawConnections({ port, size: 10_000 })),
    effect: faultEffect(
      'connections to the subject',
      connectionsToSubject,
      (before, during) => during - before >= 9900,
    ),
    // About 20 KiB per connection in node and the kernel.
    bounds: { peakRssRatio: 3 },
  },
  {
    name: 'slowloris',
    summary: 'connections with endless headers are closed and do not slow other clients',
    faultMs: 14_000,
    ...withRawConnections(
      (port) =>
        openRawConnections({
          port,
          size: 1000,
          greeting: 'GET /search?q=x HTTP/1.1\r\nHost: slow\r\n',
          trickle: (index) => `X-${index}: y\r\n`,
        }),
      {
        // Each connection has sent at least one further header.
        proves: ({ connected, writes }) => connected >= 990 && writes >= 1000,
        check: ({ closed }) => (closed >= 900 ? [] : [`${closed} of 1000 trickling connections were closed`]),
      },
    ),
  },
  {
    name: 'deaf-clients',
    summary: 'clients that ask and do not read their answers hold a bounded part of memory',
    faultMs: 5000,
    ...withRawConnections((port) =>
      openRawConnections({
        port,
        size: 100,
        // Pipelined requests whose answers exceed the socket's buffers.
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
    summary: 'connections above the limit are refused, and the established ones continue',
    changes: { public: { maxConnections: 600 } },
    ...withRawConnections((port) => openRawConnections({ port, size: 1500 }), {
      proves: ({ connected }) => connected > 600,
      check: ({ closed }) => (closed >= 900 ? [] : [`${closed} of 1500 connections were closed, 600 are allowed`]),
    }),
    // New connections of the stream may be refused as well; established ones may not.
    bounds: { brokenConnections: 0.02, unansweredDuring: 0.1, knownUnansweredDuring: 0.1, unansweredAfter: 0.05 },
  },
  {
    name: 'crawler',
    summary: 'one client that asks only new searches spends only its own budget',
    faultMs: 5000,
    changes: {
      public: { missBudget: { perMinute: 300, burst: 50 }, trustedProxies: ['127.0.0.1'] },
    },
    ...crawler(),
  },
];

interface ConnectionCounts {
  readonly connected: number;
  readonly closed: number;
  readonly writes: number;
}

/** Keeps the connections open from the start of the fault to its end and checks their counts at the end. */
function withRawConnections(
  openAll: (port: number) => Promise<RawConnections>,
  {
    proves = () => false,
    check = () => [],
  }: {
    readonly proves?: (during: ConnectionCounts) => boolean;
    readonly check?: (atEnd: ConnectionCounts) => readonly string[];
  } = {},
): Required<Pick<Row, 'begin' | 'end' | 'effect' | 'check'>> {
  let connections: RawConnections | undefined;
  let broken: readonly string[] = [];
  const counts = (): ConnectionCounts => ({
    connected: connections?.connected() ?? 0,
    closed: connections?.closed() ?? 0,
    writes: connections?.writes() ?? 0,
  });
  return {
    begin: async (harness) => {
      connections = await openAll(subjectPort(harness));
    },
    end: async () => {
      broken = check(counts());
      const closing = connections;
      connections = undefined;
      await closing?.close();
    },
    effect: faultEffect('what the crowd counted', counts, (before, during) => before.connected === 0 && proves(during)),
    check: () => ({ broken }),
  };
}

const CRAWLS_PER_SECOND = 200;
/** A burst of 50 and 5 a second for the duration of the fault, doubled. */
const MAX_CRAWLED = 150;

/** Sends new searches from one client address; the stream uses many addresses. */
function crawler(): Required<Pick<Row, 'begin' | 'end' | 'effect' | 'check'>> {
  /** Number of replies by status; status 0 without an answer. */
  const statuses = new Map<number, number>();
  const total = (): number => [...statuses.values()].reduce((sum, count) => sum + count, 0);
  let crawling = Promise.resolve();
  let stop = (): void => {};
  return {
    begin: async (harness) => {
      const client = createClient({ baseUrl: harness.subject.url, patienceMs: HUNG_MS, maxConnections: 64 });
      const crawl = async (): Promise<void> => {
        const target = `/search?q=${encodeURIComponent(harness.newSearch())}&limit=7`;
        const reply = await client.get(target, { 'x-forwarded-for': '192.0.2.1' });
        const status = reply.kind === 'answer' ? reply.status : 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      };
      const loop = openLoop({ ratePerSecond: CRAWLS_PER_SECOND, send: crawl });
      stop = () => {
        loop.stop();
        crawling = loop.ended.then(() => client.close());
      };
    },
    end: async () => {
      stop();
      await crawling;
    },
    effect: {
      watch: (harness) => {
        statuses.clear();
        return faultEffect(
          'searches of the crawler that ended',
          total,
          (_before, during) => during > 2 * MAX_CRAWLED,
        ).watch(harness);
      },
    },
    check: () => {
      const answered = statuses.get(200) ?? 0;
      const refused = statuses.get(429) ?? 0;
      const summary = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      if (total() === 0) return { unmeasured: ['what the crawler got'] };
      return {
        broken: [
          ...(answered > MAX_CRAWLED
            ? [`the crawler got ${answered} new pages (${summary}), at most ${MAX_CRAWLED}`]
            : []),
          ...(refused + answered < total() ? [`the crawler was refused otherwise than by 429: ${summary}`] : []),
        ],
      };
    },
  };
}
