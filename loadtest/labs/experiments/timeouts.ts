import type { Chart, Column, FindingTable, Row } from '../kit/finding.ts';
import type { Experiment } from '../kit/lab.ts';
import { memtierCommand, memtierFill, PUBLISHED_MIX } from '../kit/mix.ts';
import { type Figures, quietestOf } from './timeouts/figures.ts';
import { lessonOf } from './timeouts/lesson.ts';
import { BUSY, DEADLINE_MS, HOLDS, playScene, type Scene, type SceneRan, type Variant } from './timeouts/scene.ts';

/** As many commands a second as one generator can still reconnect for, each on a connection of its own. */
const PLAIN: Scene = {
  isTls: false,
  ratePerSecond: 6000,
  connections: 400,
  variants: ['closes', 'abandons', 'adapter closes', 'adapter'],
};
/** A handshake costs a store over ten times what a connection without one does, and the generator twice that. */
const TLS: Scene = { isTls: true, ratePerSecond: 400, connections: 100, variants: ['closes', 'abandons'] };

const NAMES: Readonly<Record<Variant, string>> = {
  closes: `${DEADLINE_MS} ms, then the connection is closed`,
  abandons: `${DEADLINE_MS} ms, then the command is abandoned`,
  'adapter closes': `serpcache's adapter with a socket timeout of ${DEADLINE_MS} ms`,
  adapter: "serpcache's adapter as shipped (socket timeout 3 s)",
};
const PUBLISHED: Readonly<Partial<Record<Variant, string>>> = { abandons: 'latency ÷5, fewer connections' };

const COLUMNS: readonly Column[] = [
  { name: 'answered', unit: 'per-second' },
  { name: 'lost', unit: 'share' },
  { name: 'of those never sent', unit: 'share' },
  { name: `mean of all, lost at ${DEADLINE_MS} ms`, unit: 'ms' },
  { name: 'p50 of answered', unit: 'ms' },
  { name: 'p99 of answered', unit: 'ms' },
  { name: 'losing for', unit: 'text' },
  { name: 'opened anew', unit: 'count' },
  { name: 'open at most', unit: 'count' },
  { name: 'store', unit: 'cores' },
  { name: 'store waited', unit: 'share' },
];

/** What a client should do when the store does not answer in time: close its connection, or leave it alone. */
export const timeouts: Experiment = {
  varies:
    'a client timeout that closes the connection, against a long socket timeout and a short deadline, on a slow shard',
  parts: ['redis'],
  run: async (lab) => {
    const plain = await playScene(lab, PLAIN);
    const tls = await playScene(lab, TLS);
    const compared = {
      closes: chosen(plain, 'closes'),
      abandons: chosen(plain, 'abandons'),
      calm: plain.calm.abandons,
      adapter: {
        shipped: chosen(plain, 'adapter'),
        closes: chosen(plain, 'adapter closes'),
        perSecondEach: PLAIN.ratePerSecond / PLAIN.connections,
      },
    };
    const tlsLesson = lessonOf({
      closes: chosen(tls, 'closes'),
      abandons: chosen(tls, 'abandons'),
      calm: tls.calm.abandons,
    });
    return {
      title: 'Timeouts that close connections',
      published:
        'A classifieds site: a long socket timeout with a short deadline in the application, in place of a short socket timeout, divided the latency of a loaded store by five and needed fewer connections: the one quick fix that stayed.',
      tables: [tableOf('Without TLS', PLAIN, plain), tableOf('Over TLS', TLS, tls)],
      charts: [
        secondsChart('', 'Answered while a shard is slow, without TLS', PLAIN, plain),
        secondsChart('tls', 'Answered while a shard is slow, over TLS', TLS, tls),
      ],
      lesson: lessonOf(compared),
      notes: [
        `The shard is made slow by a neighbour on the same store: all the time its heavy commands (scripts of 2 ms) fill the store to about ${Math.round(BUSY * 100)} % of its core (${Math.round(plain.neighbourShare * 100)} points of it theirs), and in the slow spell one more takes ${HOLDS.ms} ms every ${HOLDS.everyMs} ms. The spell begins after a fifth of the time and its last command comes after about three fifths.`,
        `Every row has the same offered rate, whatever is answered; "no slow spell" shows that the store can do it, and what the usual hiccups of a machine make of closing. Variants are measured in turn, twice; the row is the round in which the store waited least for its processor.`,
        `Lost: not answered within ${DEADLINE_MS} ms, or under way on a connection that was closed for another command. Nothing is sent again, as it is a miss and its page comes from elsewhere; clients that retry would add to the load.`,
        'The driver opens bare connections. Client libraries say more on each: the adapter names itself and asks for INFO, waits 50–100 ms before it connects again and fails at once meanwhile; its breaker gives up a node that loses half of its reads. Hundreds of its connections in one process stand for a fleet.',
        `Over TLS: ${tlsLesson.sentence}`,
        'memtier and redis-benchmark have no deadline for a command: the commands shown repeat the load, not the deadlines.',
      ],
    };
  },
};

