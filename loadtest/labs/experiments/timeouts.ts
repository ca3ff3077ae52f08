import { join } from 'node:path';
import { createRandom } from '../../random.ts';
import { massImport } from '../kit/benchmark.ts';
import { driven, drivenBy, type LabDriven } from '../kit/driven.ts';
import type { Chart, Claim, FindingTable } from '../kit/finding.ts';
import { defineExperiment, type Lab } from '../kit/lab.ts';
import { fillCommands, MIX_COMMANDS, PUBLISHED_MIX } from '../kit/mix.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import type { AdapterPlan } from './timeouts/adapter-load.ts';
import { runSpell, type SpellRun, startNeighbour } from './timeouts/slow-shard.ts';

const DEADLINE_MS = 50;
const SHIPPED_SOCKET_TIMEOUT_MS = 3000;
const HOLDS = { ms: 100, everyMs: 500 } as const;
/**
 * Share of the store's core, the neighbour's part included, that is well within its capacity. From 75 % on, a hiccup of the
 * machine is enough of a slow spell for connections that are closed.
 */
const BUSY = 0.65;
const LEAST_SHARE = 0.1;
const ROUNDS = 2;
const [SPELL_SECONDS, CALM_SECONDS] = [4, 2];
/** Hundreds of adapters shake hands on a store that is busy already. */
const AROUND_SECONDS = 20;

/** The client, and the way in which its wait ends. */
type Variant = 'closes' | 'abandons' | 'adapter closes' | 'adapter';

const NAMES: Readonly<Record<Variant, string>> = {
  closes: `${DEADLINE_MS} ms, then the connection is closed`,
  abandons: `${DEADLINE_MS} ms, then the command is abandoned`,
  'adapter closes': `serpcache's adapter with a socket timeout of ${DEADLINE_MS} ms`,
  adapter: "serpcache's adapter as shipped (socket timeout 3 s)",
};

/** The highest rate at which one generator can still reconnect for every command. */
const PLAIN = {
  isTls: false,
  ratePerSecond: 6000,
  connections: 400,
  variants: ['closes', 'abandons', 'adapter closes', 'adapter'] as Variant[],
};
/** A TLS handshake costs a store over ten times as much as a plain connection, and the generator twice that. */
const TLS: typeof PLAIN = { isTls: true, ratePerSecond: 400, connections: 100, variants: ['closes', 'abandons'] };

export type Figures = ReturnType<typeof figuresOf>;

type LoadMeasured = Awaited<ReturnType<typeof measureLoad>>;

export const timeouts = defineExperiment({
  varies:
    'a client timeout that closes the connection, against a long socket timeout and a short deadline, on a slow shard',
  parts: ['redis'],
  title: 'Should a timeout close the connection?',
  published:
    'A classifieds site: a long socket timeout with a short deadline in the application, in place of a short socket timeout, divided the latency of a loaded store by five and needed fewer connections: the one quick fix that stayed.',
  sentence:
    'Keep connections through a slow spell: set a short deadline in the application and a long socket timeout. A store that has to accept new connections and do TLS handshakes recovers later.',
  measure: async (lab) => ({ plain: await measureLoad(lab, PLAIN), tls: await measureLoad(lab, TLS) }),
  tables: ({ plain, tls }) => [spellTable('Without TLS', PLAIN, plain), spellTable('Over TLS', TLS, tls)],
  charts: ({ plain }) => [secondsChart('Answered while a shard is slow, without TLS', plain)],
  claims: ({ plain, tls }) => [
    ...keepingClaims(plain),
    // The publication says nothing of TLS: these decide nothing.
    ...keepingClaims(tls).map(({ text, figure, unit }) => ({ text: `over TLS: ${text}`, figure, unit })),
  ],
  notes: ({ plain }) => [
    `The shard is made slow by a neighbour on the same store: all the time its heavy commands (scripts of 2 ms) fill the store to about ${Math.round(BUSY * 100)} % of its core (${Math.round(plain.neighbourShare * 100)} points of it theirs), and in the slow spell one more takes ${HOLDS.ms} ms every ${HOLDS.everyMs} ms. The spell begins after a fifth of the time and its last command comes after about three fifths.`,
    `Every row has the same offered rate, whatever is answered; "no slow spell" shows that the store can bear it, and the effect of closing in the usual hiccups of a machine. Variants are measured in turn, twice; the row is the round in which the store waited least for its processor.`,
    'Lost: not answered within the deadline, or under way on a connection that was closed for another command. Nothing is sent again, as it is a miss and its page comes from elsewhere; clients that retry would add to the load.',
    'The driver opens bare connections. Client libraries send more on each: the adapter names itself and asks for INFO, waits 50–100 ms before it connects again and fails at once meanwhile; its breaker gives up a node that loses half of its reads. Hundreds of its connections in one process stand for a fleet.',
    // The rule on the share of failures needs 20 commands a second: MIN_VOLUME in src/stores/redis/node.ts.
    `Each of the adapter's connections has a breaker of its own and ${PLAIN.ratePerSecond / PLAIN.connections} commands a second, too few for its rule on the share of failures: a few late commands in a row open it, and a single probe has to be in time to close it.`,
  ],
});

