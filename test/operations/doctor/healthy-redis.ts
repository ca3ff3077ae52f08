/**
 * INFO and CONFIG GET of a healthy store: a Redis 7.0.15 with deploy/redis/redis-cache.conf. Unchanged figures that no check
 * reads are left out.
 */

export type Fields = Readonly<Record<string, string | number | undefined>>;

export const WALL_MS = 1_795_623_561_500;

/** One line of `INFO commandstats`. */
export const commandStat = (calls: number): string =>
  `calls=${calls},usec=${calls * 4},usec_per_call=4.00,rejected_calls=0,failed_calls=0`;

/** A Redis 7.0.15 after an hour at 500 commands a second; from its INFO. */
export const HEALTHY_INFO: Fields = {
  redis_version: '7.0.15',
  run_id: 'cf51d3e4d43c5c21c1d0e56c7417f738f1d1a78a',
  server_time_usec: WALL_MS * 1000,
  connected_clients: 12,
  cluster_connections: 0,
  maxclients: 10_000,
  blocked_clients: 0,
  used_memory: 400_000_000,
  used_memory_rss: 440_000_000,
  total_system_memory: 25_276_510_208,
  maxmemory: 1_073_741_824,
  maxmemory_policy: 'allkeys-lru',
  allocator_frag_ratio: '1.00',
  mem_fragmentation_ratio: '1.10',
  mem_fragmentation_bytes: 40_000_000,
  aof_enabled: 0,
  total_connections_received: 40,
  total_commands_processed: 1_800_000,
  total_net_output_bytes: 7_200_000_000,
  rejected_connections: 0,
  sync_full: 0,
  evicted_keys: 0,
  keyspace_hits: 1_500_000,
  keyspace_misses: 200_000,
  role: 'master',
  connected_slaves: 0,
  master_repl_offset: 0,
  repl_backlog_size: 1_048_576,
  used_cpu_sys: '40.1',
  used_cpu_user: '50.2',
  used_cpu_sys_main_thread: '40.0',
  used_cpu_user_main_thread: '50.1',
  cluster_enabled: 0,
  db0: 'keys=100000,expires=100000,avg_ttl=3000000',
  cmdstat_get: commandStat(1_500_000),
  cmdstat_set: commandStat(200_000),
  cmdstat_info: commandStat(240),
};

/** The growth of these fields in one second of 500 searches. */
export const HEALTHY_GROWTH: Fields = {
  server_time_usec: 1_000_000,
  total_commands_processed: 520,
  total_net_output_bytes: 2_000_000,
  keyspace_hits: 450,
  keyspace_misses: 60,
  used_cpu_sys: 0.02,
  used_cpu_user: 0.02,
  used_cpu_sys_main_thread: 0.02,
  used_cpu_user_main_thread: 0.02,
  cmdstat_get: 450,
  cmdstat_set: 60,
  cmdstat_info: 2,
};

export const HEALTHY_CONFIG: Fields = {
  maxmemory: 1_073_741_824,
  'maxmemory-policy': 'allkeys-lru',
  'maxmemory-clients': '25%',
  save: '',
  appendonly: 'no',
  timeout: 0,
  maxclients: 10_000,
  'io-threads': 1,
  'client-output-buffer-limit': 'normal 268435456 67108864 10 slave 268435456 67108864 60 pubsub 33554432 8388608 60',
  'slowlog-log-slower-than': 10_000,
  'slowlog-max-len': 512,
  'latency-monitor-threshold': 50,
  databases: 16,
};
