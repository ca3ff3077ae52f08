import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { runOf } from '../../fakes/load-run.ts';

/** Runs for the tests of the report. */
export const SAMPLE_RUNS: Readonly<Record<string, () => RunRecord>> = {
  held: () => runOf(),
  broke: () => runOf({ breaksAt: 4, isAborted: true }),
  invalid: () => runOf({ starvedAt: 4 }),
  flush: () => runOf({ script: 'flush-survival' }),
  staging: () => runOf({ stack: 'none', replicas: 2 }),
  blind: () => runOf({ stack: 'none', isBlind: true }),
  // Every second has different figures, so no point can be left out of a path.
  'an hour': () => unsteady(runOf({ script: 'flush-survival', holdSeconds: 514, breaksAt: 1 })),
};

export const HOSTILE = `</title></style><script>alert(1)</script>" onload="x" '<img src=x>&amp;\u0000\u202e\ud800]]>|`;

/** All text that comes from outside is hostile. */
export function hostileRun(word = HOSTILE): RunRecord {
  const made = runOf({ script: 'flush-survival', breaksAt: 1 });
  const { summary } = made;
  return {
    ...made,
    ...{ id: word, command: word },
    machine: { ...made.machine, system: word, k6: word, generatorCpus: word, serviceCpus: word },
    base: { ...made.base, saturated: word },
    verdict: { kind: 'invalid', detail: word, reasons: [word, word] },
    events: [...made.events, { atMs: summary.startedAtMs, kind: word, text: word, drill: word }].map((event) => ({
      ...event,
      ...{ text: word, drill: word },
    })),
    samples: made.samples.map((sample) => ({
      ...sample,
      replicas: sample.replicas.map((one) => ({ ...one, domains: { [word]: one.domains['goods'] ?? never() } })),
    })),
    summary: {
      ...summary,
      ...{ script: word, purpose: word },
      target: { baseUrls: [word, word], adminUrls: [word] },
      queries: { ...summary.queries, file: word, domains: [word, '__proto__'] },
      checks: [{ name: word, passes: 1, fails: 1 }],
      generator: { ...summary.generator, emptyThresholds: [word] },
      steps: summary.steps.map((one) => ({
        ...one,
        ...{ broken: [word], step: { ...one.step, title: word, name: `${one.step.name}${word}` } },
      })),
    },
  };
}

function unsteady(record: RunRecord): RunRecord {
  const odd = (at: number, by: number): number => 1 + 0.5 * Math.sin(at * by);
  return {
    ...record,
    seconds: record.seconds.map((second, at) => ({
      ...second,
      dropped: Math.round(40 * odd(at, 3)),
      errors: Math.round(70 * odd(at, 5)),
      outcomes: {
        ...Object.fromEntries(
          ['hit-l1', 'hit-l2', 'stale', 'collapsed', 'engine', 'lifeboat', 'shed', 'failed', 'unanswered'].map(
            (name, i) => [name, Math.round(300 * odd(at, 7 + i))],
          ),
        ),
      },
      latencyMs: { p50: 2 * odd(at, 11), p90: 40 * odd(at, 13), p99: 300 * odd(at, 17), max: 900 },
    })),
  };
}

function never(): never {
  throw new Error('the fake has no goods');
}