function chosen(ran: SceneRan, variant: Variant): Figures {
  const figures = quietestOf(ran.trials.get(variant) ?? []);
  if (figures === undefined) throw new Error(`${variant} was not measured`);
  return figures;
}

function tableOf(title: string, scene: Scene, ran: SceneRan): FindingTable {
  const row = (name: string, figures: Figures, variant?: Variant): Row => {
    const published = variant === undefined ? undefined : PUBLISHED[variant];
    return {
      name,
      values: valuesOf(figures),
      limit: figures.limit,
      ...(published !== undefined && !scene.isTls && { published }),
      command: commandOf(scene),
    };
  };
  return {
    title: `${title}: ${scene.ratePerSecond} commands/s on ${scene.connections} connections`,
    columns: COLUMNS,
    rows: [
      row(`no slow spell: ${NAMES.closes}`, ran.calm.closes),
      row(`no slow spell: ${NAMES.abandons}`, ran.calm.abandons),
      ...scene.variants.map((variant) => row(NAMES[variant], chosen(ran, variant), variant)),
    ],
  };
}

function valuesOf(figures: Figures): Row['values'] {
  const { p50Ms, p99Ms, lostShare } = figures;
  const hasAnswers = lostShare < 1;
  return [
    figures.answeredPerSecond,
    lostShare,
    lostShare > 0 ? figures.unsentShare : undefined,
    figures.meanOfAllMs,
    hasAnswers ? p50Ms : undefined,
    hasAnswers ? p99Ms : undefined,
    `${figures.slowSeconds} s${figures.isSlowAtEnd ? ', to the end' : ''}`,
    figures.opened,
    figures.mostOpen,
    figures.storeCores,
    figures.waitedShare,
  ];
}

function commandOf({ connections, ratePerSecond, isTls }: Scene): string {
  const rate = `--rate-limiting=${ratePerSecond / connections}`;
  const load = memtierCommand(PUBLISHED_MIX, {
    clients: connections,
    more: isTls ? `${rate} --tls --cacert=ca.crt` : rate,
  });
  // One command for all rows of a table, so it is printed once.
  return `${memtierFill(PUBLISHED_MIX, { isTls })} && ${load}`;
}

function secondsChart(id: string, title: string, scene: Scene, ran: SceneRan): Chart {
  const series = scene.variants.map((variant) => ({ name: NAMES[variant], seconds: chosen(ran, variant).eachSecond }));
  const length = Math.max(0, ...series.map(({ seconds }) => seconds.length));
  return {
    id,
    title,
    across: 'second of the load',
    places: Array.from({ length }, (_, at) => String(at + 1)),
    unit: 'per-second',
    shape: 'lines',
    series: series.map(({ name, seconds }) => ({
      name,
      values: Array.from({ length }, (_, at) => seconds[at]?.answered),
    })),
  };
}
