import { type Acknowledgements, acknowledge } from '../../src/operations/doctor/acknowledge.ts';
import type { Doctor } from '../../src/operations/doctor/create-doctor.ts';
import type { Examination } from '../../src/operations/doctor/doctor.ts';
import type { Snapshot } from '../../src/operations/doctor/facts.ts';
import { diagnose } from '../../src/operations/doctor/judge.ts';
import type { EnableName, HistoryLine } from '../../src/operations/doctor/report.ts';
import type { Clock } from '../../src/runtime.ts';
import {
  engineWith,
  HEALTHY_NODE,
  hostWith,
  laterNode,
  nodeWith,
  serviceWith,
  snapshotWith,
  storeWith,
  told,
} from '../operations/doctor/harness.ts';

export interface FakeDoctor extends Doctor {
  /** The windows that were asked for, in order. */
  readonly asked: readonly (number | undefined)[];
  readonly enabled: readonly EnableName[];
}

/** The name of a key that another application could have chosen badly. */
export const FOREIGN_KEY = 'session:anna@example.com:eyJhbGciOiJIUzI1NiJ9';
const ACCEPTED: Acknowledgements = {
  entries: [{ check: 'store-persistence', reason: 'a warm start is wanted here', until: '2099-12-31' }],
  faults: [],
};
const SNAPSHOTS = 4;

/**
 * Real judgements of made-up figures: a Redis at 10.0.0.7, a host that nobody looked at, keeps a large key of another
 * application, evicts nothing when it is full, saves to disk, and does not tell its clients.
 */
export function createFakeDoctor({ clock }: { readonly clock: Clock }): FakeDoctor {
  const asked: (number | undefined)[] = [];
  const enabled: EnableName[] = [];
  const history: readonly HistoryLine[] = [
    {
      atMs: clock.wallMs(),
      change: 'raised',
      check: 'store-memory-full',
      severity: 'critical',
      subject: '10.0.0.7:6379 (store of goods)',
      evidence: '0.99 of 1 GiB are used.',
    },
  ];
  const examine = (windowMs = 1000): Examination => {
    const snapshots = snapshotsFrom(clock, windowMs);
    return { report: diagnose(snapshots, { acknowledgements: ACCEPTED, tookMs: 3 * windowMs + 40 }), snapshots };
  };
  return {
    asked,
    enabled,
    examine: async ({ windowMs } = {}) => {
      asked.push(windowMs);
      return examine(windowMs);
    },
    standing: () => {
      const { report } = examine();
      const { findings } = report;
      const count = (severity: string): number => findings.filter((one) => one.severity === severity).length;
      const counts = { critical: count('critical'), warning: count('warning'), info: count('info') };
      return { atMs: report.atMs, ...acknowledge(findings, ACCEPTED), counts };
    },
    history: () => history,
    enable: async (name) => {
      enabled.push(name);
      const commands = [name === 'reset' ? 'SLOWLOG RESET' : `CONFIG SET ${name} 1`];
      return {
        name,
        nodes: [
          { node: '10.0.0.7:6379', commands },
          { node: '10.0.0.8:6379', commands, refused: 'NOPERM this user has no permissions' },
        ],
      };
    },
    close: async () => {},
  };
}

function snapshotsFrom(clock: Clock, windowMs: number): readonly Snapshot[] {
  const biggest = [{ name: FOREIGN_KEY, type: 'string', bytes: 5 * 2 ** 20 }];
  const node = nodeWith({
    address: '10.0.0.7:6379',
    config: { 'maxmemory-policy': 'noeviction', save: '3600 1' },
    info: { maxmemory_policy: 'noeviction' },
    parts: {
      clients: { skipped: 'CLIENT LIST is refused: NOPERM this user has no permissions' },
      keys: { known: { ...told(HEALTHY_NODE.keys), biggest } },
    },
  });
  return Array.from({ length: SNAPSHOTS }, (_, at) => {
    const wallMs = clock.wallMs() + at * windowMs;
    const later = Array.from({ length: at }).reduce<typeof node>((one) => laterNode(one), node);
    return snapshotWith({
      atMs: 1000 + at * windowMs,
      wallMs,
      stores: [storeWith({}, [later])],
      engines: [engineWith()],
      hosts: [hostWith({ wallMs })],
      service: serviceWith(),
    });
  });
}
