import type { Column, FindingTable, Row } from '../kit/finding.ts';
import type { Experiment } from '../kit/lab.ts';
import { limitOf } from '../kit/meters.ts';
import { onceMore } from '../kit/rounds.ts';
import { fillFirst } from '../kit/table.ts';
import { commandOf, fillOf } from './dns/command.ts';
import { isDisturbed, lessonOf, lostShare } from './dns/lesson.ts';
import { startNameServer } from './dns/name-server.ts';
import { cannotResolve, NAME_SERVER } from './dns/namespace.ts';
import {
  CUT_EVERY_MS,
  DEADLINE_MS,
  type DnsRow,
  DOMAINS,
  measureRow,
  type Phase,
  READS_PER_SECOND,
  type Variant,
} from './dns/row.ts';

const VARIANTS: readonly Variant[] = [
  // Nothing is asked: with a resolver that is dead this would be seen.
  { name: 'addresses', isNamed: false, resolver: { kind: 'silent' } },
  { name: 'names, a healthy resolver', isNamed: true, resolver: { kind: 'healthy' } },
  { name: 'answers after 200 ms', isNamed: true, resolver: { kind: 'slow', ms: 200 } },
  { name: 'answers after 1 s', isNamed: true, resolver: { kind: 'slow', ms: 1000 } },
  { name: 'SERVFAIL', isNamed: true, resolver: { kind: 'servfail' } },
  { name: 'silence', isNamed: true, resolver: { kind: 'silent' } },
];
const PUBLISHED: Readonly<Record<string, string>> = { addresses: 'slightly fewer errors' };
const PAGE_BYTES = 2000;
const OWN_CUT_SECONDS = 5;
/** Of that time. */
const KEPT_PART = 0.4;
/** Two connect timeouts of the adapter: who has not connected by then has failed and begun anew. */
const WAIT_MS = 4000;

/** What names cost instead of addresses, by what the resolver does meanwhile. */
export const dns: Experiment = {
  varies: 'addresses or host names of the stores, with a resolver that is healthy, slow or failing',
  parts: ['redis'],
  cannotRun: cannotResolve,
  run: async (lab) => {
    const server = await startNameServer(NAME_SERVER);
    lab.atEnd(server.stop);
    const store = await lab.startStore();
    await store.command('SET', 'page', 'x'.repeat(PAGE_BYTES));
    const cutMs = lab.seconds(OWN_CUT_SECONDS) * 1000;
    const times = { cutMs, keptMs: cutMs * KEPT_PART, waitMs: WAIT_MS };
    const rows: DnsRow[] = [];
    for (const variant of VARIANTS) {
      lab.say(variant.name);
      const measure = (): Promise<DnsRow> => measureRow(lab, { store, server, times }, variant);
      const again = (): void =>
        lab.say(`${variant.name} again: it was disturbed while nothing was cut and no name asked for`);
      rows.push(await onceMore(measure, isDisturbed, again));
    }
    return {
      title: 'Addresses and names',
      published:
        'A classifieds site: addresses instead of names gave slightly fewer errors, though noisy neighbours left at the same time.',
      tables: fillFirst(fillOf(PAGE_BYTES), [cutTable(rows), keptTable(rows), startTable(rows)]),
      charts: [
        {
          id: '',
          title: 'Reads lost, by what the resolver does',
          across: 'how the store is named',
          places: rows.map(({ variant }) => variant.name),
          unit: 'share',
          shape: 'bars',
          series: [
            { name: 'connections cut every second', values: rows.map(({ cut }) => lostShare(cut)) },
            { name: 'connections kept', values: rows.map(({ kept }) => lostShare(kept)) },
          ],
        },
      ],
      lesson: lessonOf(rows),
      notes: [
        `Names are looked up by glibc, as in production: Node asks getaddrinfo on libuv's threads. The process that reads has a mount namespace in which a resolv.conf of its own names our name server (${NAME_SERVER}, UDP); this machine's resolver is not touched, and nothing is cached in between.`,
        `One process with serpcache's own adapter, one connection for each of ${DOMAINS.length} domains, all to one store; ${READS_PER_SECOND} reads/s with ${DEADLINE_MS} ms each. Connections are cut by CLIENT KILL every ${CUT_EVERY_MS} ms; the adapter connects again after 50–100 ms and resolves each time.`,
        'A row that lost reads while nothing was cut and no name was asked for says nothing about names: it is measured once more, and counts as it is then.',
        'memtier resolves once, when it starts, and connects again to that address: the commands repeat the load and the cuts, not the lookups. Put a name that your own resolver answers for in place of localhost.',
        'At most two lookups of a process are under way at a time (half of four threads), and none can be given up: with six names at a second each the last pair is answered after three seconds, which is past the connect timeout of two, and begins anew. UV_THREADPOOL_SIZE raises that.',
        'A silent resolver is asked again after 5 s and given up after 10 (resolv.conf timeout:5 attempts:2): `options timeout:1` in it shortens both.',
        `Longest gap: of the connection that was without answers longest. The start and the way back are waited for ${WAIT_MS / 1000} s; "–" is longer. The way back begins when the resolver is healthy again, a second after the last cut.`,
      ],
    };
  },
};

const PHASE_COLUMNS: readonly Column[] = [
  { name: 'answered', unit: 'per-second' },
  { name: 'lost', unit: 'share' },
  { name: 'p50', unit: 'ms' },
  { name: 'p99', unit: 'ms' },
  { name: 'longest gap', unit: 'ms' },
  { name: 'lookups asked', unit: 'count' },
];

function cutTable(rows: readonly DnsRow[]): FindingTable {
  return {
    title: 'Connections cut every second',
    columns: PHASE_COLUMNS,
    rows: rows.map((row) => phaseRow(row, row.cut)),
  };
}

function keptTable(rows: readonly DnsRow[]): FindingTable {
  return { title: 'Connections kept', columns: PHASE_COLUMNS, rows: rows.map((row) => phaseRow(row, row.kept)) };
}

function phaseRow(row: DnsRow, phase: Phase): Row {
  const { answered, seconds, p50Ms, p99Ms, longestGapMs, asked } = phase;
  const published = phase === row.cut ? PUBLISHED[row.variant.name] : undefined;
  const hasAnswers = answered > 0;
  return {
    name: row.variant.name,
    values: [
      answered / seconds,
      lostShare(phase),
      hasAnswers ? p50Ms : undefined,
      hasAnswers ? p99Ms : undefined,
      longestGapMs,
      asked,
    ],
    ...(published !== undefined && { published }),
    limit: limitOf(row),
    command: commandOf(row.variant, phase === row.cut),
  };
}

function startTable(rows: readonly DnsRow[]): FindingTable {
  return {
    title: 'A start, and the way back',
    columns: [
      { name: 'all connections answer after', unit: 'ms' },
      { name: 'lookups asked', unit: 'count' },
      { name: 'back after the resolver is healthy', unit: 'ms' },
    ],
    rows: rows.map(({ variant, startedMs, startAsked, backMs }) => ({
      name: variant.name,
      values: [startedMs, startAsked, backMs],
    })),
  };
}
