import Type from 'typebox';
import { type Decoded, domainName, fraction, integer, oneOf } from '../../schema/fields.ts';

/** Warm-ups: fill the cache of one domain in the background, with spare capacity of the engine only. */
export interface WarmUps {
  /** A domain has at most one at a time. @throws OperationError warm-up-running, unknown-domain */
  readonly start: (request: WarmRequest) => WarmUp;
  /**
   * Adds queries to a warm-up `from: 'queries'`. Takes as many as fit and returns their number; the caller sends the rest
   * later. `last`: these are the last ones. @throws OperationError unknown-warm-up, invalid-request
   */
  readonly feed: (
    id: string,
    queries: readonly string[],
    last: boolean,
  ) => { readonly taken: number; readonly warmUp: WarmUp };
  /** @throws OperationError unknown-warm-up */
  readonly stop: (id: string) => WarmUp;
  readonly list: () => readonly WarmUp[];
  readonly close: () => void;
}

const from = oneOf(['popular', 'queries'], '`queries`: they are sent afterwards, in several requests.');

const MANY = { minimum: 1, maximum: 10_000 };

export const WARM_REQUEST = Type.Object(
  {
    domain: domainName(),
    from,
    maxPerSecond: fraction(
      'Engine calls a second at most: 1 to 10 000. Less while the engine has less to spare.',
      MANY,
    ),
    top: Type.Optional(integer('With `popular`: how many of them, from 1 to 10,000.', MANY)),
  },
  { additionalProperties: false },
);
export type WarmRequest = Decoded<typeof WARM_REQUEST>;

/**
 * Queries taken and settled so far, and how each was settled: it was fresh in the cache, computed, no valid search, or refused
 * or failed. To resume a query file, skip `settled` lines.
 */
export const WARM_UP = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  from,
  state: oneOf(['running', 'waiting', 'done', 'stopped']),
  taken: Type.Integer(),
  settled: Type.Integer(),
  cached: Type.Integer(),
  computed: Type.Integer(),
  invalid: Type.Integer(),
  failed: Type.Integer(),
  seconds: Type.Number(),
});
export type WarmUp = Decoded<typeof WARM_UP>;

/** Events of warm-ups, for the log. */
export type WarmEvent =
  | { readonly kind: 'warm-up-started'; readonly warmUp: WarmUp }
  /** `detail`: why it was stopped, unless by an operator. */
  | { readonly kind: 'warm-up-ended'; readonly warmUp: WarmUp; readonly detail?: string };
