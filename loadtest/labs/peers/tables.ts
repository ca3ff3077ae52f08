import type { Chart, Claim, FindingTable } from '../kit/finding.ts';
import { chartOf, type TableParts, tableOf } from '../kit/table.ts';
import { valueText } from '../kit/text.ts';
import { type Compared, compareAll, type Figure, noiseRows, OURS, type Outcome } from './compare.ts';
import type { Stampeded } from './losing.ts';
import { SHORT, type Sizes } from './peer.ts';
import { bytesPerPage } from './serving.ts';

type ColumnOf = TableParts<Outcome>['columns'][number];

export function tablesOf(outcomes: readonly Outcome[], sizes: Sizes): FindingTable[] {
  const table = (title: string, columns: readonly ColumnOf[], published?: (outcome: Outcome) => string | undefined) =>
    tableOf({ title, rows: outcomes, name: ({ peer }) => peer.name, columns, published });
  const { replicas, engineDelayMs, hotRequests, manyKeys, requestsEach } = sizes;
  return [
    ...leadTables(outcomes),
    ...noiseTables(outcomes),
    pageTable(outcomes, sizes, 'page'),
    pageTable(outcomes, sizes, 'many'),
    table(`Memory: ${sizes.memoryPages} pages more, one replica`, [
      ['per page, process, store and files', 'bytes', ({ memory }) => memory && bytesPerPage(memory)],
      ['process', 'bytes', ({ memory }) => memory?.residentPerPage],
      ['store', 'bytes', ({ memory }) => memory?.storePerPage],
      ['files', 'bytes', ({ memory }) => memory?.diskPerPage],
      ['body of a page', 'bytes', ({ memory }) => memory?.pageBytes],
      ['kept', 'share', ({ memory }) => memory?.keptShare],
      ['process in all, with garbage', 'bytes', ({ memory }) => memory?.residentBytes],
    ]),
    table(`Purged, then asked at once: ${replicas} replicas, engine slowed by ${engineDelayMs} ms`, [
      ...stampedeColumns(`1 page × ${hotRequests}`, 'hot'),
      ...stampedeColumns(`${manyKeys} pages × ${requestsEach}`, 'many'),
    ]),
    table(
      `The engine dies: pages live ${SHORT.ttlSeconds} s and may be served ${SHORT.staleSeconds} s longer, one replica`,
      [
        ['fresh pages answered', 'share', ({ dead }) => dead?.freshShare],
        ['expired pages answered', 'share', ({ dead }) => dead?.expiredShare],
        ['p99 of expired', 'ms', ({ dead }) => dead?.expiredP99Ms],
        ['an unknown page gets', 'text', ({ dead }) => dead?.unseenOutcome],
        ['after', 'ms', ({ dead }) => dead?.unseenP50Ms],
        ['fresh again', 'seconds', ({ dead }) => dead && (dead.recoveredSeconds ?? 'not in 20 s')],
      ],
      ({ dead, peer }) => (dead === undefined ? undefined : publishedOf(peer.name)?.dead),
    ),
  ];
}

function stampedeColumns(what: string, pages: 'hot' | 'many'): readonly ColumnOf[] {
  return [
    [`engine queries per page, ${what}`, 'text', ({ stampede }) => stampede?.[pages].queriesPerKey],
    ['p50', 'ms', ({ stampede }) => stampede?.[pages].p50Ms],
    ['p99', 'ms', ({ stampede }) => stampede?.[pages].p99Ms],
    ['failed', 'share', ({ stampede }) => stampede?.[pages].failedShare],
  ];
}

/** In these tables the server is loaded, not the store. */
const FULL = { store: 'server', generator: 'client', both: 'both', neither: 'neither' } as const;

/** A peer without figures stays a row: the reader sees that it was not forgotten. */
function pageTable(outcomes: readonly Outcome[], sizes: Sizes, kind: 'page' | 'many'): FindingTable {
  const pages = kind === 'page' ? 1 : sizes.pages;
  /** The peer whose requests per core the others are divided by. */
  const base = kind === 'page' ? OURS.memory : OURS.store;
  const perCore = outcomes.find(({ peer }) => peer.name === base)?.[kind]?.perCore;
  const rows = outcomes.map(({ peer, [kind]: figures }) => ({ name: peer.name, figures }));
  return tableOf({
    title: `${kind === 'page' ? 'One cached page of about 4 KB' : `${pages} cached pages in turn`}, one replica`,
    rows,
    name: ({ name }) => name,
    columns: [
      ['requests per core', 'per-second', ({ figures }) => figures?.perCore],
      [`÷ ${base}`, 'times', ({ figures }) => figures && perCore && figures.perCore / perCore],
      ['processor per request', 'us', ({ figures }) => figures && 1e6 / figures.perCore],
      ['requests', 'per-second', ({ figures }) => figures?.perSecond],
      ['server', 'cores', ({ figures }) => figures?.serverCores],
      ['client and store', 'cores', ({ figures }) => figures?.clientCores],
      ['full', 'text', ({ figures }) => figures && FULL[figures.limit]],
      [`p50 at ${sizes.perSecond}/s`, 'ms', ({ figures }) => figures?.p50Ms],
      ['p99', 'ms', ({ figures }) => figures?.p99Ms],
      ['store per request', 'us', ({ figures }) => figures?.storeUs],
      ['store commands per request', 'text', ({ figures }) => figures?.storeCommands],
      [`at ${sizes.perSecond}/s`, 'text', ({ figures }) => figures?.storeCommandsAtRate],
    ],
    published: ({ name, figures }) => (figures === undefined ? undefined : publishedOf(name)?.page),
  });
}

