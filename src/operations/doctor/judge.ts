import { isIP } from 'node:net';
import { isLoopback } from '../../schema/units.ts';
import { type Acknowledgements, acknowledge, NO_ACKNOWLEDGEMENTS } from './acknowledge.ts';
import { type Check, type CheckResult, type Evidence, SEVERITIES, type Window } from './check.ts';
import { CHECKS } from './checks/checks.ts';
import { known, type Snapshot } from './facts.ts';
import type { Finding, Looked, Report, Skipped } from './report.ts';
import { hostPartOf, skipped } from './window.ts';

/** Decides from window to window which findings stand. */
export type Judge = ReturnType<typeof createJudge>;

/** A finding is raised by this many of the last `RECENT` windows, and cleared by as many that are below its lower threshold. */
const NEEDED = 2;
const RECENT = 3;

type State = CheckResult['state'];

interface Course {
  readonly check: Check;
  /** The last windows, oldest first. */
  states: readonly State[];
  /** The newest window with a threshold passed. */
  evidence: Evidence | undefined;
  sinceMs: number | undefined;
}

export function createJudge(checks: readonly Check[]) {
  /** By check and subject. A course ends when its subject was not seen for `RECENT` windows. */
  const courses = new Map<string, Course>();
  let last: ReadonlyMap<Check, readonly CheckResult[]> = new Map();
  let seconds = 0;

  const findingOf = ({ check, states, evidence, sinceMs }: Course): Finding | undefined => {
    if (sinceMs === undefined || evidence === undefined) return undefined;
    const { id, area, severity, title, raises, why, source } = check;
    const times = states.filter((state) => state === 'raise').length;
    return {
      check: id,
      area,
      severity,
      title,
      threshold: raises,
      why,
      source,
      sinceMs,
      ...evidence,
      seen: `${times} of ${states.length} windows of ${seconds.toFixed(1)} s`,
    };
  };

  /** By check and subject. */
  const standing = (): ReadonlyMap<string, Finding> =>
    new Map(
      [...courses].flatMap(([key, course]) => {
        const finding = findingOf(course);
        return finding === undefined ? [] : [[key, finding] as const];
      }),
    );

  const note = (check: Check, observation: CheckResult, wallMs: number): void => {
    const key = `${check.id}\n${observation.subject}`;
    const course = courses.get(key) ?? { check, states: [], evidence: undefined, sinceMs: undefined };
    courses.set(key, course);
    const { state } = observation;
    course.states = [...course.states, state].slice(-RECENT);
    if (state === 'raise' || state === 'hold') {
      const { subject, evidence, figures, advice } = observation;
      course.evidence = { subject, evidence, figures, advice };
    }
    const count = (...wanted: readonly State[]): number => course.states.filter((one) => wanted.includes(one)).length;
    if (course.sinceMs === undefined) {
      if (count('raise') >= NEEDED) course.sinceMs = wallMs;
    } else if (count('fine') >= NEEDED || (course.states.length >= RECENT && count('raise', 'hold') === 0)) {
      course.sinceMs = undefined;
    }
  };

  /** A check that throws counts as skipped. The other checks still run. */
  const observationsOf = (check: Check, window: Window): readonly CheckResult[] => {
    try {
      return check.look(window);
    } catch (error) {
      const reason = `the check failed: ${error instanceof Error ? error.message : error}`;
      const prefix = `${check.id}\n`;
      const subjects = [...courses.keys()].flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
      return (subjects.length > 0 ? subjects : ['every subject']).map((subject) => skipped(subject, reason));
    }
  };

  return {
    /** Judges one more window. @returns the findings that were raised and cleared by it. */
    add: (window: Window): { readonly raised: readonly Finding[]; readonly cleared: readonly Finding[] } => {
      seconds = window.seconds;
      const { wallMs } = window.after;
      const before = standing();
      last = new Map(checks.map((check) => [check, observationsOf(check, window)]));
      const seen = new Set<string>();
      for (const [check, observations] of last) {
        for (const observation of observations) {
          seen.add(`${check.id}\n${observation.subject}`);
          note(check, observation, wallMs);
        }
      }
      // A subject that is gone (a node that left the cluster) is fine: its findings end, and then its course.
      for (const [key, course] of courses) {
        if (seen.has(key)) continue;
        note(course.check, { subject: key.slice(course.check.id.length + 1), state: 'fine' }, wallMs);
        if (course.sinceMs === undefined && course.states.every((state) => state === 'fine')) courses.delete(key);
      }
      const after = standing();
      return {
        raised: [...after].flatMap(([key, finding]) => (before.has(key) ? [] : finding)),
        cleared: [...before].flatMap(([key, finding]) => (after.has(key) ? [] : finding)),
      };
    },
    /** The standing findings, most severe first. */
    findings: (): readonly Finding[] => bySeverity([...standing().values()]),
    /** Checks that could not be made in the last window, and the counts of the others. */
    coverage: (): Pick<Report, 'skipped' | 'checked' | 'fine'> => {
      const made = [...last].filter(([, observations]) => observations.some(({ state }) => state !== 'skipped'));
      const found = new Set([...standing().values()].map(({ check }) => check));
      return {
        skipped: skippedOf(last),
        checked: made.length,
        fine: made.filter(([{ id }]) => !found.has(id)).length,
      };
    },
  };
}

export function bySeverity(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

/** One line per check and reason. */
function skippedOf(observed: ReadonlyMap<Check, readonly CheckResult[]>): readonly Skipped[] {
  return [...observed].flatMap(([{ id }, observations]) => {
    const missed = observations.flatMap((one) => (one.state === 'skipped' ? [one] : []));
    return [...Map.groupBy(missed, ({ reason }) => reason)].map(([reason, group]) => ({
      check: id,
      reason,
      subjects: group.map(({ subject }) => subject),
    }));
  });
}

/** Judges the windows between snapshots, in their order. Pure but for the judge: a bundle's snapshots give its report again. */
export function diagnose(
  snapshots: readonly Snapshot[],
  options: {
    readonly acknowledgements?: Acknowledgements;
    /** Time of the whole examination. */
    readonly tookMs: number;
    /** One that judged an examination a moment ago clears its findings by their lower thresholds. Absent: one of all checks. */
    readonly judge?: Judge;
  },
): Report {
  const { acknowledgements = NO_ACKNOWLEDGEMENTS, tookMs, judge = createJudge(CHECKS) } = options;
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
