import { countText } from '../../../src/report/format.ts';
import { sum } from '../../judge/series.ts';
import type { DrivePlan } from '../kit/driver/drive.ts';
import type { Claim } from '../kit/finding.ts';
import { defineExperiment, type Lab } from '../kit/lab.ts';
import { usOf } from '../kit/meters.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import { allClosed, CORES, mixRow, STORE_TIME, startLadder, startWideStore, type WideStore } from './many-clients.ts';

interface Policy {
  readonly name: string;
  /** Commands of one connection; undefined: kept for ever. */
  readonly every: number | undefined;
  /** As published, by the number of clients. */
  readonly published: Readonly<Record<number, string>>;
}

/** As published. */
const CLIENTS = [200, 800, 2000];

export const KEPT: Policy = {
  name: 'kept',
  every: undefined,
  published: { 200: '60 ms, 100 % CPU', 2000: '190 ms, 100 % CPU' },
};
/** The publication names no number of clients for the third and fourth: they stand at the largest. */
export const EACH: Policy = { name: 'new each time', every: 1, published: { 2000: '> 1000 ms, 40–50 % CPU' } };
const POLICIES: readonly Policy[] = [
  KEPT,
  { name: 'new after 70', every: 70, published: {} },
  { name: 'new after 5', every: 5, published: { 2000: '~600 ms, ~60 % CPU' } },
  EACH,
];

/** Published mean latency of kept connections, by clients; for the other policies the clients are not known. */
const KEPT_PUBLISHED_MS: Readonly<Record<number, number>> = { 200: 60, 2000: 190 };

/** A closed connection stays a client of the store until the store reads from it: half of the maximum is left to those. */
const SHARE_OF_MAXIMUM = 0.5;
const COST_CLIENTS = 50;
const ROUNDS = 2;
const [CLOSED_LOOP_SECONDS, COST_SECONDS] = [1.5, 2];
type ClosedRow = Awaited<ReturnType<typeof closedLoopRow>>;

export interface CostRow extends Omit<ClosedRow, 'clients'> {
  readonly isTls: boolean;
}

export type ReconnectMeasured = Awaited<ReturnType<typeof measure>>;

export const reconnect = defineExperiment({
  varies: 'a new connection after every 70th, 5th and every request, and never, with 200, 800 and 2,000 clients',
  parts: ['redis', 'openssl'],
  title: 'What does a new connection after each n requests cost?',
  published:
    'kept connections: 60 ms with 200 clients, 190 ms with 2,000, the store at 100 % CPU; a new one after every 5th request: about 600 ms at about 60 %; after every request: more than 1000 ms at 40–50 %. The store idles, and yet everybody waits',
  sentence:
    'Keep connections: a new one for each request costs processor time on both sides, and far more with TLS. An idle store under waiting clients is a reason to count connects.',
  measure,
  tables: ({ closed, costs }) => [
    tableOf({
      title: 'Each client asks again as soon as it was answered',
      rows: closed,
      name: (row) => `${countText(row.clients)} clients, ${row.policy.name}`,
      columns: [
        ['answered', 'per-second', (row) => row.perSecond],
        ['mean', 'ms', (row) => row.meanMs],
        ['p99', 'ms', (row) => row.p99Ms],
        ['connects', 'per-second', (row) => row.connectsPerSecond],
        ['errors', 'count', (row) => row.errors],
        ...CORES,
        ...STORE_TIME,
      ],
      published: (row) => row.policy.published[row.clients],
    }),
    tableOf({
      title: 'What a connect costs the store: new connections, and kept ones at the rate which those gave',
      rows: costs,
      name: (row) => `${row.isTls ? 'TLS' : 'plain'}, ${row.policy.name}`,
      columns: [
        ['answered', 'per-second', (row) => row.perSecond],
        ['connects', 'per-second', (row) => row.connectsPerSecond],
        ...STORE_TIME,
        ['generator time per command', 'us', (row) => row.generatorUs],
        ...CORES,
        ['errors', 'count', (row) => row.errors],
      ],
    }),
  ],
  charts: ({ closed, rungs }) => [
    chartOf({
      title: 'Mean latency, connecting included',
      across: 'clients',
      points: rungs,
      pointName: countText,
      unit: 'ms',
      shape: 'lines',
      isLog: true,
      series: [
        ...POLICIES.map((policy) => ({
          name: policy.name,
          of: (clients: number) => closed.find((row) => row.policy === policy && row.clients === clients)?.meanMs,
        })),
        { name: 'kept, published', isPublished: true, of: (clients) => KEPT_PUBLISHED_MS[clients] },
      ],
    }),
  ],
  claims: (measured) => [...waitClaims(measured), ...costClaims(measured)],
  notes: ({ closed, rungs, whyNoMore }) => {
    const errors = sum(closed.map((row) => row.errors));
    const missing = CLIENTS.filter((clients) => !rungs.includes(clients)).map(countText);
    return [
      ...(missing.length === 0
        ? []
        : [
            `${missing.join(' and ')} clients were not measured: half of the possible connections are left to those that are closing. ${whyNoMore}`,
          ]),
      'Our own driver sends the published mix in a closed loop: each client has one request under way, so the mean latency is clients over rate. A row whose limit is the generator shows what one core can ask; that the store idles is part of the answer.',
      'On loopback the kernel does most of a TCP handshake on the core of the client; over a network the store’s machine does its half of it, and every connect waits a round trip more.',
      'Each row of the closed loop is the faster of two runs that took turns with the others, because other load on the machine can only slow a run down.',
      'All connections are open when a row begins, each at another point of its life, as after a long time; latency includes connecting.',
      `Rows of one rate: ${COST_CLIENTS} clients connect for each request as fast as the generator can, then the same number of kept connections is asked at that rate. Store time is the store’s processor time over the commands of both rounds; the kept rows at a low rate are counted in steps of 10 ms.`,
      `A closed connection may hold its local port for a minute, and there are some 28,000 to one address: the connects are spread over eight loopback addresses, with TLS over one. ${errors === 0 ? 'No connect failed in any row' : `${countText(errors)} requests or connects failed in all rows`}.`,
      'Published latencies of new connections do not say the number of clients: they stand beside 2,000.',
    ];
  },
});

