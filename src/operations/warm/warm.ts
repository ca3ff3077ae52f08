import Type from 'typebox';
import { type Decoded, domainName, fraction, integer, oneOf } from '../../schema/fields.ts';

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
