import { memtierCommand, memtierFill, PUBLISHED_MIX } from '../../kit/mix.ts';
import { breakSeconds, CONNECTIONS } from './measure.ts';
import { BACKLOG_BYTES, MEMORY_BYTES, REPLICA_LIMIT, type Setup, snapshotRule } from './setups.ts';

/** Every key, and what is asked for most last: a store that is made smaller keeps that. */
export const FILL = `${memtierFill(PUBLISHED_MIX)} && ${memtierCommand(PUBLISHED_MIX, { clients: CONNECTIONS })}`;

const FIRST_REPLICA_PORT = 6380;
/** For a replica to start and to have all of the memory. */
const SYNC_SECONDS = 5;

/** Sets a store at the standard port up as the row's master was, loads it, and leaves its settings as they were. */
export function commandOf(setup: Setup, row: { readonly askedPerSecond: number; readonly seconds: number }): string {
  const settings = settingsOf(setup);
  const names = settings.map(([name]) => name).join(' ');
  const set = settings.map(([name, value]) => `${name} '${value}'`).join(' ');
  const ports = Array.from({ length: setup.replicas }, (_, at) => FIRST_REPLICA_PORT + at);
  const load = memtierCommand(PUBLISHED_MIX, {
    clients: CONNECTIONS,
    more: `--rate-limiting=${Math.round(row.askedPerSecond / CONNECTIONS)}`,
  });
  return [
    `old=$(for name in ${names}; do echo "config set $name '$(redis-cli config get $name | tail -n 1)'"; done)`,
    `redis-cli config set ${set}`,
    ...(ports.length === 0 ? [load] : replicatedLoad(ports, load, breakSeconds(row.seconds))),
    'echo "$old" | redis-cli',
  ].join('; ');
}

/** Names as `CONFIG SET` has them; all of them, as a store at its defaults snapshots and evicts nothing. */
function settingsOf(setup: Setup): readonly (readonly [string, string])[] {
  return [
    ['maxmemory', String(MEMORY_BYTES)],
    ['maxmemory-policy', 'allkeys-lru'],
    ['save', snapshotRule(setup)],
    ['appendonly', setup.hasLog ? 'yes' : 'no'],
    ...(setup.replicas === 0
      ? []
      : ([
          ['repl-backlog-size', String(BACKLOG_BYTES)],
          ['client-output-buffer-limit', REPLICA_LIMIT],
          ['repl-diskless-sync-delay', '0'],
        ] as const)),
  ];
}

/** With the break in the midst of it: replicas are stopped and their connections cut, as in the row. */
function replicatedLoad(ports: readonly number[], load: string, seconds: number): readonly string[] {
  const start = `for port in ${ports.join(' ')}; do redis-server --port $port --save '' --replicaof 127.0.0.1 6379 > /dev/null & replicas="$replicas $!"; done`;
  const cut = `sleep 2; kill -STOP $replicas; redis-cli client kill type replica; sleep ${seconds}; kill -CONT $replicas`;
  return [
    'replicas=',
    start,
    `sleep ${SYNC_SECONDS}`,
    `{ ${cut}; } & ${load}`,
    'redis-cli info replication',
    'kill $replicas',
  ];
}
