import { Type } from 'typebox';
import { closed } from './described.ts';
import { choice, Domain } from './fields.ts';

const From = choice(['popular', 'queries'], '`queries`: they are sent afterwards, in pieces.');

export const WarmAskBody = Type.Object(
  {
    domain: Domain,
    from: From,
    maxPerSecond: Type.Number({
      minimum: 1,
      maximum: 10_000,
      description: 'Engine calls a second at most: 1 to 10 000. Less while the engine has less to spare.',
    }),
    top: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'With `popular`: how many of them, from 1 to 10,000.' }),
    ),
  },
  closed,
);

export const MAX_QUERIES = 500;

export const FeedBody = Type.Object(
  {
    queries: Type.Array(Type.String({ maxLength: 2048, description: 'At most 2048 characters.' }), {
      maxItems: MAX_QUERIES,
      description: `At most ${MAX_QUERIES}: a text, or a query string such as \`q=…&filter=…\`.`,
    }),
    last: Type.Boolean({ description: 'No more will come.' }),
  },
  closed,
);

export const WarmUpBody = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  from: From,
  state: choice(['running', 'waiting', 'done', 'stopped']),
  taken: Type.Integer(),
  settled: Type.Integer(),
  cached: Type.Integer(),
  computed: Type.Integer(),
  invalid: Type.Integer(),
  failed: Type.Integer(),
  seconds: Type.Number(),
});
