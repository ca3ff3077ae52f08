import { countText, durationText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { type FleetProcess, known } from '../facts.ts';
import { dataNodesOf, fine, median, reasonOf, skipped, stateAbove } from '../window.ts';

/** The processes of a fleet beside each other: their configurations, versions and clocks. */

const FLEET = 'fleet';

/** One observation of all processes; none without a service. */
function ofFleet(look: (processes: readonly FleetProcess[]) => Observation): Check['look'] {
  return ({ after: { service } }) => {
    if (service === undefined) return [];
    const processes = known(service.fleet);
    return [processes === undefined ? skipped(FLEET, reasonOf(service.fleet)) : look(processes)];
  };
}

/** At most this many ids in a sentence. */
const MAX_IDS = 5;

/** `3 with a1b2 (x, y, z)`, the most frequent value first. */
function groupsOf(processes: readonly FleetProcess[], of: (one: FleetProcess) => string): readonly string[] {
  return [...Map.groupBy(processes, of)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([value, group]) => {
      const ids = group.slice(0, MAX_IDS).map(({ id }) => id);
      return `${group.length} with ${value} (${ids.join(', ')}${group.length > MAX_IDS ? ', …' : ''})`;
    });
}

function differing(
  processes: readonly FleetProcess[],
  what: string,
  of: (one: FleetProcess) => string,
  advice: readonly string[],
): Observation {
  const groups = groupsOf(processes, of);
  if (groups.length < 2) return fine(FLEET);
  return {
    ...{ subject: FLEET, state: 'raise' },
    evidence: `${countText(processes.length)} processes have ${groups.length} different ${what}: ${groups.slice(0, MAX_IDS).join('; ')}.`,
    figures: { processes: processes.length, different: groups.length },
    advice,
  };
}

const configurations = ofFleet((processes) =>
  differing(processes, 'configurations', ({ configuration }) => configuration, [
    'Compare the file and the environment of these processes, on each host: npm run serpcache -- config check; sha256sum "$SERPCACHE_CONFIG"',
    'Then restart those with the old one. The end of an id is the pid of its process in base 36; the pid stands in the log.',
  ]),
);

const versions = ofFleet((processes) =>
  differing(processes, 'versions', ({ version }) => version, [
    'Finish the roll-out; during one this is expected: npm run serpcache -- --version',
  ]),
);

// --- clocks -----------------------------------------------------------------------------------------------------------

const APART = { raises: 500, clears: 250 };
const WRONG = { raises: 1000, clears: 500 };

const SYNCHRONIZE = [
  'On each host: timedatectl; chronyc tracking (or ntpq -p)',
  'Switch time synchronization on: timedatectl set-ntp true',
];

const clocksApart = ofFleet((processes) => {
  const told = processes.flatMap(({ id, clockOffsetMs, clockServer }) =>
    clockOffsetMs === undefined ? [] : [{ id, clockOffsetMs, clockServer }],
  );
  // The clocks of two servers may differ themselves.
  const comparable = [...Map.groupBy(told, ({ clockServer }) => clockServer).values()].flatMap((offsets) => {
    const sorted = offsets.toSorted((a, b) => a.clockOffsetMs - b.clockOffsetMs);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined || first === last) return [];
    return [{ first, last, apartMs: last.clockOffsetMs - first.clockOffsetMs, count: offsets.length }];
  });
  const [widest] = comparable.toSorted((a, b) => b.apartMs - a.apartMs);
  if (widest === undefined)
    return skipped(FLEET, 'fewer than two processes told the offset of their clock to one server');
  const { first, last, apartMs, count } = widest;
  const state = stateAbove(apartMs, APART);
  if (state === 'fine') return fine(FLEET);
  return {
    ...{ subject: FLEET, state },
    evidence: `The clocks of ${countText(count)} processes are up to ${durationText(apartMs)} apart: ${last.id} is ahead of ${first.id}, each measured against one server of a store.`,
    figures: { apartMs: Math.round(apartMs), ahead: last.id, behind: first.id },
    advice: SYNCHRONIZE,
  };
});

/** A node that differs has a wrong clock itself; when more than half of them differ, it is the clock of this process. */
function ownClock(window: Window): readonly Observation[] {
  const { service } = window.after;
  if (service === undefined) return [];
  const subject = `process ${service.processId}`;
  const offsets = dataNodesOf(window).flatMap(({ node }) => known(node.clockOffsetMs) ?? []);
  const offsetMs = offsetOfMost(offsets);
  if (offsetMs === undefined) return [skipped(subject, 'no store node told its time')];
  const state = stateAbove(Math.abs(offsetMs), WRONG);
  if (state === 'fine') return [fine(subject)];
  return [
    {
      ...{ subject, state },
      evidence: `The clock of this process is ${durationText(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} its store: the median of ${countText(offsets.length)} nodes.`,
      figures: { offsetMs: Math.round(-offsetMs), nodes: offsets.length },
      advice: SYNCHRONIZE,
    },
  ];
}

/** The median; between the two middle values of an even number, the one nearer to zero, and zero when they differ in sign. */
function offsetOfMost(offsets: readonly number[]): number | undefined {
  const [lower, upper] = [median(offsets), median(offsets.map((offset) => -offset))];
  if (lower === undefined || upper === undefined) return undefined;
  if (Math.sign(lower) !== Math.sign(-upper)) return 0;
  return Math.abs(lower) < Math.abs(upper) ? lower : -upper;
}

export const FLEET_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'service-configurations',
      area: 'service',
      severity: 'warning',
      title: 'processes have different configurations',
    },
    ...{ needs: ['service', 'fleet'], minimum: 'two processes that share a control store' },
    raises: 'different digests; addresses of listeners, the log, credentials, TLS and paths do not count',
    clears: 'otherwise',
    why: 'They may compute pages by different rules, or count permits for another number of processes, into one store.',
    source: 'by definition; true for a while during a roll-out',
    look: configurations,
  },
  {
    ...{ id: 'service-clocks', area: 'service', severity: 'warning', title: 'clocks differ' },
    ...{ needs: ['service', 'fleet', 'clock'], minimum: 'a store node that tells its time' },
    raises: `processes ≥ ${durationText(APART.raises)} apart, or this one ≥ ${durationText(WRONG.raises)} from its store nodes`,
    clears: `< ${durationText(APART.clears)} and < ${durationText(WRONG.clears)}`,
    why: 'A page counts as older or younger by the difference of the clocks of writer and reader: it lapses too early, or is served for too long.',
    source: 'measured: pages read an hour ahead were 86 % hits instead of 94 % (src/README.md, “Keys and entries”)',
    look: (window) => [...clocksApart(window), ...ownClock(window)],
  },
  {
    ...{ id: 'service-versions', area: 'service', severity: 'info', title: 'processes have different versions' },
    ...{ needs: ['service', 'fleet'], minimum: 'two processes that share a control store' },
    raises: 'different versions',
    clears: 'otherwise',
    why: 'Versions may differ in the format of entries: each then computes what the other has stored.',
    source: 'by definition; true for a while during a roll-out',
    look: versions,
  },
];
