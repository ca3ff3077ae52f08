import type { Chart } from '../../kit/finding.ts';
import { type ClientView, VIEW_CONNECTIONS } from './client-view.ts';
import { PUBLISHED } from './published.ts';
import { BATCHES, type BatchRow, LOADS, loadName } from './sweep.ts';

export function batchCharts(rows: readonly BatchRow[], views: readonly ClientView[]): readonly Chart[] {
  const across = { across: 'commands in a batch', places: BATCHES.map(String), shape: 'lines' } as const;
  const byBatch = (clients: number, value: (row: BatchRow) => number): readonly (number | undefined)[] =>
    BATCHES.map((pipeline) => {
      const row = rows.find((one) => one.clients === clients && one.pipeline === pipeline);
      return row && value(row);
    });
  return [
    {
      id: '',
      title: 'GET of pages a second by the size of a batch',
      ...across,
      unit: 'per-second',
      isLog: true,
      series: [
        ...LOADS.map((clients) => ({
          name: loadName(clients),
          values: byBatch(clients, ({ perSecond }) => perSecond),
        })),
        { name: `a client in Node, ${VIEW_CONNECTIONS}`, values: views.map(({ perSecond }) => perSecond) },
        { name: 'published', isPublished: true, values: PUBLISHED.map(({ perSecond }) => perSecond) },
      ],
    },
    {
      id: 'latency',
      title: 'Waiting for a batch by its size',
      ...across,
      unit: 'ms',
      isLog: true,
      series: [
        ...LOADS.map((clients) => ({
          name: `whole batch, mean, ${loadName(clients)}`,
          values: byBatch(clients, ({ wholeMs }) => wholeMs),
        })),
        {
          name: `p99 of a client in Node, ${VIEW_CONNECTIONS}`,
          values: views.map(({ answered, latencyMs }) => (answered === 0 ? undefined : latencyMs.p99)),
        },
        { name: 'p99, published', isPublished: true, values: PUBLISHED.map(({ p99Ms }) => p99Ms) },
      ],
    },
  ];
}
