import type { Entry } from '../../cache/entry.ts';
import { encodeHead } from '../lane/answer.ts';
import { createWeakCache } from '../transport/weak-cache.ts';

/** A prepared answer: everything but the id of the request, good until something in it changes. */
interface Prepared {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly body: Buffer | undefined;
  /** Monotonic. */
  readonly untilMs: number;
}

/** The variants of one entry: as stored or inflated, whole or 304. */
type Variant = 'stored' | 'identity' | 'stored-304' | 'identity-304';

const SCRATCH_BYTES = 64 * 1024;
/** Stands for the id of the request while a head is prepared. */
const ID = '\u0001';
const ESTIMATED_BYTES = 1200;

export interface HitAnswers {
  /** The bytes of an answer out of memory. They change with the next call, unless `keep` is called before. */
  readonly of: (
    entry: Entry,
    variant: Variant,
    requestId: string,
    nowMs: number,
    prepare: (requestId: string) => { readonly fields: readonly string[]; readonly body: Buffer | undefined; readonly untilMs: number },
  ) => Buffer;
  readonly keep: () => void;
}

export function createHitAnswers({ maxBytes, connection }: { readonly maxBytes: number; readonly connection: string }): HitAnswers {
  const known = createWeakCache<Entry, Partial<Record<Variant, Prepared>>>(maxBytes);
  let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

  return {
    of: (entry, variant, requestId, nowMs, prepare) => {
      let own = known.get(entry);
      let prepared = own?.[variant];
      if (prepared === undefined || nowMs >= prepared.untilMs) {
        const { fields, body, untilMs } = prepare(ID);
        const [before = '', after = ''] = encodeHead(body === undefined ? 304 : 200, fields, connection).split(ID);
        prepared = { before: Buffer.from(before, 'latin1'), after: Buffer.from(after, 'latin1'), body, untilMs };
        if (own === undefined) {
          own = {};
          known.set(entry, own, ESTIMATED_BYTES);
        }
        own[variant] = prepared;
      }
      const { before, after, body } = prepared;
      const length = before.length + requestId.length + after.length + (body?.length ?? 0);
      const target = length <= scratch.length ? scratch : Buffer.allocUnsafe(length);
      target.set(before);
      let at = before.length;
      at += target.write(requestId, at, 'latin1');
      target.set(after, at);
      if (body !== undefined) target.set(body, at + after.length);
      return target.subarray(0, length);
    },
    keep: () => {
      scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    },
  };
}
