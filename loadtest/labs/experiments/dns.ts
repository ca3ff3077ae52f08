import { join } from 'node:path';
import type { FindingTable } from '../kit/finding.ts';
import { defineExperiment, type Lab, type LabStore } from '../kit/lab.ts';
import { limitOf } from '../kit/meters.ts';
import { runProgram } from '../kit/programs.ts';
import { onceMore } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import {
  cannotResolve,
  inNamespace,
  NAME_SERVER,
  type NameServer,
  type Resolver,
  startNameServer,
} from './dns/name-server.ts';
import type { ReaderPlan, ReaderSaid, Reads } from './dns/reads.ts';

interface Variant {
  readonly name: string;
  readonly isNamed: boolean;
  readonly resolver: Resolver;
}

const VARIANTS: readonly Variant[] = [
  // No name is looked up: a lookup at a silent resolver would show.
  { name: 'addresses', isNamed: false, resolver: { kind: 'silent' } },
  { name: 'names, a healthy resolver', isNamed: true, resolver: { kind: 'healthy' } },
  { name: 'answers after 200 ms', isNamed: true, resolver: { kind: 'slow', ms: 200 } },
  { name: 'answers after 1 s', isNamed: true, resolver: { kind: 'slow', ms: 1000 } },
  { name: 'SERVFAIL', isNamed: true, resolver: { kind: 'servfail' } },
  { name: 'silence', isNamed: true, resolver: { kind: 'silent' } },
];

/** A service with a few domains: one connection for each. */
const DOMAINS = ['goods', 'auto', 'jobs', 'homes', 'services', 'hobby'];
const READS_PER_SECOND = 600;
const DEADLINE_MS = 50;
const CUT_EVERY_MS = 1000;
const PAGE_BYTES = 2000;
const CUT_SECONDS = 5;
/** Share of that time in which connections are kept. */
const KEPT_PART = 0.4;
/** Two connect timeouts of the adapter: a connection that is not there by then has failed and begun again. */
const WAIT_MS = 4000;
/** For a start with a healthy resolver, on a machine with other load. */
const HEALTHY_START_MS = 10_000;
/** For the processes of the reader beside the times of its plan. */
const AROUND_MS = 25_000;

/** The cores are those that were busy while connections were cut. */
export type DnsRow = Awaited<ReturnType<typeof measureRow>>;
type Phase = DnsRow['cut'];

