import Type from 'typebox';
import {
  choice,
  closed,
  duration,
  flag,
  HOUR,
  host,
  hostPort,
  integer,
  kind,
  MINUTE,
  optional,
  SECOND,
  text,
} from './fields.ts';

const FILES = 'Files are read once, at start; relative paths start at the working directory.';

/** Of a client: whom it trusts, and what it shows of itself. */
const client = {
  ca: optional(text('PEM file of the certificate authorities to trust; without it, those that Node brings.')),
  cert: optional(text('PEM file of the client certificate.')),
  key: optional(text('PEM file of its private key.')),
  serverName: optional(host('Name expected in the server certificate, when it is not the address.')),
};

const storeTls = Type.Object(
  {
    ...client,
    rejectUnauthorized: flag('Refuse servers whose certificate cannot be verified; off is warned of at each start.', {
      default: true,
    }),
  },
  closed(`Speak TLS to the store. ${FILES}`),
);

const engineTls = Type.Object(
  {
    mode: optional(
      choice(
        ['mysql', 'tunnel'],
        'Where TLS begins: within the MySQL handshake, as Manticore with `ssl_cert` does it, or before it, as stunnel, HAProxy or ghostunnel in front of a searchd do.',
        { 'x-default': '`mysql` with `manticore`; `tunnel` with `sphinx`, which has no TLS of its own' },
      ),
    ),
    ...client,
  },
  closed(`Speak TLS to the engine; a server without it, or with another certificate, gets no query. ${FILES}`),
);

export const listenerTls = Type.Object(
  {
    cert: text('PEM file of the certificate, followed by those of intermediate authorities.'),
    key: text('PEM file of its private key.'),
  },
  closed(`Take TLS connections only, 1.2 or newer. ${FILES} A renewed certificate needs a restart.`),
);

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

const storeConnection = {
  username: optional(text('ACL user.')),
  password: optional(text('Its password, or the `requirepass` one.', { 'x-secret': true })),
  tls: Type.Optional(storeTls),
  deadline: duration('Of one read: past it the search goes on without the store; the connection is kept.', {
    default: '50ms',
    min: 1,
    max: 10 * SECOND,
  }),
  connectTimeout: duration('Of one connection attempt.', { default: '2s', min: 10, max: MINUTE }),
  // Closing connections under load is what kills a loaded Redis, so this only ends real black holes.
  socketTimeout: duration(
    'Without a byte for so long a connection with work is closed. Longer than any honest stall.',
    {
      default: '3s',
      min: 100,
      max: 5 * MINUTE,
    },
  ),
  // 40 in flight are enough for 40 000 reads/s at 1 ms; a stalled node holds ~8 KB for each.
  maxOutstanding: integer('Commands in flight per node: past it a read is a miss at once and a write is dropped.', {
    default: 1024,
    minimum: 1,
    maximum: 100_000,
  }),
  batchSize: integer('Names per pipeline.', { default: 128, minimum: 1, maximum: 1000 }),
  refresh: duration('Between topology refreshes of a cluster, jittered; each opens a connection.', {
    default: '15s',
    min: 1 * SECOND,
    max: HOUR,
  }),
  dedicated: flag('Nothing else lives on these servers: an `erase` may empty whole nodes instead of scanning them.', {
    default: false,
  }),
  shared: flag('Another domain may name the same store and database; every domain that does must say so.', {
    default: false,
  }),
};

const database = integer('Database number.', { default: 0, minimum: 0, maximum: 9999 });

const standalone = Type.Object(
  {
    kind: kind('standalone'),
    nodes: Type.Array(hostPort('A node of the store.'), {
      minItems: 1,
      maxItems: 1,
      description: 'The one server. Several are a cluster or a sentinel.',
    }),
    database,
    ...storeConnection,
  },
  closed('One Redis-protocol server.'),
);

const sentinel = Type.Object(
  {
    kind: kind('sentinel'),
    sentinels: Type.Array(hostPort('A sentinel.'), {
      minItems: 1,
      maxItems: 100,
      description: 'Sentinels to ask for the master.',
    }),
    master: text('Name of the master as the sentinels know it.'),
    sentinelUsername: optional(text('ACL user on the sentinels.')),
    sentinelPassword: optional(text('Password on the sentinels.', { 'x-secret': true })),
    database,
    ...storeConnection,
  },
  closed('A master that sentinels watch over.'),
);

const cluster = Type.Object(
  {
    kind: kind('cluster'),
    nodes: Type.Array(hostPort('A node of the store.'), {
      minItems: 1,
      maxItems: 1000,
      description: 'Nodes to learn the topology from; two or three are enough.',
    }),
    ...storeConnection,
  },
  closed('Redis Cluster or Valkey Cluster.'),
);

/** @param none what it means to have none. */
const storeOf = (description: string, none: string) =>
  Type.Union([Type.Object({ kind: kind('none') }, closed(none)), standalone, sentinel, cluster], {
    description,
    'x-discriminator': 'kind',
    default: { kind: 'none' },
  });

export const store = storeOf(
  'The Redis-protocol store of this domain (L2). Two domains on one store and database need `shared`.',
  'No store: L1 only.',
);

export const controlStore = storeOf(
  'Where control documents are kept: flushes, suppressions, running drills. A small one that evicts nothing (`noeviction`).',
  "In each domain's own store; of a domain without one, in this process alone.",
);

export const counterStore = storeOf(
  'Where all processes add up what is asked, so that counting never loads the result stores.',
  'In `control`; without one, each process knows its own searches only.',
);
