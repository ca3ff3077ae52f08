import type { StoreSample } from './sample.ts';

/**
 * @param info the reply to `INFO`, as Redis ≥ 7 and Valkey write it.
 * @returns undefined when a figure is missing: that was another kind of answer.
 */
export function storeSampleOf(name: string, info: string): StoreSample | undefined {
  const fields = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
  const sum = (...names: readonly string[]): number =>
    names.reduce((all, field) => all + Number.parseFloat(fields.get(field) ?? ''), 0);

  const sample: StoreSample = {
    name,
    commands: sum('total_commands_processed'),
    cpuSeconds: sum('used_cpu_user', 'used_cpu_sys'),
    usedBytes: sum('used_memory'),
    maxBytes: sum('maxmemory'),
    keys: keysOf(fields),
    evicted: sum('evicted_keys'),
    connections: sum('connected_clients'),
    maxConnections: sum('maxclients'),
    rejectedConnections: sum('rejected_connections'),
    connectionsOpened: sum('total_connections_received'),
    receivedBytes: sum('total_net_input_bytes'),
    sentBytes: sum('total_net_output_bytes'),
  };
  return Object.values(sample).some((value) => Number.isNaN(value)) ? undefined : sample;
}

/** A database without keys has no line. */
function keysOf(fields: ReadonlyMap<string, string>): number {
  let keys = 0;
  for (const [field, value] of fields) {
    if (/^db\d+$/.test(field)) keys += Number.parseInt(/^keys=(\d+)/.exec(value)?.[1] ?? '', 10);
  }
  return keys;
}
