import { countText, perSecondText } from '../../src/report/format.ts';
import type { DomainSample } from '../sample/sample.ts';
import { curve, highest, type Sheet } from './curve.ts';
import { growthPerSecond, levelOf, perReplica, total } from './growth.ts';
import { linePlot, type Plot } from './plot.ts';

const MISSING = 'no admin address was given, or it answered nothing.';

export function engineRatePlot(sheet: Sheet, id: string): Plot {
  const { samples } = sheet.timeline;
  const rate = (read: (domain: DomainSample) => number) =>
    curve(sheet, samples, (between) => growthPerSecond(between, (sample) => perReplica(sample, read)), 'mean');
  const failures = rate(({ engineFailures }) => engineFailures);
  return linePlot({
    ...{ sheet, id, text: perSecondText },
    title: 'Engine calls, per second',
    curves: [
      { style: 'engine', name: 'calls', runs: rate(({ engineCalls }) => engineCalls), hasSpread: true },
      { style: 'failed', name: 'failed', runs: highest(failures) > 0 ? failures : [], hasSpread: true },
    ],
    missing: MISSING,
  });
}

/** How much of the engine was taken, of what it may be asked at once. */
export function enginePlacesPlot(sheet: Sheet, id: string): Plot {
  const { samples } = sheet.timeline;
  const level = (read: (domain: DomainSample) => number | undefined, combine: 'worst' | 'middle') =>
    curve(sheet, samples, ({ after }) => levelOf(after, read), combine);
  const queued = level(({ engineQueued }) => engineQueued, 'worst');
  const open = level(({ breaker }) => (breaker === 2 ? 1 : undefined), 'worst');
  const fullest = fullestDomain(sheet);
  return linePlot({
    ...{ sheet, id, text: countText, isWhole: true, heightPx: 130 },
    title: 'Engine calls in flight, of all processes and domains',
    curves: [
      { style: 'open', name: 'a breaker open', runs: atFloor(open), figure: '' },
      { style: 'ceiling', name: 'ceiling', runs: level(({ engineCeiling }) => engineCeiling, 'middle') },
      { style: 'limit', name: 'limit at that time', runs: level(({ engineLimit }) => engineLimit, 'middle') },
      { style: 'queued', name: 'waiting', runs: highest(queued) > 0 ? queued : [] },
      {
        style: 'engine',
        name: 'in flight',
        runs: level(({ engineInFlight }) => engineInFlight, 'worst'),
        hasSpread: true,
      },
    ],
    notes: [
      `Seen about once a second: peaks in between are not in it.${fullest === undefined ? '' : ` Fullest domain: ${fullest}.`}`,
    ],
    missing: MISSING,
  });
}

/** A broad bar along the floor, so that it hides nothing. */
function atFloor(runs: ReturnType<typeof curve>): ReturnType<typeof curve> {
  return runs.map((run) => run.map((point) => ({ ...point, value: 0 })));
}

/** The domain that came nearest to its own ceiling, or furthest above it: sums of all would hide that. */
function fullestDomain({ record }: Sheet): string | undefined {
  let fullest: { readonly share: number; readonly words: string } | undefined;
  for (const { replicas } of record.samples) {
    for (const domain of new Set(replicas.flatMap(({ domains }) => Object.keys(domains)))) {
      const own = replicas.map(({ domains }) => domains[domain]);
      const inFlight = total(own.map((one) => one?.engineInFlight));
      const ceiling = total(own.map((one) => one?.engineCeiling));
      if (inFlight === undefined || ceiling === undefined || ceiling <= 0) continue;
      const share = inFlight / ceiling;
      if (fullest !== undefined && share <= fullest.share) continue;
      fullest = { share, words: `${domain}, ${countText(inFlight)} of ${countText(ceiling)} places` };
    }
  }
  return fullest?.words;
}