/** Whether serpcache is better than its alternatives: every figure that both have, compared. */
export function claimsOf(outcomes: readonly Outcome[]): readonly Claim[] {
  const compared = compareAll(outcomes);
  const count = (ahead: Compared['ahead']): number => compared.filter((one) => one.ahead === ahead).length;
  const unit = 'count';
  return [
    { text: 'comparisons', figure: compared.length, unit },
    {
      text: 'comparisons in which a peer is ahead by more than the noise',
      figure: compared.length === 0 ? undefined : count('peer'),
      unit,
      atMost: 0,
    },
    {
      text: 'comparisons in which serpcache is ahead by more than the noise',
      figure: count('serpcache'),
      unit,
      // Being level in everything is enough; being behind in something and ahead in nothing is not.
      atLeast: count('peer') > 0 || compared.length === 0 ? 1 : undefined,
    },
    { text: 'comparisons within the noise', figure: count('neither'), unit },
  ];
}

/** First the figures in which a peer is ahead of serpcache, then those in which serpcache is. */
export function leadTables(outcomes: readonly Outcome[]): readonly FindingTable[] {
  const compared = compareAll(outcomes);
  // Something against nothing is further apart than any two figures.
  const distance = ({ factor = Number.MAX_VALUE }: Compared): number => factor;
  const leadTable = (title: string, column: string, ahead: Compared['ahead']): FindingTable => {
    const leads = compared.filter((one) => one.ahead === ahead);
    const rows = Map.groupBy(leads, ({ figure, oursName }) => `${figure.what}\n${oursName}`);
    return tableOf({
      title,
      // The peer that is furthest away first.
      rows: [...rows.values()].map((some) => some.toSorted((a, b) => distance(b) - distance(a))),
      name: ([first]) => first?.figure.what ?? '',
      columns: [
        [
          'serpcache',
          'text',
          ([first]) => first && `${first.oursName.replace('serpcache ', '')} ${shown(first.ours, first.figure)}`,
        ],
        [column, 'text', (all) => all.map(leadText).join(', ')],
      ],
    });
  };
  return [
    leadTable('Where a peer is ahead of serpcache, and by how much', 'ahead', 'peer'),
    leadTable('Where serpcache is ahead of a peer, and by how much', 'behind', 'serpcache'),
  ].filter(({ rows }) => rows.length > 0);
}

/** `Varnish 2.5 ×`; the figure of the peer where one of both is zero or never happened. */
function leadText({ peer, theirs, factor, figure }: Compared): string {
  return `${peer} ${factor === undefined ? shown(theirs, figure) : valueText(factor, 'times')}`;
}

function shown(value: number, { unit }: Figure): string {
  return Number.isFinite(value) ? valueText(value, unit) : 'never';
}

function noiseTables(outcomes: readonly Outcome[]): readonly FindingTable[] {
  const table = tableOf({
    title: 'Noise: smaller differences count as level',
    rows: noiseRows(compareAll(outcomes)),
    name: ({ what }) => what,
    columns: [
      ['smallest of the peers', 'text', ({ least }) => least],
      ['largest', 'text', ({ most }) => most],
    ],
  });
  return table.rows.length === 0 ? [] : [table];
}

export function chartsOf(outcomes: readonly Outcome[]): Chart[] {
  const bars = {
    across: 'server',
    points: outcomes,
    pointName: ({ peer }: Outcome) => peer.name,
    shape: 'bars',
  } as const;
  const published = ({ peer }: Outcome) => publishedOf(peer.name)?.perCore;
  return [
    chartOf({
      ...bars,
      title: 'Requests per second and core of the server',
      unit: 'per-second',
      series: [
        { name: 'one cached page', of: ({ page }) => page?.perCore },
        { name: 'many cached pages', of: ({ many }) => many?.perCore },
        { name: 'published', isPublished: true, of: published },
      ],
    }),
    chartOf({
      ...bars,
      id: 'stampede',
      title: 'Engine queries per page after a purge of all replicas',
      unit: 'count',
      isLog: true,
      series: [
        { name: 'one hot page', of: ({ stampede }) => stampede?.hot.queriesPerKey },
        { name: 'each of many pages', of: ({ stampede }) => stampede?.many.queriesPerKey },
      ],
    }),
    chartOf({
      ...bars,
      id: 'memory',
      title: 'Memory and files of a page',
      unit: 'bytes',
      series: [
        { name: 'process', of: ({ memory }) => memory?.residentPerPage },
        { name: 'store', of: ({ memory }) => memory?.storePerPage },
        { name: 'files', of: ({ memory }) => memory?.diskPerPage },
      ],
    }),
  ];
}