/** A store that loses more than this without a slow spell was overloaded before anything was varied. */
const CALM_LOST = 0.05;

/** Keeping the connection costs less time than closing it, and needs fewer connections. */
function keepingClaims({ rows, calm }: LoadMeasured): readonly Claim[] {
  const [closes, abandons] = ['closes', 'abandons'].map((name) => rows.find(({ variant }) => variant === name));
  const isSeen = closes !== undefined && abandons !== undefined && calm.abandons.lostShare <= CALM_LOST;
  const gain = isSeen ? closes.meanOfAllMs / Math.max(0.001, abandons.meanOfAllMs) : undefined;
  // Where no command was late enough to close anything, nothing can be saved.
  const saved = isSeen && closes.opened > 0 ? 1 - abandons.opened / closes.opened : 0;
  return [
    {
      text: `mean of all commands, closed ÷ kept; not seen when over ${CALM_LOST * 100} % are lost without a slow spell`,
      figure: gain,
      unit: 'times',
      // Half the time: a smaller gain would not be called a cure.
      atLeast: 2,
    },
    {
      text: 'the same: more than noise',
      figure: gain,
      unit: 'times',
      // Two rounds on one machine differ by less.
      atLeast: 1.25,
    },
    {
      text: 'connections opened again that keeping saves',
      figure: isSeen ? saved : undefined,
      unit: 'share',
      // Half of them, for the same reason.
      atLeast: 0.5,
    },
  ];
}

function spellTable(title: string, load: typeof PLAIN, { rows, calm }: LoadMeasured): FindingTable {
  const { connections, ratePerSecond, isTls } = load;
  const ifAnswered = (figures: Figures, ms: number): number | undefined => (figures.lostShare < 1 ? ms : undefined);
  return tableOf({
    title: `${title}: ${ratePerSecond} commands/s on ${connections} connections`,
    rows: [
      { ...calm.closes, name: `no slow spell: ${NAMES.closes}` },
      { ...calm.abandons, name: `no slow spell: ${NAMES.abandons}` },
      ...rows.map((row) => ({ ...row, name: NAMES[row.variant] })),
    ],
    name: ({ name }) => name,
    columns: [
      ['answered', 'per-second', (row) => row.perSecond],
      ['lost', 'share', (row) => row.lostShare],
      ['of those never sent', 'share', (row) => (row.lostShare > 0 ? row.unsentShare : undefined)],
      [`mean of all, lost at ${DEADLINE_MS} ms`, 'ms', (row) => row.meanOfAllMs],
      ['p50 of answered', 'ms', (row) => ifAnswered(row, row.p50Ms)],
      ['p99 of answered', 'ms', (row) => ifAnswered(row, row.p99Ms)],
      ['losing for', 'text', (row) => `${row.slowSeconds} s${row.isSlowAtEnd ? ', to the end' : ''}`],
      ['opened again', 'count', (row) => row.opened],
      ['open at most', 'count', (row) => row.mostOpen],
      ['store', 'cores', (row) => row.storeCores],
      ['store waited', 'share', (row) => row.waitedShare],
    ],
    published: ({ name }) => (name === NAMES.abandons && !isTls ? 'latency ÷5, fewer connections' : undefined),
  });
}

function secondsChart(title: string, { rows }: LoadMeasured): Chart {
  const length = Math.max(0, ...rows.map(({ eachSecond }) => eachSecond.length));
  return chartOf({
    title,
    across: 'second of the load',
    unit: 'per-second',
    shape: 'lines',
    points: Array.from({ length }, (_, at) => at),
    pointName: (at) => String(at + 1),
    series: rows.map(({ variant, eachSecond }) => ({
      name: NAMES[variant],
      of: (at: number) => eachSecond[at]?.answered,
    })),
  });
}

