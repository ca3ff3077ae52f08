import Type from 'typebox';
import { address, choice, closed, duration, flag, host, hostPort, integer, kind, text } from '../schema/fields.ts';
import { HOST_PORT_PATTERN, HOUR, MINUTE, SECOND } from '../schema/units.ts';

const FILES = 'The files are read once, at start; relative paths start at the working directory.';

/** The TLS settings of a client. */
const client = {
  ca: Type.Optional(text('PEM file of the certificate authorities to trust; without it, those of Node.')),
  cert: Type.Optional(text('PEM file of the client certificate.')),
  key: Type.Optional(text('PEM file of its private key.')),
  serverName: Type.Optional(host('Name expected in the server’s certificate, when it differs from the address.')),
};

const storeTls = Type.Object(
  {
    ...client,
    rejectUnauthorized: flag(
      'Refuse servers whose certificate cannot be verified; `false` gives a warning at each start.',
      { default: true },
    ),
  },
  closed(`Use TLS to the store. ${FILES}`),
);

const engineTls = Type.Object(
  {
    mode: Type.Optional(
      choice(
        ['mysql', 'tunnel'],
        'Where TLS starts: inside the MySQL handshake (`mysql`), as in Manticore with `ssl_cert`, or before it (`tunnel`), as with stunnel, HAProxy or ghostunnel in front of searchd.',
        { 'x-default': '`mysql` with `manticore`; `tunnel` with `sphinx`, which has no TLS of its own' },
      ),
    ),
    ...client,
  },
  closed(`Use TLS to the engine; a server without TLS, or with a wrong certificate, gets no query. ${FILES}`),
);

export const listenerTls = Type.Object(
  {
    cert: text('PEM file of the certificate, followed by the intermediate certificates.'),
    key: text('PEM file of its private key.'),
  },
  closed(`Accept TLS connections only, version 1.2 or newer. ${FILES} A renewed certificate needs a restart.`),
);

const sqliteDirectory = text('Directory of `<domain>.sqlite`; a relative one starts at the working directory.', {
  default: 'data',
});

const identifier = {
  pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
  'x-allowed': 'a letter or _, then letters, digits and _, 64 at most',
};

const engineLimits = {
  deadline: duration('Time until the client is answered without the engine: with a stale page or an error.', {
    default: '800ms',
    min: 1,
    max: MINUTE,
  }),
  hardDeadline: duration('Time until the query is ended. Until then it holds its slot, and a late page is stored.', {
    default: '3s',
    min: 1,
    max: 10 * MINUTE,
  }),
  maxConcurrent: Type.Optional(
    // Measured on 2 cores: 4–8 connections gave 260–285 good answers/s where 60 gave 12.
    integer('Maximum number of concurrent queries of all processes together; each live process uses an equal share.', {
      minimum: 1,
      maximum: 1000,
      'x-default':
        '8; with `sqlite` the number of `workers`, because further queries would wait where nothing sheds them',
    }),
  ),
  maxQueued: Type.Optional(
    // The queue sheds by waiting time, so its length delays no search. A long queue lets a burst pass, such as fifty
    // new searches at once on an idle engine; its maximum bounds the memory.
    integer('Maximum number of searches that wait for a slot; further ones are shed at once.', {
      minimum: 1,
      maximum: 10_000,
      'x-default': 'eight times `maxConcurrent`, at least 64',
    }),
  ),
  limit: choice(
    ['gradient', 'aimd', 'fixed'],
    'How the concurrency limit, at most `maxConcurrent`, adapts: `gradient` to slower replies, `aimd` to failures, `fixed` not at all.',
    { default: 'gradient' },
  ),
  snippetLength: integer('Approximate length of a snippet, in characters.', {
    default: 200,
    minimum: 20,
    maximum: 2000,
  }),
};

export const engine = Type.Union(
  [
    Type.Object(
      {
        kind: kind('sqlite'),
        directory: sqliteDirectory,
        workers: integer('Number of threads that run queries.', { default: 2, minimum: 1, maximum: 64 }),
        demo: flag('Build the demo index when the file is missing.', { default: false }),
        ...engineLimits,
      },
      closed('The embedded index.'),
    ),
    Type.Object(
      {
        kind: kind('sphinx', 'manticore'),
        host: host('Host on which searchd listens for SphinxQL.'),
        port: integer('Its SphinxQL port.', { default: 9306, minimum: 1, maximum: 65_535 }),
        mirrors: Type.Array(hostPort('host:port of a server.'), {
          default: [],
          maxItems: 15,
          description: 'Further servers with the same index. A search goes to the least busy server that answers.',
        }),
        index: Type.Optional(
          text('Name of the index.', { ...identifier, 'x-default': "the domain's name, with _ for -" }),
        ),
        ranker: text('Ranker of the matches.', {
          default: 'proximity_bm25',
          pattern: "^(proximity_bm25|bm25|none|wordcount|proximity|matchany|fieldmask|sph04|expr\\('[^'\\\\]+'\\))$",
          'x-allowed':
            "proximity_bm25, bm25, none, wordcount, proximity, matchany, fieldmask, sph04 or expr('…') without quotes inside",
        }),
        user: Type.Optional(text('User name, for a proxy that requires one.')),
        password: Type.Optional(text('Its password.', { 'x-secret': true })),
        tls: Type.Optional(engineTls),
        idAttribute: Type.Optional(
          text("Attribute that holds the document's id; without it, the engine's numeric id is used.", identifier),
        ),
        connectTimeout: duration('Maximum time of a connection attempt.', { default: '2s', min: 10, max: MINUTE }),
        // searchd allocates memory for all of them: 1000 took 53 ms, 200 million took 6 s.
        maxMatches: integer('Maximum number of results reachable by paging.', {
          default: 1000,
          minimum: 1,
          maximum: 100_000,
        }),
        ...engineLimits,
      },
      closed('Sphinx or Manticore over SphinxQL; `kind` names the server.'),
    ),
  ],
  { description: 'The search engine of this domain.', 'x-discriminator': 'kind' },
);

