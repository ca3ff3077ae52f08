import Type from 'typebox';
import { duration, flag, hostPort, integer, kind, optional, text } from './fields.ts';
import { storeTls } from './schema-tls.ts';
import { closed, HOUR, MINUTE, SECOND } from './sections.ts';

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
