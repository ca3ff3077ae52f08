import { PHASES, phaseReports, type Report, type Sample } from './report.ts';

const HIT: Sample['verdict'] = { kind: 'page', outcome: 'hit-l1', hash: 'x', degraded: false };
export const ENGINE: Sample['verdict'] = { kind: 'page', outcome: 'engine', hash: 'x', degraded: false };

/** One hundred samples per phase. `change` modifies those of the phase `fault`. */
export function samplesWith(change: (n: number) => Partial<Sample> = () => ({})): Sample[] {
  return PHASES.flatMap((phase) =>
    Array.from({ length: 100 }, (_, n): Sample => {
      const sample = {
        stalledMs: 0,
        arrival: n,
        phase,
        sentMs: n,
        durationMs: 3,
        text: `${n}`,
        known: n % 20 !== 0,
        verdict: HIT,
      };
      return phase === 'fault' ? { ...sample, ...change(n) } : sample;
    }),
  );
}

/** The report of a row in which every promise was kept. */
export function reportWith(over: Partial<Report> = {}, samples = samplesWith()): Report {
  return {
    row: 'test',
    trace: { found: true, evidence: 'process: runs → gone' },
    subject: phaseReports(samples),
    control: phaseReports(samplesWith()),
    wrong: [],
    hung: 0,
    brokenConnections: [],
    dishonest: [],
    controlFaults: [],
    recoveredAfterMs: 1500,
    engine: {
      searches: 10,
      distinct: 10,
      probes: 0,
      refused: 0,
      unasked: 0,
      atEngine: 0,
      mostAtEngine: 1,
      waiting: 0,
      mostWaiting: 0,
    },
    rssBeforeBytes: 2 ** 27,
    peakRssBytes: 2 ** 27,
    connectionsOpened: 0,
    generatorLagP99Ms: 3,
    samples,
    ...over,
  };
}