export const lifeboat = Type.Object(
  {
    directory: sqliteDirectory,
    workers: integer('Number of threads, and maximum number of concurrent searches.', {
      default: 1,
      minimum: 1,
      maximum: 64,
    }),
    deadline: duration('Maximum time of a search, its wait included.', { default: '300ms', min: 1, max: MINUTE }),
    maxQueued: integer('Maximum number of searches that wait; further ones get no answer.', {
      default: 64,
      minimum: 1,
      maximum: 10_000,
    }),
  },
  closed(
    'An embedded index of the same catalogue, searched when the engine cannot answer. Its pages are marked as degraded.',
  ),
);

const storeDoctor = Type.Object(
  {
    username: text('ACL user.'),
    password: Type.Optional(text('Its password.', { 'x-secret': true })),
  },
  closed(
    'User of the doctor’s own connections to the nodes, in place of the store’s user; its least rights stand in `deploy/redis`.',
  ),
);

const storeConnection = {
  username: Type.Optional(text('ACL user.')),
  password: Type.Optional(text('Its password, or the `requirepass` one.', { 'x-secret': true })),
  tls: Type.Optional(storeTls),
  doctor: Type.Optional(storeDoctor),
  deadline: duration(
    'Maximum time of a read. After it the search continues without the store; the connection is kept.',
    { default: '50ms', min: 1, max: 10 * SECOND },
  ),
  connectTimeout: duration('Maximum time of a connection attempt.', { default: '2s', min: 10, max: MINUTE }),
  // Reconnecting clients can bring down a loaded Redis, so this closes only connections that are really dead.
  socketTimeout: duration(
    'A connection with pending commands is closed after this time without a byte. Must be longer than any real stall of the server.',
    { default: '3s', min: 100, max: 5 * MINUTE },
  ),
  // 40 in flight are enough for 40,000 reads/s at 1 ms; each command of a stalled node holds about 8 KB.
  maxOutstanding: integer(
    'Maximum number of commands in flight per node. Beyond it a read is a miss at once and a write is dropped.',
    { default: 1024, minimum: 1, maximum: 100_000 },
  ),
  batchSize: integer('Number of names per pipeline.', { default: 128, minimum: 1, maximum: 1000 }),
  refresh: duration('Interval, with jitter, between topology refreshes of a cluster; each opens a connection.', {
    default: '15s',
    min: 1 * SECOND,
    max: HOUR,
  }),
  dedicated: flag('These servers hold nothing else: an `erase` may empty whole nodes instead of scanning them.', {
    default: false,
  }),
  shared: flag('Another domain may use the same store and database; every one of these domains must set this.', {
    default: false,
  }),
};

const database = integer('Database number.', { default: 0, minimum: 0, maximum: 9999 });

const natMap = Type.Optional(
  Type.Record(Type.String({ pattern: HOST_PORT_PATTERN }), hostPort('Where this process reaches it, as host:port.'), {
    maxProperties: 1000,
    description:
      'Announced address → reachable address, for servers behind NAT or port forwarding: `10.0.0.5:6379: store.example:7001`. An address without an entry is used as announced.',
    'x-allowed': 'host:port as the servers announce it, such as 10.0.0.5:6379',
  }),
);

const standalone = Type.Object(
  {
    kind: kind('standalone'),
    nodes: Type.Array(address('The server: host:port, or unix:/path of its socket.'), {
      minItems: 1,
      maxItems: 1,
      description:
        'The server, as `redis-a:6379` or `unix:/run/redis/redis.sock`. For several servers use a cluster or a sentinel.',
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
      description: 'All sentinels that know the master; others are not looked for.',
    }),
    master: text('Name of the master in the sentinels’ configuration.'),
    sentinelUsername: Type.Optional(text('ACL user on the sentinels.')),
    sentinelPassword: Type.Optional(text('Password on the sentinels.', { 'x-secret': true })),
    natMap,
    database,
    ...storeConnection,
  },
  closed('A master monitored by sentinels.'),
);

const cluster = Type.Object(
  {
    kind: kind('cluster'),
    nodes: Type.Array(hostPort('A node of the store.'), {
      minItems: 1,
      maxItems: 1000,
      description: 'Nodes from which the topology is read; two or three are enough.',
    }),
    natMap,
    ...storeConnection,
  },
  closed('Redis Cluster or Valkey Cluster.'),
);

/** @param none the meaning of `kind: none`. */
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

export const candidates = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9-]{0,30}$' }),
  Type.Union([standalone, sentinel, cluster], {
    description: 'A candidate, on other nodes or in another database than every other store.',
    'x-discriminator': 'kind',
  }),
  {
    maxProperties: 4,
    default: {},
    description:
      'Stores that shadow traffic may be sent to and a cut-over may move to, by name. Every process must declare them alike.',
    'x-allowed': 'a lower-case letter, then letters, digits and -, 31 at most',
  },
);

export const controlStore = storeOf(
  'Store of the control documents: flushes, suppressions, running drills. A small store without eviction (`noeviction`).',
  "Each domain's control document is in the domain's store; for a domain without a store, in this process only.",
);

export const counterStore = storeOf(
  'Store in which all processes count queries, so that counting never loads the result stores.',
  'Counts are kept in `control`; without it, each process counts its own searches only.',
);