/** How to read the tables, then how each peer was set up, then what could not be measured. */
export function notesOf(outcomes: readonly Outcome[], sizes: Sizes): string[] {
  return [
    'Servers share one half of the processors and have nothing else there; clients, stores, the origin and searchd have the other. ' +
      'Requests per core are requests by the processor time of all processes of the server; a store is not among them and has its own column.',
    'Full: used 85 % of what it could have, which is one core where one thread does the work (wrk, the store, nginx with its one worker, Node) ' +
      'and its whole half where more do (Varnish). Where the client is full, the server can do more requests a second than the row says; requests per core do not depend on it.',
    `All peers run at the same time and take turns, ${sizes.rounds} rounds of wrk with 64 connections; the best of each is shown. ` +
      `p50 and p99 are those of a Node client that sends ${sizes.perSecond} requests a second whatever is answered: about 0.1 ms of each is its own.`,
    'A lead counts when it is larger than the noise: the difference between rounds of either side, and between serpcache L1 and L2 ' +
      'where both do the same (one page, after a purge, without an engine: all from the process); at least 5 %.',
    'Pages in turn are the same number for all; whether they come from the store is measured: store commands per request. A figure of pages from the ' +
      'store is compared with another of pages from the store; where both serpcaches have them in the process (one page, expired pages) with nothing.',
    'Memory of a page is the growth of resident memory divided by the pages that are still there afterwards. Node processes collect ' +
      'their garbage before and after, or their growth would say nothing about pages; the last column has a replica with its garbage. ' +
      'Files (nginx) count as well: they are read from memory of the system that no process is charged with.',
    'Engine queries are counted before searchd, those after the answers too, and divided by the pages that were answered, so that a peer that refuses everybody does not look thrifty. The origin asks at most eight at once, and so do all replicas of one serpcache together. ' +
      'serpcache asks searchd itself: the way through the origin is in the times of misses of all others, and not in its own.',
    'Fresh again: from the revival to the first answer made from a search of the revived engine, polled every 50 ms.',
    ...outcomes.map(({ peer }) => `${peer.name}: ${peer.setUp}`),
    ...outcomes.flatMap((outcome) => oddities(outcome).map((one) => `${outcome.peer.name}: ${one}`)),
  ];
}

/** Failures of the measurement, and the answers behind a share of failures. */
function oddities({ problems, stampede, dead }: Outcome): string[] {
  const odd = (name: string, one: Stampeded | undefined) => [
    one?.failedShare && `after the purge, asked for ${name}, it answered ${one.outcome}`,
    one?.purgeRefusals && `before it was asked for ${name} it refused to be purged ${one.purgeRefusals} times`,
  ];
  const isLate = dead !== undefined && dead.freshShare === undefined;
  return [
    ...problems,
    ...odd('one page', stampede?.hot),
    ...odd('many', stampede?.many),
    isLate && 'this machine was too slow to ask for all pages without an engine while they were fresh',
  ].filter((one) => typeof one === 'string');
}

/** Published figures of a peer: texts for its rows, and requests per second and core for the plot. */
const PUBLISHED: readonly { name: RegExp; page?: string; dead?: string; perCore?: number }[] = [
  {
    name: /^Varnish/,
    page: '23k/s per core (275k/s on 12 cores, 2010)',
    dead: 'origin dead for 12 min behind grace: 97 % hits, no 503',
    perCore: 23_000,
  },
  { name: /BentoCache/, page: 'its own bench, in the process and without HTTP: get 1.25M/s, getOrSet 42k/s' },
];

function publishedOf(peer: string) {
  return PUBLISHED.find(({ name }) => name.test(peer));
}

export const PUBLISHED_WORDS =
  'Little, and nothing under the same conditions. Varnish: a practitioner of 2010 had 275k requests/s on 12 cores, about ' +
  '23k/s per core; a monitoring guide reports an origin dead for 12 minutes behind grace, 97 % hits and no 503. BentoCache: ' +
  'its own bench calls it in the process, without HTTP: 854 ns for a get of two tiers (1.25M/s), 23.8 µs for a getOrSet ' +
  '(42k/s). A content delivery network: of 1,000 simultaneous requests for an expired object one goes to the origin. ' +
  'These cannot be measured here as they were; they stand beside the rows they are about.';
