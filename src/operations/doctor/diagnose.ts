import { isIP } from 'node:net';
import { isLoopback } from '../../schema/units.ts';
import { type Acknowledgements, acknowledge, NO_ACKNOWLEDGEMENTS } from './acknowledge.ts';
import type { Check, Window } from './check.ts';
import { CHECKS } from './checks/checks.ts';
import { known, type Snapshot } from './facts.ts';
import { createJudge, type Judge } from './judge.ts';
import type { Looked, Report } from './report.ts';
import { hostPartOf } from './window.ts';

/** Judges the windows between snapshots, in their order. Pure but for the judge: a bundle's snapshots give its report again. */
export function diagnose(
  snapshots: readonly Snapshot[],
  options: {
    readonly checks?: readonly Check[];
    readonly acknowledgements?: Acknowledgements;
    /** Time of the whole examination. */
    readonly tookMs: number;
    /** One that judged an examination a moment ago: its findings are cleared by their lower thresholds. */
    readonly judge?: Judge;
  },
): Report {
  const { acknowledgements = NO_ACKNOWLEDGEMENTS, tookMs } = options;
  const judge = options.judge ?? createJudge(options.checks ?? CHECKS);
  const windows = windowsOf(snapshots);
  for (const window of windows) judge.add(window);
  const last = snapshots.at(-1);
  return {
    atMs: last?.wallMs ?? 0,
    tookMs,
    windowSeconds: windows.reduce((sum, { seconds }) => sum + seconds, 0) / Math.max(1, windows.length),
    windows: windows.length,
    ...acknowledge(judge.findings(), acknowledgements),
    ...judge.coverage(),
    looked: lookedOf(last),
    remarks: acknowledgements.faults,
  };
}

export function windowsOf(snapshots: readonly Snapshot[]): readonly Window[] {
  return snapshots.slice(1).flatMap((after, at): Window[] => {
    const before = snapshots[at];
    return before === undefined ? [] : [{ before, after, seconds: (after.atMs - before.atMs) / 1000 }];
  });
}

function lookedOf(snapshot: Snapshot | undefined): Looked {
  const { stores = [], engines = [], hosts = [], service } = snapshot ?? {};
  const nodes = stores.flatMap((store) => known(store.nodes) ?? []);
  const remote = engines.filter(({ kind }) => kind !== 'sqlite');
  const seen = new Set(hosts.flatMap(({ addresses }) => addresses));
  const machines = [...nodes.map(({ address }) => address), ...remote.map(({ endpoint }) => endpoint)].map(hostPartOf);
  return {
    stores: stores.map(({ name, kind, nodes: listed }) => {
      const own = known(listed) ?? [];
      return {
        name,
        kind,
        nodes: own.map(({ address }) => address),
        unreached: own.filter(({ info }) => known(info) === undefined).map(({ address }) => address),
      };
    }),
    engines: engines.map(({ name, endpoint, version }) => ({ name, endpoint, version: known(version) })),
    hosts: hosts.map(({ name }) => name),
    unseen: [...new Set(machines)].filter((machine) => !isSeen(machine, seen)),
    service: service !== undefined,
  };
}

function isSeen(machine: string, addresses: ReadonlySet<string>): boolean {
  // A name may be any machine; it counts as unseen.
  return isLoopback(machine) || (isIP(machine) !== 0 && addresses.has(machine));
}
