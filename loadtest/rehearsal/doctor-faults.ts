import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../stack/redis.ts';
import { JOBS_NAME, MAX_CHILDREN, type Patients } from './doctor-harness.ts';
import {
  BUSY,
  configured,
  connectedClients,
  flooded,
  held,
  inReverse,
  nameAt,
  opened,
  overConnection,
  repeated,
  replicaIsUp,
  writing,
} from './doctor-provoke.ts';

/** One thing that goes wrong on a real server, and what the doctor must say about it. */
export interface Fault {
  readonly title: string;
  /** Checks that must find it. */
  readonly expects: readonly string[];
  /** Checks that may find a true consequence of it. */
  readonly allows?: readonly string[];
  /** A part of the subject that an expected finding of this check must name. */
  readonly at: (patients: Patients, check: string) => string;
  /** Begins it. @returns its end */
  readonly begin: (patients: Patients) => Promise<() => Promise<void>>;
}

const SLOW_STORE = ['service-store-deadline', 'network-rtt', 'network-jitter', 'store-latency-event'];
const LOST_ENGINE = ['service-permits-queue', 'engine-latency'];
const RATE_LIMITED = [...SLOW_STORE, 'network-qdisc-burst', 'network-limiter-full'];

export const FAULTS: Readonly<Record<string, Fault>> = {
  'no-limit': {
    title: 'maxmemory 0',
    expects: ['store-no-maxmemory'],
    at: ({ goods }) => goods[0].address,
    begin: ({ goods }) => configured(goods[0], 'maxmemory', '0'),
  },
  noeviction: {
    title: 'maxmemory-policy noeviction on a cache',
    expects: ['store-policy'],
    at: ({ goods }) => goods[1].address,
    begin: ({ goods }) => configured(goods[1], 'maxmemory-policy', 'noeviction'),
  },
  snapshots: {
    title: 'snapshots on a cache (save 3600 1)',
    expects: ['store-persistence'],
    at: atJobs,
    begin: ({ jobs }) => configured(jobs, 'save', '3600 1'),
  },
  'idle-timeout': {
    title: 'timeout 300 closes idle connections',
    expects: ['store-idle-timeout'],
    at: ({ goods }) => goods[2].address,
    begin: ({ goods }) => configured(goods[2], 'timeout', '300'),
  },
  reconnects: {
    title: 'a client that connects for each command, 80 times a second',
    expects: ['store-connection-churn'],
    at: ({ goods }) => goods[1].address,
    begin: async ({ goods }) => repeated(12, () => goods[1].command('PING')),
  },
  'many-connections': {
    title: 'one client with 1,100 connections',
    expects: ['store-one-client-many'],
    allows: ['store-connection-churn'],
    at: atJobs,
    begin: async ({ jobs }) => held(jobs, 1100),
  },
  'full-table': {
    title: 'a full table of clients (maxclients)',
    expects: ['store-rejected-connections', 'store-clients-near-limit'],
    allows: ['store-connection-churn'],
    at: ({ goods }) => goods[0].address,
    begin: async ({ goods: [node] }) => {
      const restore = await configured(node, 'maxclients', String((await connectedClients(node)) + 5));
      const release = await held(node, 12);
      return inReverse(
        restore,
        release,
        repeated(300, () => node.command('PING')),
      );
    },
  },
  blocked: {
    title: '60 clients that wait in BLPOP',
    expects: ['store-blocked-clients'],
    allows: ['store-one-client-many'],
    at: atJobs,
    begin: async ({ jobs }) => held(jobs, 60, 'BLPOP nothing 0\r\n'),
  },
  'slow-script': {
    title: 'a script that runs 80 ms, again and again',
    expects: ['store-slow-commands'],
    allows: [...SLOW_STORE, 'store-hot-shard'],
    at: ({ goods }) => goods[1].address,
    begin: async ({ goods }) => repeated(250, async () => void (await goods[1].command('EVAL', BUSY, 0, 80))),
  },
  'unread-output': {
    title: 'a client that asks for 30 MB and does not read',
    expects: ['store-output-buffer'],
    allows: ['store-big-keys', 'pattern-big-replies', ...SLOW_STORE],
    at: atJobs,
    begin: async ({ jobs }) => {
      const restore = await configured(jobs, 'client-output-buffer-limit', 'normal 64mb 0 0');
      await jobs.command('SET', 'other:big', 'x'.repeat(5_000_000));
      const release = await held(jobs, 1, 'GET other:big\r\n'.repeat(9), false);
      return inReverse(restore, () => jobs.command('DEL', 'other:big'), release);
    },
  },
  'big-key': {
    title: 'a value of 5 MB',
    expects: ['store-big-keys'],
    allows: ['store-output-buffer'],
    at: atJobs,
    begin: async ({ jobs }) => {
      await jobs.command('SET', 'other:big', 'x'.repeat(5_000_000));
      return async () => void (await jobs.command('DEL', 'other:big'));
    },
  },
  'big-hash': {
    title: 'a hash of 20,000 fields',
    expects: ['store-big-collections'],
    allows: ['store-big-keys'],
    at: atJobs,
    begin: async ({ jobs }) => {
      for (let first = 0; first < 20_000; first += 1000) {
        const fields = Array.from({ length: 1000 }, (_, at) => [`field-${first + at}`, 'x'.repeat(20)]).flat();
        await jobs.command('HSET', 'other:hash', ...fields);
      }
      return async () => void (await jobs.command('DEL', 'other:hash'));
    },
  },
  'no-expiry': {
    title: '300 entries of serpcache without an expiry',
    expects: ['store-no-expiry'],
    allows: ['service-refused-entries'],
    at: atJobs,
    begin: async ({ jobs }) => {
      const names = Array.from(
        { length: 300 },
        () => `sc1:jobs:{${randomBytes(16).toString('base64url').slice(0, 22)}}`,
      );
      await jobs.command('MSET', ...names.flatMap((name) => [name, 'nothing']));
      return async () => void (await jobs.command('DEL', ...names));
    },
  },
  evictions: {
    title: 'a maxmemory that is too small for the writes',
    expects: ['store-evictions'],
    allows: ['pattern-eviction-storm', 'store-replica-lag', 'store-full-resync', 'store-latency-event'],
    at: atJobs,
    begin: async ({ jobs }) => {
      const used = Number(/used_memory:(\d+)/.exec(String(await jobs.command('INFO', 'memory')))?.[1]);
      const restore = await configured(jobs, 'maxmemory', String(used + 2_000_000));
      return inReverse(restore, writing(jobs, { count: 20, bytes: 4000, pauseMs: 50 }));
    },
  },
  'refused-entries': {
    title: 'values that are no pages under the names of pages',
    expects: ['service-refused-entries'],
    at: () => 'jobs',
    begin: async ({ jobs }) => {
      const end = overConnection(jobs, 400, async (client) => {
        const [, names] = await client.scan(0, 'MATCH', 'sc1:jobs:{*', 'COUNT', 1000);
        const entries = names.filter((name) => /^sc1:jobs:\{[\w-]{22}\}$/.test(name));
        await client.pipeline(entries.map((name) => ['set', name, 'damaged', 'KEEPTTL'])).exec();
      });
      return async () => {
        await end();
        // Those that no search has replaced yet would be refused for some time.
        const [, names] = (await jobs.command('SCAN', 0, 'MATCH', 'sc1:jobs:{*', 'COUNT', 5000)) as [string, string[]];
        await jobs.command('UNLINK', 'other:none', ...names);
      };
    },
  },
  'lagging-replica': {
    title: 'a replica that has stopped, under writes',
    expects: ['store-replica-lag'],
    allows: ['store-full-resync', 'store-evictions', 'pattern-eviction-storm', 'store-output-buffer'],
    at: atJobs,
    begin: async ({ jobs, jobsReplica }) => {
      await jobsReplica.pause();
      const end = writing(jobs, { count: 20, bytes: 8000, pauseMs: 50 });
      return inReverse(() => replicaIsUp(jobsReplica), jobsReplica.resume, end);
    },
  },
  'full-resyncs': {
    title: 'a replica that starts over again and again',
    expects: ['store-full-resync'],
    allows: ['store-replica-lag', 'store-connection-churn', 'store-latency-event'],
    at: atJobs,
    begin: async ({ jobs, jobsReplica }) => {
      const end = repeated(700, async () => {
        await jobsReplica.command('REPLICAOF', 'NO', 'ONE');
        await jobsReplica.command('REPLICAOF', jobs.host, jobs.port);
      });
      return inReverse(() => replicaIsUp(jobsReplica), end);
    },
  },
  'dead-shard': {
    title: 'a master of the cluster that was killed',
    expects: ['store-unreachable', 'store-cluster-state'],
    at: () => 'store of goods',
    begin: async ({ goods }) => {
      await goods[2].kill();
      return async () => {
        await goods[2].restart();
        await until('the cluster to be whole', async () =>
          String(await goods[0].command('CLUSTER', 'INFO')).includes('cluster_slots_ok:16384'),
        );
      };
    },
  },
  'hot-shard': {
    title: 'one key of one shard, some thousand times a second',
    expects: ['store-hot-shard'],
    at: ({ goods }) => goods[0].address,
    // A missing key in the slot range of this node: the answer is small, the work is the node's.
    begin: async ({ goods }) => flooded(goods[0], await nameAt(goods[0])),
  },
  limiter: {
    title: 'tc: a token bucket of 50 Mbit/s with a burst of 2 KB on the way to a store',
    expects: ['network-limiter'],
    allows: RATE_LIMITED,
    at: ({ wire }) => wire.outside,
    begin: async ({ wire, cars }) => {
      await wire.shape('requests', ['tbf', 'rate', '50mbit', 'burst', '2kb', 'latency', '40ms']);
      // Bursts of several clients: one connection alone fills no queue.
      const ends = Array.from({ length: 4 }, () =>
        writing(cars, { count: 1, bytes: 50_000, pauseMs: 100, name: 'other:0' }),
      );
      return inReverse(
        () => cars.command('DEL', 'other:0'),
        () => wire.shape('requests', undefined),
        ...ends,
      );
    },
  },
  burst: {
    title: 'tc: a burst below rate ÷ HZ, and nothing that waits',
    expects: ['network-qdisc-burst'],
    at: ({ wire }) => wire.outside,
    begin: async ({ wire }) => {
      await wire.shape('requests', ['tbf', 'rate', '1gbit', 'burst', '200kb', 'latency', '50ms']);
      return () => wire.shape('requests', undefined);
    },
  },
  'stuttering-store': {
    title: 'a store that stops for 80 ms, four times a second',
    expects: ['service-store-deadline', 'network-jitter'],
    allows: SLOW_STORE,
    at: ({ cars }, check) => (check === 'network-jitter' ? cars.address : 'domain cars'),
    begin: async ({ cars }) =>
      repeated(170, async () => {
        await cars.pause();
        await sleep(80);
        cars.resume();
      }),
  },
  'slow-name': {
    title: 'a name that resolves slowly',
    expects: ['network-dns-slow'],
    at: () => JOBS_NAME,
    begin: async ({ names }) => {
      names.set(JOBS_NAME, { afterMs: 300, addresses: ['127.0.0.1'] });
      return async () => names.set(JOBS_NAME, ['127.0.0.1']);
    },
  },
  'engine-full': {
    title: 'other clients take every connection of searchd (max_children)',
    expects: ['engine-maxed-out'],
    allows: ['engine-unreachable', 'engine-connections', ...LOST_ENGINE],
    at: ({ searchd }) => String(searchd.port),
    begin: async ({ searchd }) => {
      // searchd closes connections that say nothing after some seconds, so new ones come all the time.
      const sockets = await Promise.all(Array.from({ length: MAX_CHILDREN }, () => opened(searchd)));
      const end = repeated(100, async () => {
        sockets.push(await opened(searchd));
        if (sockets.length > 2 * MAX_CHILDREN) sockets.shift()?.destroy();
      });
      return async () => {
        await end();
        for (const socket of sockets) socket.destroy();
      };
    },
  },
  'engine-hangs': {
    title: 'a searchd that has stopped',
    expects: ['engine-unreachable'],
    allows: LOST_ENGINE,
    at: ({ searchd }) => String(searchd.port),
    begin: async ({ searchd }) => {
      await searchd.process.pause();
      return async () => searchd.process.signal('SIGCONT');
    },
  },
};

export const PAIRS: readonly (readonly [string, string])[] = [
  ['limiter', 'reconnects'],
  ['big-key', 'no-limit'],
  ['engine-hangs', 'slow-script'],
  ['lagging-replica', 'refused-entries'],
  ['hot-shard', 'idle-timeout'],
];

function atJobs({ jobs }: Patients): string {
  return String(jobs.port);
}
