import { SIGNS, type VerdictWords } from '../../src/report/components.ts';
import { countText, durationText, elapsedText, percentText, perSecondText } from '../../src/report/format.ts';
import { h, type TreeElement } from '../../src/report/tree.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunRecord } from '../judge/record.ts';
import type { Recovery } from '../judge/recovery.ts';
import type { StepSummary, Verdict } from '../k6/kit/summary.ts';

const VERDICTS = {
  passed: { word: 'Passed', tone: 'good', sign: SIGNS.check },
  failed: { word: 'Failed', tone: 'bad', sign: SIGNS.cross },
  // Neither a failure nor a success of the service.
  invalid: { word: 'Invalid', tone: 'warn', sign: SIGNS.question },
} as const;

export function verdictWords({ kind, detail }: Verdict): VerdictWords {
  return { ...VERDICTS[kind], detail };
}

const RESULTS = {
  held: { sign: '✓', word: 'held', style: 'word good' },
  broke: { sign: '✕', word: 'broke', style: 'word bad' },
  'not-run': { sign: '–', word: 'not run', style: 'word' },
  shown: { sign: '·', word: 'no limits', style: 'word' },
} as const;

/** The result of a step. In an invalid run it is shown, but does not count. */
export function resultWords(result: StepSummary['result'], { kind }: Verdict) {
  const isCounted = kind !== 'invalid' || (result !== 'held' && result !== 'broke');
  return isCounted ? RESULTS[result] : { sign: '?', word: `${result}, not counted`, style: 'word' };
}

export function resultMark(result: StepSummary['result'], verdict: Verdict): TreeElement {
  const { sign, word, style } = resultWords(result, verdict);
  return h('span', { class: style })(`${sign} ${word}`);
}

/** The last rung that held, in a sentence; undefined without a ladder, and for an invalid run. */
export function kneeWords({ verdict, steps }: Judged): string | undefined {
  const knee = verdict.kind === 'invalid' ? undefined : verdict.knee;
  if (knee === undefined) return undefined;
  const named = (name: string): string => {
    const step = steps.find(({ summary }) => summary.step.name === name);
    return step === undefined
      ? name
      : `${name} (${perSecondText(step.searchesPerSecond).replace('/s', '\u00a0searches/s')})`;
  };
  const { held, broke } = knee;
  if (held === undefined)
    return broke === undefined ? undefined : `The knee lies below ${named(broke)}: it broke already.`;
  if (broke === undefined) return `Every rung held, up to ${named(held)}: the knee lies above it.`;
  const broken = steps.find(({ summary }) => summary.step.name === broke)?.summary.broken ?? [];
  const why = broken.length === 0 ? '' : `: ${broken.join(', ')}`;
  return `The knee: ${named(held)} held, ${named(broke)} broke${why}.`;
}

interface RecoveryFigure {
  readonly title: string;
  /** A text of any length from outside. */
  readonly isProse?: true;
  readonly text: (recovery: Recovery) => string;
}

/** The figures of a loss: the same on the page and in a README. */
export function recoveryFigures({ summary }: RunRecord): readonly RecoveryFigure[] {
  return [
    { title: 'Lost', isProse: true, text: ({ what }) => what },
    { title: 'Lost at', text: ({ lostAtMs }) => elapsedText(lostAtMs - summary.startedAtMs) },
    { title: 'Hit ratio before', text: ({ hitRatioBefore }) => percentText(hitRatioBefore) },
    { title: 'Lowest', text: ({ hitRatioLowest }) => percentText(hitRatioLowest) },
    {
      title: 'Recovered after',
      text: ({ recoveredAfterMs: after }) =>
        after === undefined ? 'not in its time' : after === 0 ? 'never below' : durationText(after),
    },
    { title: 'Engine before', text: ({ engineCallsPerSecondBefore: before }) => perSecondText(before) },
    { title: 'Engine, most', text: ({ engineCallsPerSecondMost: most }) => perSecondText(most) },
    { title: 'Shed honestly', text: ({ shed }) => countText(shed) },
    { title: 'Other 5xx', text: ({ dishonest }) => countText(dishonest) },
  ];
}