/** Clients wait longer although the store is less busy. Means over all numbers of clients: one disturbed row decides nothing. */
function waitClaims({ closed }: ReconnectMeasured): readonly Claim[] {
  const pairs = closed.flatMap((anew) => {
    const kept = closed.find((row) => row.policy === KEPT && row.clients === anew.clients);
    return anew.policy !== EACH || kept === undefined ? [] : [{ anew, kept }];
  });
  const most = pairs.at(-1);
  const fullShare = (...limits: readonly string[]): number | undefined =>
    most && pairs.filter(({ anew }) => limits.includes(anew.limit)).length / pairs.length;
  return [
    {
      text: 'mean latency, new each time ÷ kept, mean over all numbers of clients',
      figure: most && geometricMean(pairs.map(({ anew, kept }) => anew.meanMs / kept.meanMs)),
      unit: 'times',
      // Published: from 190 ms to more than 1000. Half of that is still the same statement.
      atLeast: 2.5,
    },
    {
      text: 'busy cores of the store, new each time ÷ kept, mean over all numbers of clients',
      figure: most && geometricMean(pairs.map(({ anew, kept }) => anew.storeCores / kept.storeCores)),
      unit: 'times',
      // Published: from 100 % of a core to 40–50 %. A smaller difference is within the noise of a busy machine.
      atMost: 0.8,
    },
    ...pairs.map(
      ({ anew, kept }): Claim => ({
        text: `mean latency with ${countText(anew.clients)} clients, new each time ÷ kept`,
        figure: anew.meanMs / kept.meanMs,
        unit: 'times',
      }),
    ),
    // A full generator: all clients wait for the side that connects. A full store: accepting makes it slow.
    { text: 'rows of new connections with only the generator full', figure: fullShare('generator'), unit: 'share' },
    { text: 'rows of new connections with the store full', figure: fullShare('store', 'both'), unit: 'share' },
  ];
}

