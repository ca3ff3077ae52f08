import { bytesText, countText } from '../../../../src/report/format.ts';

const KIB = 1024;

/** Bytes of a value. */
export const SIZES: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096].map((size) => size * KIB);

/** Both sides have one thread each, which ten connections keep busy. */
export const CLIENTS = 10;
/** Of pipelines: two keep both sides busy. Ten of 20 MB would be filled before the first reply leaves, and measure that. */
export const PIPELINED_CLIENTS = 2;

export function clientsOf(pipeline: number): number {
  return pipeline === 1 ? CLIENTS : PIPELINED_CLIENTS;
}

/** What was published, as it was. */
export const PUBLISHED = {
  /** `SET` of 4 KiB, so many at once. */
  pipeline: 5000,
  pipelinedSetPerSecond: 508_000,
  /** `GET` by `redis-benchmark -d`. */
  get: [
    { bytes: 4 * KIB, perSecond: 62_566 },
    { bytes: 4096 * KIB, perSecond: 57_666 },
  ],
} as const;

const AT_ONCE_BYTES = PUBLISHED.pipeline * 4 * KIB;

/** Commands of a pipeline: as published for 4 KiB, and no more bytes at once than that for larger values. */
export function depthOf(bytes: number): number {
  return Math.min(PUBLISHED.pipeline, Math.max(1, Math.floor(AT_ONCE_BYTES / bytes)));
}

export type Way = 'SET' | 'GET';

/** `SET of 4 KiB`, `SET of 4 KiB, 5,000 at once` */
export function rowName(way: Way, bytes: number, pipeline: number): string {
  return `${way} of ${bytesText(bytes)}${pipeline === 1 ? '' : `, ${countText(pipeline)} at once`}`;
}
