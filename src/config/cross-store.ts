import type { Path, RawFault } from './faults.ts';
import { repeats } from './repeats.ts';
import type { NamedStore } from './stores.ts';
import { formatDuration, formatHostPort } from './units.ts';

/** Faults between the values of one store. */
export function checkStore({ path: at, store }: NamedStore): readonly RawFault[] {
  const faults: RawFault[] = [];
  const report = (path: Path, value: string, allowed: string): void => {
    faults.push({ path: [...at, ...path], value, allowed });
  };
  const { deadline, socketTimeout, batchSize, maxOutstanding, dedicated, shared } = store;
  if (deadline !== undefined && socketTimeout !== undefined && deadline >= socketTimeout) {
    report(['deadline'], formatDuration(deadline), `less than socketTimeout (${formatDuration(socketTimeout)})`);
  }
  if (batchSize !== undefined && maxOutstanding !== undefined && batchSize > maxOutstanding) {
    report(['batchSize'], String(batchSize), `at most maxOutstanding (${maxOutstanding})`);
  }
  if (dedicated === true && shared === true) {
    report(['dedicated'], 'true', 'false where shared is true: emptying a node would take the other domain along');
  }
  const list = store.kind === 'sentinel' ? 'sentinels' : 'nodes';
  const nodes = (store.kind === 'sentinel' ? store.sentinels : store.nodes) ?? [];
  const addresses = nodes.map((node) =>
    node?.host === undefined || node.port === undefined
      ? undefined
      : formatHostPort({ host: node.host, port: node.port }),
  );
  for (const index of repeats(addresses)) report([list, index], JSON.stringify(addresses[index]), 'each node once');
  return faults;
}
