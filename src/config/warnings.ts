import { isLoopback } from './network.ts';
import type { Settings } from './settings.ts';

/** What is allowed, and an operator should know about at each start. One line each, without secrets. */
export function warningsOf({ admin, control, counters, domains }: Settings): readonly string[] {
  const warnings: string[] = [];
  if (admin.tls === undefined && !isLoopback(admin.host)) {
    warnings.push(
      `admin.tls is not set and admin.host ${admin.host} is not a loopback address: the admin token crosses the network in plain text, unless a proxy in front of it speaks TLS`,
    );
  }
  const stores = [
    { path: 'control', store: control },
    { path: 'counters', store: counters },
    ...domains.map(({ name, store }) => ({ path: `domains.${name}.store`, store })),
  ];
  for (const { path, store } of stores) {
    if (store.kind === 'none' || store.tls?.rejectUnauthorized !== false) continue;
    warnings.push(`${path}.tls.rejectUnauthorized is false: any server is believed, and gets the password`);
  }
  return warnings;
}
