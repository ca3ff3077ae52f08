import { countText } from '../../../src/report/format.ts';
import type { Chart } from '../kit/finding.ts';
import type { Experiment } from '../kit/lab.ts';
import { memtierFill, PUBLISHED_MIX } from '../kit/mix.ts';
import { fillFirst } from '../kit/table.ts';
import { roomHere, rungsOf } from './many-clients/room.ts';
import { BENCHMARK_FILL, startWideStore } from './many-clients/wide-store.ts';
import { type ClosedRow, closedLoopRows } from './reconnect/closed-loop-rows.ts';
import { reconnectLesson } from './reconnect/lesson.ts';
import { CLIENTS, KEPT_PUBLISHED_MS, MANNERS } from './reconnect/manner.ts';
import { type OtherRow, otherGenerator } from './reconnect/other-generator.ts';
import { PRICE_CLIENTS, type PriceRow, prices } from './reconnect/price.ts';
import { closedTable, otherTable, priceTable } from './reconnect/tables.ts';

/** A connection that was closed is the store's client until it looks, and as many may be so as there are clients. */
const SHARE_OF_ROOM = 0.5;

/** What it costs to open a new connection after every so many requests. */
export const reconnect: Experiment = {
  varies: 'a new connection after every 70th, 5th and every request, and never, with 200, 800 and 2,000 clients',
  parts: ['redis', 'openssl'],
  run: async (lab) => {
    const wide = await startWideStore(lab);
    const room = await roomHere(wide.store);
    const rungs = rungsOf(Math.floor(room.most * SHARE_OF_ROOM), CLIENTS);
    const closed = await closedLoopRows(lab, wide, rungs);
    const other = await otherGenerator(lab, wide, rungs);
    const priced = await prices(lab, wide);
    return {
      title: 'A new connection after every so many requests',
      published:
        'kept connections: 60 ms with 200 clients, 190 ms with 2,000, the store at 100 % CPU; a new one after every 5th request: about 600 ms at about 60 %; after every request: more than 1000 ms at 40–50 %. The store idles, and yet everybody waits',
      tables: [
        ...fillFirst(memtierFill(PUBLISHED_MIX), [closedTable(closed)]),
        priceTable(priced),
        ...fillFirst(BENCHMARK_FILL, [otherTable(other)]),
      ],
      charts: chartsOf(closed, priced, rungs),
      lesson: reconnectLesson({
        rows: closed.map((row) => ({ ...row, every: row.manner.every })),
        prices: pricesOf(priced),
      }),
      notes: [...roomNotes(rungs, room.why), ...notesOf(closed, other, rungs)],
    };
  },
};

/** None where there were as many clients as were published. */
function roomNotes(rungs: readonly number[], why: string): readonly string[] {
  const missing = CLIENTS.filter((clients) => !rungs.includes(clients)).map(countText);
  return missing.length === 0
    ? []
    : [
        `${missing.join(' and ')} clients were not measured: half of the room is left to connections that are closing. ${why}`,
      ];
}

function pricesOf(rows: readonly PriceRow[]) {
  return [false, true].flatMap((isTls) => {
    const us = (isKept: boolean): number | undefined =>
      rows.find((row) => row.isTls === isTls && (row.manner.every === undefined) === isKept)?.storeUs;
    const [anewUs, keptUs] = [us(false), us(true)];
    return anewUs === undefined || keptUs === undefined ? [] : [{ isTls, anewUs, keptUs }];
  });
}

function chartsOf(closed: readonly ClosedRow[], priced: readonly PriceRow[], rungs: readonly number[]): Chart[] {
  const places = rungs.map(countText);
  const perManner = (figure: (row: ClosedRow) => number) =>
    MANNERS.map((manner) => ({
      name: manner.name,
      values: rungs.map((clients) => {
        const row = closed.find((one) => one.manner === manner && one.clients === clients);
        return row && figure(row);
      }),
    }));
  return [
    {
      ...{ id: '', title: 'Mean latency, connecting included', across: 'clients', places },
      ...{ unit: 'ms', shape: 'lines', isLog: true },
      series: [
        ...perManner((row) => row.meanMs),
        { name: 'kept, published', isPublished: true, values: rungs.map((clients) => KEPT_PUBLISHED_MS[clients]) },
      ],
    },
    {
      ...{ id: 'store', title: 'Busy cores of the store', across: 'clients', places, unit: 'cores', shape: 'lines' },
      series: perManner((row) => row.storeCores),
    },
    {
      ...{ id: 'price', title: 'Processor time of the store for one command, at one rate', across: 'how it connects' },
      ...{ places: ['plain', 'TLS'], unit: 'us', shape: 'bars' },
      series: (['anewUs', 'keptUs'] as const).map((key) => ({
        name: key === 'keptUs' ? 'kept' : 'new each time',
        values: pricesOf(priced).map((price) => price[key]),
      })),
    },
  ];
}

function notesOf(closed: readonly ClosedRow[], other: readonly OtherRow[], rungs: readonly number[]): string[] {
  const errors = closed.reduce((sum, row) => sum + row.errors, 0);
  const full = closed.filter((row) => row.limit === 'generator' || row.limit === 'both').length;
  const [own, others] = [
    closed.find((row) => row.manner.every === 1)?.perSecond,
    other.find((row) => !row.isKept)?.perSecond,
  ];
  return [
    `The load is the published mix by our own driver, in a closed loop: as many requests are under way as there are clients, so the mean latency is clients over rate. The generator was full in ${full} of ${closed.length} rows; such a row says what one core can ask, and the store's idling is part of the answer.`,
    'On loopback the kernel does most of a TCP handshake on the core of whoever connects; over a network the store’s machine has its half of it, and every connect waits a round trip more.',
    'Each row of the closed loop is the faster of two runs that took turns with the others, since whatever else runs only takes away; a row of redis-benchmark is one run.',
    'All connections are open when a row begins, each at another point of its life, as after a long time; latency includes connecting.',
    `Rows of one rate: ${PRICE_CLIENTS} clients connect for each request as fast as the generator can, then as many kept connections are asked at that very rate. Store time is the store’s processor time over the commands of both rounds; the kept rows at a low rate are counted in steps of 10 ms.`,
    `redis-benchmark -k 0 ${own !== undefined && others !== undefined ? `had ${countText(others)} requests a second where the driver had ${countText(own)}, both with ${countText(rungs[0])} clients` : 'is another generator'}; it begins to count when the connection is asked for its request, so its p99 lacks the connecting. The round of a client is clients over rate.`,
    `A closed connection may hold its local port for a minute, and there are some 28,000 to one address: the connects are spread over eight loopback addresses, with TLS over one. ${errors === 0 ? 'No connect failed in any row' : `${countText(errors)} requests or connects failed in all rows`}.`,
    'Published latencies of new connections do not say with how many clients: they stand beside 2,000. For every 70th nothing was published.',
  ];
}
