import type { Column, FindingTable, Row } from '../../kit/finding.ts';
import type { PageFigures } from './cached-page.ts';
import type { DeadEngineFigures } from './dead-engine.ts';
import { leadTables } from './leads.ts';
import { bytesPerPage } from './memory.ts';
import { OURS, type Outcome } from './outcome.ts';
import { publishedOf } from './published.ts';
import { SHORT, type Sizes } from './sizes.ts';

export function tablesOf(outcomes: readonly Outcome[], sizes: Sizes): FindingTable[] {
  return [
    ...leadTables(outcomes),
    pageTable(outcomes, {
      title: 'One cached page of about 4 KB, one replica',
      pick: ({ page }) => page,
      base: OURS.memory,
      pages: 1,
      sizes,
    }),
    pageTable(outcomes, {
      title: `${sizes.pages} cached pages in turn, one replica`,
      pick: ({ many }) => many,
      base: OURS.store,
      pages: sizes.pages,
      sizes,
    }),
    memoryTable(outcomes, sizes),
    stampedeTable(outcomes, sizes),
    deadTable(outcomes),
  ];
}

interface PageTable {
  readonly title: string;
  readonly pick: (outcome: Outcome) => PageFigures | undefined;
  readonly base: string;
  readonly pages: number;
  readonly sizes: Sizes;
}

function pageTable(outcomes: readonly Outcome[], { title, pick, base, pages, sizes }: PageTable): FindingTable {
  const found = outcomes.find(({ peer }) => peer.name === base);
  const perCore = found === undefined ? undefined : pick(found)?.perCore;
  return table(
    title,
    [
      { name: 'requests per core', unit: 'per-second' },
      { name: `÷ ${base}`, unit: 'times' },
      { name: 'processor per request', unit: 'us' },
      { name: 'requests', unit: 'per-second' },
      { name: 'server', unit: 'cores' },
      { name: 'client and store', unit: 'cores' },
      { name: 'full', unit: 'text' },
      { name: `p50 at ${sizes.perSecond}/s`, unit: 'ms' },
      { name: 'p99', unit: 'ms' },
      { name: 'store per request', unit: 'us' },
      { name: 'store commands per request', unit: 'text' },
      { name: `at ${sizes.perSecond}/s`, unit: 'text' },
    ],
    outcomes,
    (outcome) => {
      const figures = pick(outcome);
      const published = publishedOf(outcome.peer.name).page;
      if (figures === undefined) return undefined;
      return {
        values: [
          figures.perCore,
          perCore === undefined ? undefined : figures.perCore / perCore,
          1e6 / figures.perCore,
          figures.perSecond,
          figures.serverCores,
          figures.clientCores,
          FULL[figures.limit],
          figures.p50Ms,
          figures.p99Ms,
          figures.storeUs,
          figures.storeCommands,
          figures.storeCommandsAtRate,
        ],
        command: `node loadtest/labs/peers/repeat.ts '${outcome.peer.name}' ${pages}`,
        ...(published !== undefined && { published }),
      };
    },
  );
}

/** Here the store is not what is loaded. */
const FULL = { store: 'server', generator: 'client', both: 'both', neither: 'neither' } as const;

function memoryTable(outcomes: readonly Outcome[], sizes: Sizes): FindingTable {
  const columns: Column[] = [
    { name: 'per page, process, store and files', unit: 'bytes' },
    { name: 'process', unit: 'bytes' },
    { name: 'store', unit: 'bytes' },
    { name: 'files', unit: 'bytes' },
    { name: 'body of a page', unit: 'bytes' },
    { name: 'kept', unit: 'share' },
    { name: 'process in all, with garbage', unit: 'bytes' },
  ];
  return table(`Memory: ${sizes.memoryPages} pages more, one replica`, columns, outcomes, ({ memory }) =>
    memory === undefined
      ? undefined
      : {
          values: [
            bytesPerPage(memory),
            memory.residentPerPage,
            memory.storePerPage,
            memory.diskPerPage,
            memory.pageBytes,
            memory.keptShare,
            memory.residentBytes,
          ],
        },
  );
}

function stampedeTable(outcomes: readonly Outcome[], sizes: Sizes): FindingTable {
  const { replicas, engineDelayMs, hotRequests, manyKeys, requestsEach } = sizes;
  const columns = (of: string): Column[] => [
    { name: `engine queries per page, ${of}`, unit: 'text' },
    { name: 'p50', unit: 'ms' },
    { name: 'p99', unit: 'ms' },
    { name: 'failed', unit: 'share' },
  ];
  return table(
    `Purged, then asked at once: ${replicas} replicas, engine slowed by ${engineDelayMs} ms`,
    [...columns(`1 page × ${hotRequests}`), ...columns(`${manyKeys} pages × ${requestsEach}`)],
    outcomes,
    ({ stampede }) =>
      stampede === undefined
        ? undefined
        : {
            values: [stampede.hot, stampede.many].flatMap((one) => [
              one.queriesPerKey,
              one.p50Ms,
              one.p99Ms,
              one.failedShare,
            ]),
          },
  );
}

function deadTable(outcomes: readonly Outcome[]): FindingTable {
  const columns: Column[] = [
    { name: 'fresh pages answered', unit: 'share' },
    { name: 'expired pages answered', unit: 'share' },
    { name: 'p99 of expired', unit: 'ms' },
    { name: 'an unknown page gets', unit: 'text' },
    { name: 'after', unit: 'ms' },
    { name: 'fresh again', unit: 'seconds' },
  ];
  const title = `The engine dies: pages live ${SHORT.ttlSeconds} s and may be served ${SHORT.staleSeconds} s longer, one replica`;
  return table(title, columns, outcomes, ({ dead, peer }) => {
    const published = publishedOf(peer.name).dead;
    return dead === undefined ? undefined : { values: deadValues(dead), ...(published !== undefined && { published }) };
  });
}

function deadValues(dead: DeadEngineFigures): Row['values'] {
  return [
    dead.freshShare,
    dead.expiredShare,
    dead.expiredP99Ms,
    dead.unseenOutcome,
    dead.unseenP50Ms,
    dead.recoveredSeconds ?? 'not in 20 s',
  ];
}

/** A peer without figures stays a row: nobody shall think that it was forgotten. */
function table(
  title: string,
  columns: readonly Column[],
  outcomes: readonly Outcome[],
  rowOf: (outcome: Outcome) => Omit<Row, 'name'> | undefined,
): FindingTable {
  const nothing = { values: columns.map(() => undefined) };
  return { title, columns, rows: outcomes.map((one) => ({ name: one.peer.name, ...(rowOf(one) ?? nothing) })) };
}