function costClaims({ costs }: ReconnectMeasured): readonly Claim[] {
  return [false, true].flatMap((isTls): Claim[] => {
    const us = (policy: Policy) => costs.find((row) => row.isTls === isTls && row.policy === policy)?.storeUs;
    const [anewUs, keptUs] = [us(EACH), us(KEPT)];
    // Processor time comes in steps of 10 ms: a short run of kept connections may have none.
    if (anewUs === undefined || keptUs === undefined || keptUs === 0) return [];
    const how = isTls ? 'with TLS' : 'plain';
    return [
      { text: `store time per command, new each time ÷ kept, ${how}`, figure: anewUs / keptUs, unit: 'times' },
      { text: `store time of one connect, ${how}`, figure: Math.max(0, anewUs - keptUs), unit: 'us' },
    ];
  });
}

function geometricMean(factors: readonly number[]): number {
  return Math.exp(sum(factors.map(Math.log)) / factors.length);
}

async function measure(lab: Lab) {
  const { wide, rungs, whyNoMore } = await startLadder(lab, SHARE_OF_MAXIMUM, CLIENTS);
  return {
    closed: await closedLoopRows(lab, wide, rungs),
    costs: await costRows(lab, wide),
    rungs,
    whyNoMore,
  };
}

function closedLoopRows(lab: Lab, wide: WideStore, rungs: readonly number[]): Promise<readonly ClosedRow[]> {
  return alternately(
    rungs.flatMap((clients) => POLICIES.map((policy) => ({ clients, policy }))),
    ROUNDS,
    ({ clients, policy }) => {
      lab.say(`${countText(clients)} clients, ${policy.name}`);
      return closedLoopRow(lab, wide, { clients, policy, seconds: lab.seconds(CLOSED_LOOP_SECONDS) });
    },
    // The faster of two: other load on the machine only slows a run down.
    ({ perSecond }) => -perSecond,
  );
}

export async function closedLoopRow(
  lab: Lab,
  wide: WideStore,
  load: { readonly clients: number; readonly policy: Policy } & Pick<DrivePlan, 'seconds' | 'ratePerSecond'>,
) {
  const { clients, policy, ...rest } = load;
  await allClosed(lab, wide.store);
  const row = await mixRow(lab, wide, {
    ...rest,
    connections: clients,
    commandsPerConnection: policy.every,
  });
  return { ...row, policy, clients, connectsPerSecond: row.connects / row.seconds };
}

/**
 * The cost of a connect for the store: a new connection for each command as fast as the generator can, then kept ones at
 * the same rate. The store's processor time for either does not depend on the speed of the generator.
 */
async function costRows(lab: Lab, plain: WideStore): Promise<readonly CostRow[]> {
  const secure = await startWideStore(lab, { tls: true });
  const seconds = lab.seconds(COST_SECONDS);
  const all: CostRow[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const wide of [plain, secure]) {
      const isTls = wide === secure;
      lab.say(`${COST_CLIENTS} clients${isTls ? ' with TLS' : ''}: ${EACH.name}, then ${KEPT.name} at the same rate`);
      const anew = await closedLoopRow(lab, wide, { clients: COST_CLIENTS, policy: EACH, seconds });
      const ratePerSecond = Math.max(1, Math.round(anew.perSecond));
      const kept = await closedLoopRow(lab, wide, { clients: COST_CLIENTS, policy: KEPT, seconds, ratePerSecond });
      all.push({ ...anew, isTls }, { ...kept, isTls });
    }
  }
  return [false, true].flatMap((isTls) =>
    [EACH, KEPT].flatMap((policy) => {
      const own = all.filter((row) => row.isTls === isTls && row.policy === policy);
      const [first] = own;
      return first === undefined ? [] : [{ ...first, ...together(own) }];
    }),
  );
}

/** All rounds as one: processor time is counted in steps of 10 ms, and one round at a low rate has few of them. */
export function together(rows: readonly CostRow[]) {
  const over = (figure: (row: CostRow) => number): number => sum(rows.map(figure));
  const seconds = over((row) => row.seconds);
  const perSecond = over((row) => row.answered) / seconds;
  const storeCores = over((row) => row.storeCores * row.seconds) / seconds;
  const generatorCores = over((row) => row.generatorCores * row.seconds) / seconds;
  return {
    perSecond,
    storeCores,
    generatorCores,
    storeUs: usOf(storeCores, perSecond),
    generatorUs: usOf(generatorCores, perSecond),
    connectsPerSecond: over((row) => row.connects) / seconds,
    errors: over((row) => row.errors),
  };
}
