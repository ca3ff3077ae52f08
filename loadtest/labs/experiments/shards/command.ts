import { type Mix, memtierCommand, memtierFill } from '../../kit/mix.ts';

const FIRST_PORT = 6381;

export interface ShardsLoad {
  readonly shards: number;
  /** Of each shard. */
  readonly mix: Mix;
  readonly maxBytes: number;
  readonly clients: number;
  /** Of each client; absent: as fast as possible. */
  readonly perClientPerSecond?: number;
}

/** Shards of its own, as a store at the standard port is only one: filled, asked for a while, then loaded as in the row. */
export function shardsCommand({ shards, mix, maxBytes, clients, perClientPerSecond }: ShardsLoad): string {
  const ports = Array.from({ length: shards }, (_, at) => FIRST_PORT + at).join(' ');
  const onEach = (command: string): string => `for port in ${ports}; do ${command.replace('-p 6379', '-p $port')}`;
  const load = memtierCommand(mix, { clients });
  const limited = perClientPerSecond === undefined ? load : `${load} --rate-limiting=${Math.round(perClientPerSecond)}`;
  return [
    onEach(
      `redis-server --port $port --save '' --maxmemory ${maxBytes} --maxmemory-policy allkeys-lru --daemonize yes; done`,
    ),
    'sleep 1',
    onEach(`${memtierFill(mix)}; done`),
    onEach(`${load} & done`),
    'wait',
    onEach(`${limited} & done`),
    'wait',
    onEach('redis-cli -p 6379 shutdown nosave; done'),
  ].join('; ');
}
