import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { alternately, wholeRounds } from '../../kit/rounds.ts';
import { BIG_FIELDS, FIELD_BYTES, hashFill, SMALL_FIELDS, storeHash } from './hash.ts';
import { CLIENTS } from './sizes.ts';

/** `HSET` of one field in a hash of so many. */
export interface HashWrite extends Benchmark {
  readonly fields: number;
  readonly pipeline: number;
  /** Processor time of the store for one write. */
  readonly storeUs: number;
}

const ROUNDS = 3;
const SECONDS = 0.4;
/** As sites write, and so many at once that the write itself is seen, not what its packet costs. */
export const WRITE_PIPELINES = [1, 10] as const;

/** Writes single fields into a small hash and into a big one, in turn. @param stores one for each. */
export async function hashWrites(lab: Lab, stores: readonly [LabStore, LabStore]): Promise<readonly HashWrite[]> {
  const hashes = [
    { fields: SMALL_FIELDS, store: stores[0] },
    { fields: BIG_FIELDS, store: stores[1] },
  ];
  for (const { store, fields } of hashes) await storeHash(lab, store, fields);
  const variants = WRITE_PIPELINES.flatMap((pipeline) => hashes.map((hash) => ({ ...hash, pipeline })));
  const all = await alternately<(typeof variants)[number], HashWrite>(
    variants,
    ROUNDS,
    async ({ store, fields, pipeline }, before) => {
      lab.say(`HSET into a hash of ${fields} fields, ${pipeline} at once`);
      const perSecond = before.at(-1)?.perSecond;
      const seconds = lab.seconds(SECONDS);
      const ran = await benchmark(lab, {
        store,
        clients: CLIENTS,
        pipeline,
        dataBytes: FIELD_BYTES,
        keySpace: fields,
        test: 'HSET',
        seconds,
        ...(perSecond !== undefined && { requests: wholeRounds({ clients: CLIENTS, pipeline, perSecond, seconds }) }),
      });
      const command = `${hashFill(fields)} && ${ran.command}`;
      return { ...ran, fields, pipeline, storeUs: (ran.storeCores * 1e6) / ran.perSecond, command };
    },
    ({ storeUs }) => storeUs,
  );
  return all.map(({ run }) => run);
}
