import { amountText, countText, durationText, percentText, timesText } from '../../../../src/report/format.ts';
import type { Lesson, Limit } from '../../kit/finding.ts';

export interface ReconnectFigures {
  readonly rows: readonly {
    /** Commands of one connection; undefined: kept. */
    readonly every: number | undefined;
    readonly clients: number;
    readonly meanMs: number;
    readonly storeCores: number;
    readonly limit: Limit;
  }[];
  /** Store time for one command at one rate, µs: with a connection for each and with kept ones. */
  readonly prices: readonly { readonly isTls: boolean; readonly anewUs: number; readonly keptUs: number }[];
}

/** Published: from 190 ms to more than 1000. Half of that is still the same lesson. */
const LATER = 2.5;
/** Published: from 100 % of a core to 40–50 %. Less of a difference is within what a busy machine makes. */
const IDLER = 0.8;

/** Whether new connections make everybody wait, and leave the store idle meanwhile. */
export function reconnectLesson({ rows, prices }: ReconnectFigures): Lesson {
  const pairs = rows.flatMap((anew) => {
    const kept = rows.find((row) => row.every === undefined && row.clients === anew.clients);
    return anew.every !== 1 || kept === undefined
      ? []
      : [
          {
            ...{ anew, kept, clients: anew.clients },
            later: anew.meanMs / kept.meanMs,
            idler: anew.storeCores / kept.storeCores,
          },
        ];
  });
  const most = pairs.at(-1);
  if (most === undefined)
    return {
      holds: 'unseen',
      sentence: 'It could not be seen here: no number of clients could be measured both ways.',
    };
  // Over all numbers of clients: one row that something else disturbed does not turn the answer.
  const isLater = geometricMean(pairs.map(({ later }) => later)) >= LATER;
  const isIdler = geometricMean(pairs.map(({ idler }) => idler)) <= IDLER;
  const holds = isLater && isIdler ? 'yes' : isLater || isIdler ? 'partly' : 'no';
  const wait = `a new connection for each request made ${pairs.map(({ clients, later, kept, anew }) => `${countText(clients)} clients wait ${timesText(later)} as long (${durationText(anew.meanMs)} instead of ${durationText(kept.meanMs)})`).join(', ')}`;
  const idle = `the store was busy for ${percentText(most.anew.storeCores)} of a core instead of ${percentText(most.kept.storeCores)} at ${countText(most.clients)}`;
  const start = { yes: 'It holds', partly: 'It holds in part', no: 'It does not hold' }[holds];
  const but =
    holds === 'partly'
      ? `; ${isLater ? 'but it did not idle by as much as published' : 'but nobody waited by as much as published'}`
      : '';
  return {
    holds,
    sentence: [
      `${start}: ${wait}, and ${idle}${but}.`,
      whyWords(pairs.map(({ anew }) => anew.limit)),
      ...prices.map(priceWords),
    ]
      .filter((text) => text !== '')
      .join(' '),
  };
}

/** What was full where everybody waited, and what follows from it. */
function whyWords(limits: readonly Limit[]): string {
  const rows = (...wanted: readonly Limit[]): number => limits.filter((one) => wanted.includes(one)).length;
  const [generator, store] = [rows('generator'), rows('store', 'both')];
  const of = (count: number): string =>
    `in ${count === limits.length ? 'each' : `${count} of ${limits.length}`} of these rows`;
  if (generator * 2 > limits.length)
    return `The generator was full ${of(generator)}: it is those who connect that everybody waits for, which is also why the store idles.`;
  if (store * 2 > limits.length) return `The store was full ${of(store)}: here it is accepting that makes it slow.`;
  return `Neither was full ${of(rows('neither'))}: both waited for each other, or for a core that others had.`;
}

function priceWords({ isTls, anewUs, keptUs }: ReconnectFigures['prices'][number]): string {
  // Processor time comes in steps of 10 ms: a short run of kept connections may have none.
  if (keptUs === 0) return '';
  return `At one rate ${isTls ? 'with TLS ' : ''}a request with its own connection cost the store ${timesText(anewUs / keptUs)} the processor time of one on a kept connection (${amountText(anewUs)} µs instead of ${amountText(keptUs)}), so a connect is ${amountText(Math.max(0, anewUs - keptUs))} µs.`;
}

function geometricMean(factors: readonly number[]): number {
  return Math.exp(factors.reduce((sum, factor) => sum + Math.log(factor), 0) / factors.length);
}
