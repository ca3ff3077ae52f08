import type { DomainSample, Sample } from '../sample/sample.ts';
import { processorsIn } from '../stack/processors.ts';
import { coreCount, coresText, processCores } from './core-meters.ts';
import type { Look, Meter, Reading } from './meter.ts';
import { meanOf, mostOf, seriesOf, sumOfKnown } from './part-series.ts';

/** Places at the engine, which serpcache itself keeps few, by domain; and what searchd computes with. */
export function engineMeters(samples: readonly Sample[]): readonly Meter[] {
  const domains = new Set(
    samples.flatMap(({ replicas }) => replicas.flatMap((replica) => Object.keys(replica.domains))),
  );
  return [
    ...Array.from(
      domains,
      (domain): Meter => ({
        ...ENGINE,
        name: `places at the engine for ${domain}`,
        cause: 'places at the engine',
        read: (look) => places(look, domain),
      }),
    ),
    { ...ENGINE, name: 'cores of searchd', cause: 'cores of searchd', read: searchdCores },
  ];
}

const ENGINE = { kind: 'engine', growsWithRate: true } as const;
/** Waiting on average: a queue that is never empty means that no place ever is. */
const QUEUE_STANDS = 1;

/** Of the ceiling: the limit breathes a little whatever happens. */
const LOWERED = 0.9;

/** The mean of what is in use: with four places, a single sample finds them all taken now and then. */
function places({ samples }: Look, domain: string): Reading | undefined {
  const level = (read: (own: DomainSample) => number | undefined) =>
    seriesOf(samples, ({ replicas }) =>
      sumOfKnown(
        replicas.map(({ domains }) => {
          const own = domains[domain];
          return own === undefined ? undefined : read(own);
        }),
      ),
    );
  const inFlight = level(({ engineInFlight }) => engineInFlight);
  const used = meanOf(inFlight);
  const ceiling = meanOf(level(({ engineCeiling }) => engineCeiling));
  if (used === undefined || ceiling === undefined || !(ceiling > 0)) return undefined;
  const queued = meanOf(level(({ engineQueued }) => engineQueued)) ?? 0;
  const limit = meanOf(level(({ engineLimit }) => engineLimit)) ?? ceiling;
  const words = [
    `${used.toFixed(1)} of ${short(ceiling)} places, ${mostOf(inFlight) ?? 0} at most`,
    ...(limit < LOWERED * ceiling ? [`lowered to ${short(limit)} while replies were slow`] : []),
    ...(queued >= 0.05 ? [`${short(queued)} waiting`] : []),
  ];
  return { share: queued >= QUEUE_STANDS ? 1 : used / ceiling, words: words.join(', ') };
}

function searchdCores({ samples, machine }: Look): Reading | undefined {
  const cores = processCores(samples, 'searchd');
  const capacity = processorsIn(machine.serviceCpus) ?? machine.cores;
  return cores === undefined
    ? undefined
    : { share: cores / capacity, words: `${coresText(cores)} of ${coreCount(capacity)}` };
}

/** `4`, `3.5` */
function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}
