import type { Chart, Series } from '../../kit/finding.ts';
import type { Outcome } from './outcome.ts';
import { PUBLISHED_PER_CORE } from './published.ts';

export function chartsOf(outcomes: readonly Outcome[]): Chart[] {
  const places = outcomes.map(({ peer }) => peer.name);
  const series = (name: string, of: (outcome: Outcome) => number | undefined): Series => ({
    name,
    values: outcomes.map(of),
  });
  const bars = { across: 'who serves', places, shape: 'bars' } as const;
  const published = places.map((name) => PUBLISHED_PER_CORE.find((one) => one.name.test(name))?.perSecond);
  return [
    {
      ...bars,
      id: '',
      title: 'Requests per second and core of the server',
      unit: 'per-second',
      series: [
        series('one cached page', ({ page }) => page?.perCore),
        series('many cached pages', ({ many }) => many?.perCore),
        ...(published.some((value) => value !== undefined)
          ? [{ name: 'published', isPublished: true, values: published } as const]
          : []),
      ],
    },
    {
      ...bars,
      id: 'stampede',
      title: 'Engine queries per page after a purge of all replicas',
      unit: 'count',
      isLog: true,
      series: [
        series('one hot page', ({ stampede }) => stampede?.hot.queriesPerKey),
        series('each of many pages', ({ stampede }) => stampede?.many.queriesPerKey),
      ],
    },
    {
      ...bars,
      id: 'memory',
      title: 'Memory and files of a page',
      unit: 'bytes',
      series: [
        series('process', ({ memory }) => memory?.residentPerPage),
        series('store', ({ memory }) => memory?.storePerPage),
        series('files', ({ memory }) => memory?.diskPerPage),
      ],
    },
  ];
}