export const dns = defineExperiment({
  varies: 'addresses or host names of the stores, with a resolver that is healthy, slow or failing',
  parts: ['redis'],
  cannotRun: cannotResolve,
  title: 'Addresses or names for the stores?',
  published:
    'A classifieds site: addresses instead of names gave slightly fewer errors, though noisy neighbours left at the same time.',
  sentence:
    'Each reconnect by name waits for the resolver: use addresses for stores, or a resolver on the same machine with a short timeout, and keep connections open.',
  measure: async (lab): Promise<readonly DnsRow[]> => {
    const server = await startNameServer(NAME_SERVER);
    lab.atEnd(server.stop);
    const store = await lab.startStore();
    await store.command('SET', 'page', 'x'.repeat(PAGE_BYTES));
    return Array.fromAsync(VARIANTS, (variant) => {
      lab.say(variant.name);
      const again = (): void =>
        lab.say(`${variant.name} again: it was disturbed while nothing was cut and no name asked for`);
      return onceMore(() => measureRow(lab, store, server, variant), isDisturbed, again);
    });
  },
  tables: (rows) => [
    phaseTable('Connections cut every second', rows, 'cut'),
    phaseTable('Connections kept', rows, 'kept'),
    tableOf({
      title: 'A start, and the way back',
      rows,
      name: ({ variant }) => variant.name,
      columns: [
        ['all connections answer after', 'ms', (row) => row.startedMs],
        ['lookups asked', 'count', (row) => row.startAsked],
        ['back after the resolver is healthy', 'ms', (row) => row.backMs],
      ],
    }),
  ],
  charts: (rows) => [
    chartOf({
      title: 'Reads lost, by what the resolver does',
      across: 'how the store is named',
      points: rows,
      pointName: ({ variant }) => variant.name,
      unit: 'share',
      shape: 'bars',
      series: [
        { name: 'connections cut every second', of: ({ cut }) => lostShare(cut) },
        { name: 'connections kept', of: ({ kept }) => lostShare(kept) },
      ],
    }),
  ],
  claims: (rows) => {
    const address = rows.find(({ variant }) => !variant.isNamed);
    const healthy = rows.find(({ variant }) => variant.isNamed && variant.resolver.kind === 'healthy');
    if (address === undefined || healthy === undefined)
      throw new Error('the claims need a row with addresses and one with a healthy resolver');
    const faulty = rows.filter(({ variant }) => variant.isNamed && variant.resolver.kind !== 'healthy');
    const named = [healthy, ...faulty];
    const moreLost = (row: DnsRow): number => lostShare(row.cut) - lostShare(address.cut);
    const isSeen = !isDisturbed(address) && !isDisturbed(healthy);
    return [
      {
        text: 'reads lost while connections are cut, names minus addresses: the worst resolver, a healthy one included',
        figure: isSeen ? Math.max(...named.map(moreLost)) : undefined,
        unit: 'share',
        atLeast: NOTICED,
      },
      {
        text: 'the same: the best of the faulty resolvers',
        figure: isSeen && faulty.length > 0 ? Math.min(...faulty.map(moreLost)) : undefined,
        unit: 'share',
        atLeast: NOTICED,
      },
      { text: 'the same: the healthy resolver', figure: moreLost(healthy), unit: 'share' },
    ];
  },
  notes: () => [
    `glibc looks up names, as in production: Node calls getaddrinfo on libuv's threads. The reading process has a mount namespace in which its own resolv.conf names our name server (${NAME_SERVER}, UDP); this machine's resolver is not touched, and nothing in between keeps an answer.`,
    `One process reads through serpcache's own adapter, with one connection for each of ${DOMAINS.length} domains, all to one store; ${READS_PER_SECOND} reads/s with ${DEADLINE_MS} ms each. CLIENT KILL cuts the connections every ${CUT_EVERY_MS} ms; the adapter connects again after 50–100 ms and resolves each time.`,
    'A row that lost reads while nothing was cut and no name was asked for says nothing about names: it is measured once more, and the second measurement counts. When it is the row with addresses or with a healthy resolver, and it is still disturbed, the claims are not seen.',
    'A process has at most two lookups under way (half of four threads), and no lookup can be cancelled: with six names at a second each the last pair is answered after three seconds, which is past the connect timeout of two, and begins again. UV_THREADPOOL_SIZE raises the limit.',
    'glibc asks a silent resolver again after 5 s and gives up after 10 s (resolv.conf timeout:5 attempts:2): `options timeout:1` in it shortens both.',
    `The longest gap is the longest time without an answer on any one connection. The maximum wait for the start and for the way back is ${WAIT_MS / 1000} s; "–" is longer. The way back begins when the resolver is healthy again, a second after the last cut.`,
  ],
});

/** A reconnect waits a random 50–100 ms, a dozen times or more in a row: that moves the share by less than this. */
const NOTICED = 0.03;

/** Reads were lost while nothing was cut and no resolver was asked: the machine itself disturbed the row. */
export function isDisturbed({ kept }: Pick<DnsRow, 'kept'>): boolean {
  return kept.asked === 0 && lostShare(kept) > NOTICED;
}

function lostShare({ answered, failed }: Pick<Reads, 'answered' | 'failed'>): number {
  return failed / Math.max(1, answered + failed);
}

function phaseTable(title: string, rows: readonly DnsRow[], name: 'cut' | 'kept'): FindingTable {
  const hasAnswers = (phase: Phase): boolean => phase.answered > 0;
  return tableOf({
    title,
    rows: rows.map((row) => ({ variant: row.variant, phase: row[name], limit: limitOf(row) })),
    name: ({ variant }) => variant.name,
    columns: [
      ['answered', 'per-second', ({ phase }) => phase.answered / phase.seconds],
      ['lost', 'share', ({ phase }) => lostShare(phase)],
      ['p50', 'ms', ({ phase }) => (hasAnswers(phase) ? phase.p50Ms : undefined)],
      ['p99', 'ms', ({ phase }) => (hasAnswers(phase) ? phase.p99Ms : undefined)],
      ['longest gap', 'ms', ({ phase }) => phase.longestGapMs],
      ['lookups asked', 'count', ({ phase }) => phase.asked],
    ],
    published: ({ variant }) => (variant.isNamed || name === 'kept' ? undefined : 'slightly fewer errors'),
  });
}

