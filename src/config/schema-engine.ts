import Type from 'typebox';
import { choice, duration, flag, host, hostPort, integer, kind, optional, text } from './fields.ts';
import { engineTls } from './schema-tls.ts';
import { closed, MINUTE } from './sections.ts';

const engineLimits = {
  deadline: duration('Answers the client, with whatever is at hand.', { default: '800ms', min: 1, max: MINUTE }),
  hardDeadline: duration('Ends the query itself; until then it keeps its permit and a late page is stored.', {
    default: '3s',
    min: 1,
    max: 10 * MINUTE,
  }),
  maxConcurrent: optional(
    // Measured on 2 cores: 4–8 connections gave 260–285 good answers/s where 60 gave 12.
    integer('Queries at once, of all processes together; each uses its share of those that live.', {
      minimum: 1,
      maximum: 1000,
      'x-default': '8; with `sqlite` the number of `workers`, as more would only wait where nothing can shed them',
    }),
  ),
  maxQueued: optional(
    // A queue that does not clear is cut short whatever its length, so a long one delays nobody; it lets a burst through,
    // such as fifty new searches at once on an idle engine, and bounds what is held.
    integer('Searches that may wait for a permit; more are shed at once.', {
      minimum: 1,
      maximum: 10_000,
      'x-default': 'eight times `maxConcurrent`, at least 64',
    }),
  ),
  limit: choice(
    ['gradient', 'aimd', 'fixed'],
    'How the limit below `maxConcurrent` is found: from how replies slow down, from failures, or not at all.',
    { default: 'gradient' },
  ),
  snippetLength: integer('Characters of a snippet, about.', { default: 200, minimum: 20, maximum: 2000 }),
};

export const engine = Type.Union(
  [
    Type.Object(
      {
        kind: kind('sqlite'),
        directory: text('Directory of `<domain>.sqlite`; a relative one starts at the working directory.', {
          default: 'data',
        }),
        workers: integer('Threads that run queries.', { default: 2, minimum: 1, maximum: 64 }),
        demo: flag('Make the demo catalogue when the file is missing.', { default: false }),
        ...engineLimits,
      },
      closed('The embedded index.'),
    ),
    Type.Object(
      {
        kind: kind('sphinx', 'manticore'),
        host: host('Where searchd listens for SphinxQL.'),
        port: integer('Its SphinxQL port.', { default: 9306, minimum: 1, maximum: 65_535 }),
        mirrors: Type.Array(hostPort('host:port of one.'), {
          default: [],
          maxItems: 15,
          description: 'Further servers with the same index: searches go to the least busy one that answers.',
        }),
        index: optional(
          text('Index searched.', {
            pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
            'x-allowed': 'a letter or _, then letters, digits and _, 64 at most',
            'x-default': "the domain's name, with _ for -",
          }),
        ),
        ranker: text('How matches are ranked.', {
          default: 'proximity_bm25',
          pattern: "^(proximity_bm25|bm25|none|wordcount|proximity|matchany|fieldmask|sph04|expr\\('[^'\\\\]+'\\))$",
          'x-allowed':
            "proximity_bm25, bm25, none, wordcount, proximity, matchany, fieldmask, sph04 or expr('…') without quotes inside",
        }),
        user: optional(text('User, where a proxy asks for one.')),
        password: optional(text('Its password.', { 'x-secret': true })),
        tls: Type.Optional(engineTls),
        idAttribute: optional(
          text("Attribute that holds the document's own id; without it, the engine's numeric id.", {
            pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
            'x-allowed': 'a letter or _, then letters, digits and _, 64 at most',
          }),
        ),
        connectTimeout: duration('Of one connection attempt.', { default: '2s', min: 10, max: MINUTE }),
        // searchd allocates for all of it: 1000 cost 53 ms where 200 million cost 6 s.
        maxMatches: integer('Most results reachable by paging.', { default: 1000, minimum: 1, maximum: 100_000 }),
        ...engineLimits,
      },
      closed('Sphinx or Manticore over SphinxQL; the kind names the server that listens.'),
    ),
  ],
  { description: 'What computes the pages of this domain.', 'x-discriminator': 'kind' },
);

export const lifeboat = Type.Object(
  {
    directory: text('Directory of `<domain>.sqlite`; a relative one starts at the working directory.', {
      default: 'data',
    }),
    workers: integer('Threads that run queries, and searches at once.', { default: 1, minimum: 1, maximum: 64 }),
    deadline: duration('Of one search, its wait included.', { default: '300ms', min: 1, max: MINUTE }),
    maxQueued: integer('Searches that may wait; more get no answer.', { default: 64, minimum: 1, maximum: 10_000 }),
  },
  closed('The embedded index of the same catalogue, asked when the engine cannot answer. Its pages say degraded.'),
);
