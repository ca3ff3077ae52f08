import { bytesText } from '../../../../src/report/format.ts';
import type { Chart, Series } from '../../kit/finding.ts';
import type { HashReads } from './hash-reads.ts';
import { LINK_BYTES_PER_SECOND } from './link.ts';
import { PUBLISHED, SIZES, type Way } from './sizes.ts';
import type { Transfer } from './transfer.ts';

export function valueSizeCharts(
  near: readonly Transfer[],
  link: readonly Transfer[] | string,
  reads: HashReads,
): readonly Chart[] {
  const far = typeof link === 'string' ? [] : link;
  const across = {
    across: 'bytes of a value',
    places: SIZES.map((bytes) => bytesText(bytes)),
    shape: 'lines',
  } as const;
  const series = (value: (row: Transfer) => number): readonly Series[] => [
    { name: 'SET', values: bySize(near, 'SET', false, value) },
    { name: 'SET, pipelined', values: bySize(near, 'SET', true, value) },
    { name: 'GET', values: bySize(near, 'GET', false, value) },
    { name: 'GET, pipelined', values: bySize(near, 'GET', true, value) },
    ...(far.length === 0 ? [] : [{ name: 'SET over 1 Gbit/s', values: bySize(far, 'SET', false, value) }]),
  ];
  const pieces = reads.rows.filter(({ name }) => !name.startsWith('HSCAN'));
  return [
    {
      id: '',
      title: 'Values a second by their size',
      ...across,
      unit: 'per-second',
      isLog: true,
      series: [
        ...series(({ perSecond }) => perSecond),
        {
          name: 'SET, 5,000 at once, published',
          isPublished: true,
          values: SIZES.map((bytes) => (bytes === 4096 ? PUBLISHED.pipelinedSetPerSecond : undefined)),
        },
      ],
    },
    {
      id: 'bytes',
      title: 'Bytes of values a second by their size',
      ...across,
      unit: 'bytes-per-second',
      isLog: true,
      series: [
        ...series(({ bytesPerSecond }) => bytesPerSecond),
        ...(far.length === 0 ? [] : [{ name: 'the link', values: SIZES.map(() => LINK_BYTES_PER_SECOND) }]),
      ],
    },
    {
      id: 'cores',
      title: 'Busy cores of the store while it is written to',
      ...across,
      unit: 'cores',
      series: [
        { name: 'on loopback', values: bySize(near, 'SET', false, ({ storeCores }) => storeCores) },
        ...(far.length === 0
          ? []
          : [{ name: 'over 1 Gbit/s', values: bySize(far, 'SET', false, ({ storeCores }) => storeCores) }]),
      ],
    },
    {
      id: 'hash',
      title: 'A reply of a hash of 20,000 fields',
      across: 'fields read at a time',
      places: pieces.map(({ fields }) => String(fields)),
      unit: 'ms',
      shape: 'lines',
      isLog: true,
      series: [
        { name: 'one client', values: pieces.map(({ alone }) => alone?.replyMs) },
        { name: 'p99 of 50 clients', values: pieces.map(({ crowdP99Ms }) => crowdP99Ms) },
        { name: 'p99 of small reads beside', values: pieces.map(({ besideP99Ms }) => besideP99Ms) },
        { name: 'published', isPublished: true, values: pieces.map(({ publishedMs }) => publishedMs) },
      ],
    },
  ];
}

function bySize(
  rows: readonly Transfer[],
  way: Way,
  isPipelined: boolean,
  value: (row: Transfer) => number,
): readonly (number | undefined)[] {
  return SIZES.map((bytes) => {
    const row = rows.find((one) => one.way === way && one.bytes === bytes && one.pipeline > 1 === isPipelined);
    return row && value(row);
  });
}