/** One store, filled, with its neighbour: all variants go through a slow spell in turn, twice. */
async function measureLoad(lab: Lab, { isTls, ratePerSecond, connections, variants }: typeof PLAIN) {
  const store = await lab.startStore(isTls ? { tls: true } : {});
  await massImport(lab, store, fillCommands(PUBLISHED_MIX, createRandom(1).next));
  const neighbour = await startNeighbour(lab, store);
  const plan = { connections, ratePerSecond, commands: MIX_COMMANDS };
  const alone = await driven(lab, [store], { ...plan, seconds: Math.min(1, lab.seconds(1)) });
  const share = Math.max(LEAST_SHARE, BUSY - alone.storeCores);

  const load = (variant: Variant, seconds: number): Promise<LabDriven> => {
    if (variant === 'closes' || variant === 'abandons')
      return driven(lab, [store], { ...plan, seconds, deadline: { ms: DEADLINE_MS, closes: variant === 'closes' } });
    const adapterPlan: AdapterPlan = {
      connections,
      ratePerSecond,
      seconds,
      mix: PUBLISHED_MIX,
      deadlineMs: DEADLINE_MS,
      socketTimeoutMs: variant === 'adapter' ? SHIPPED_SOCKET_TIMEOUT_MS : DEADLINE_MS,
      target: { host: store.host, port: store.port },
      watched: [store.pid()],
    };
    const main = join(import.meta.dirname, 'timeouts', 'adapter-load.ts');
    return drivenBy(lab, { main, plan: adapterPlan, limitMs: (seconds + AROUND_SECONDS) * 1000 });
  };
  const run = async (variant: Variant, name: string, wanted: number, holds?: typeof HOLDS): Promise<Figures> => {
    lab.say(`${isTls ? 'TLS' : 'plain'}: ${variant}, ${name}`);
    const seconds = lab.seconds(wanted);
    const spell = { store, neighbour, share, seconds, connections, holds };
    return figuresOf(await runSpell({ ...spell, load: () => load(variant, seconds) }));
  };
  // A check that the store can bear the load, and the effect of a hiccup when closing.
  const calm = {
    abandons: await run('abandons', 'no slow spell', CALM_SECONDS),
    closes: await run('closes', 'no slow spell', CALM_SECONDS),
  };
  const rows = await alternately<Variant, Figures & { readonly variant: Variant }>(
    variants,
    ROUNDS,
    async (variant, before) => ({
      ...(await run(variant, `round ${before.length + 1}`, SPELL_SECONDS, HOLDS)),
      variant,
    }),
    // Lower in the round in which the machine was quieter for the store: the choice does not depend on the result.
    ({ waitedShare }) => waitedShare,
  );
  await lab.clear();
  return { rows, calm, neighbourShare: share };
}

/** One in a hundred: below it a p99 is that of answers. */
const SLOW_SHARE = 0.01;

export function figuresOf({ load, ...spell }: SpellRun) {
  const { answered, errors, eachSecond } = load;
  const lost = errors.late + errors.broken + errors.refused + errors.unsent;
  const all = Math.max(1, answered + lost);
  type Second = (typeof eachSecond)[number];
  const isSlow = ({ answered: good, failed }: Second): boolean => failed > SLOW_SHARE * (good + failed);
  const first = eachSecond.findIndex(isSlow);
  const last = eachSecond.findLastIndex(isSlow);
  return {
    ...load,
    ...spell,
    /** Share of all commands: not answered by the deadline, or lost with a connection. */
    lostShare: lost / all,
    /** Share of the lost commands: given up before they were sent, as by a breaker. */
    unsentShare: errors.unsent / Math.max(1, lost),
    /** Mean of all commands, a lost one counted at the deadline. */
    meanOfAllMs: (answered * load.meanMs + lost * DEADLINE_MS) / all,
    /** Whole seconds from the first to the last in which more than one of a hundred was lost. */
    slowSeconds: last < 0 ? 0 : last - first + 1,
    /** The last second was still one of them, so the slow time may have been longer. */
    isSlowAtEnd: last >= 0 && last === eachSecond.length - 1,
  };
}