/**
 * Two processes: one starts with the resolver in its state. The other starts with a healthy resolver, which gets its state
 * when all connections are there, keeps it while connections are kept and cut, and is healthy again at the end.
 */
async function measureRow(lab: Lab, store: LabStore, server: NameServer, variant: Variant) {
  const plan: ReaderPlan = {
    hosts: DOMAINS.map((domain) => (variant.isNamed ? `${domain}.serpcache.test` : store.host)),
    port: store.port,
    readsPerSecond: READS_PER_SECOND,
    deadlineMs: DEADLINE_MS,
    startWaitMs: WAIT_MS,
  };
  server.set(variant.resolver);
  let asked = server.asked();
  /** Questions that reached the name server since the last call. */
  const askedSince = (): number => {
    const before = asked;
    asked = server.asked();
    return asked - before;
  };
  const heard = new Map<ReaderSaid['kind'], ReaderSaid>();
  await runReader(lab, plan, (said) => heard.set(said.kind, said));
  const startedMs = afterOf(heard.get('started'));
  const startAsked = askedSince();

  server.set({ kind: 'healthy' });
  let [storeMs, readerMs] = [0, 0];
  const phases = new Map<string, Reads & { readonly asked: number }>();
  const cutMs = lab.seconds(CUT_SECONDS) * 1000;
  const then = { keptMs: cutMs * KEPT_PART, cutMs, cutEveryMs: CUT_EVERY_MS, backWaitMs: WAIT_MS };
  await runReader(lab, { ...plan, startWaitMs: HEALTHY_START_MS, then }, (said) => {
    heard.set(said.kind, said);
    const own = askedSince();
    if ('reads' in said) phases.set(said.kind, { ...said.reads, asked: own });
    if (said.kind === 'started') server.set(variant.resolver);
    if (said.kind === 'kept') storeMs = -store.processorMs();
    if (said.kind !== 'cut') return;
    [storeMs, readerMs] = [storeMs + store.processorMs(), said.processorMs];
    server.set({ kind: 'healthy' });
  });
  const [kept, cut] = [phases.get('kept'), phases.get('cut')];
  if (kept === undefined || cut === undefined || afterOf(heard.get('started')) === undefined)
    throw new Error(
      `${variant.name}: not all connections were there after ${HEALTHY_START_MS} ms of a healthy resolver`,
    );
  return {
    variant,
    /** From the first connection to answers on all of them; undefined: not within the time. */
    startedMs,
    startAsked,
    kept,
    cut,
    /** From the moment when the resolver is healthy again until all connections answered. */
    backMs: afterOf(heard.get('back')),
    storeCores: storeMs / 1000 / cut.seconds,
    generatorCores: readerMs / 1000 / cut.seconds,
  };
}

function afterOf(said: ReaderSaid | undefined): number | undefined {
  return said !== undefined && 'afterMs' in said ? said.afterMs : undefined;
}

/** Runs a reader that looks up names at our name server. Its messages reach `hear` at once. @throws when it fails. */
async function runReader(lab: Lab, plan: ReaderPlan, hear: (said: ReaderSaid) => void): Promise<void> {
  const reader = join(import.meta.dirname, 'dns', 'reader.ts');
  const [command = '', ...args] = inNamespace(lab.folder, [process.execPath, reader, JSON.stringify(plan)]);
  const { keptMs = 0, cutMs = 0, backWaitMs = 0 } = plan.then ?? {};
  const last: ReaderSaid['kind'] = plan.then === undefined ? 'started' : 'back';
  await runProgram({
    command,
    args,
    cores: lab.cores.generator,
    signal: lab.signal,
    limitMs: plan.startWaitMs + keptMs + cutMs + backWaitMs + AROUND_MS,
    onLine: (line) => {
      const said: ReaderSaid = JSON.parse(line);
      hear(said);
      return said.kind === last;
    },
  });
}
