import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../src/report/format.ts';
import type { StepFigures } from '../judge/judged.ts';
import type { Latency } from '../k6/kit/summary.ts';
import { countOf, OUTCOME_LAYERS, PAGELESS_LAYERS } from './outcome-layers.ts';
import { plannedRate } from './planned.ts';

export interface StepFigure {
  readonly title: string;
  readonly text: (figures: StepFigures) => string;
}

const MOST_OUTCOMES = 3;

/** What clients saw of a step: the same on the page, in a terminal and in a README. */
export const CLIENT_FIGURES = {
  planned: { title: 'Planned', text: ({ summary }) => perSecondText(plannedRate(summary.step)) },
  sent: { title: 'Searches', text: (step) => (isRun(step) ? perSecondText(step.searchesPerSecond) : UNKNOWN) },
  p50: { title: 'p50', text: (step) => latency(step, 'p50') },
  p95: { title: 'p95', text: (step) => latency(step, 'p95') },
  p99: { title: 'p99', text: (step) => latency(step, 'p99') },
  errors: { title: 'Errors', text: ({ summary }) => percentText(summary.errorRate) },
  hits: { title: 'Hit ratio', text: ({ summary }) => percentText(summary.hitRatio) },
} as const satisfies Readonly<Record<string, StepFigure>>;

/** What it took. */
export const PART_FIGURES = {
  engine: { title: 'Engine calls', text: (step) => (isRun(step) ? perSecondText(step.engineCallsPerSecond) : UNKNOWN) },
  amplification: { title: 'Per search', text: (step) => (isRun(step) ? timesText(step.amplification) : UNKNOWN) },
  places: { title: 'In flight, most', text: placesText },
  store: { title: 'Store commands', text: ({ storeCommandsPerSecond }) => perSecondText(storeCommandsPerSecond) },
  serviceMemory: { title: 'Service memory', text: ({ serviceBytes }) => bytesText(serviceBytes) },
  storeMemory: { title: 'Store memory', text: ({ storeBytes }) => bytesText(storeBytes) },
  serviceCores: { title: 'Service cores', text: ({ serviceCores }) => amountText(serviceCores) },
  storeCores: { title: 'Store cores', text: ({ storeCores }) => amountText(storeCores) },
  engineCores: { title: 'Engine cores', text: ({ engineCores }) => amountText(engineCores) },
  generatorCores: { title: 'Generator cores', text: ({ generatorCores }) => amountText(generatorCores) },
  machine: { title: 'Machine busy', text: ({ machineBusyShare }) => percentText(machineBusyShare) },
} as const satisfies Readonly<Record<string, StepFigure>>;

/** The commonest ends of its searches, and every one that was no page: `hit-l1 72 %, hit-l2 19 %, shed 2 %`. */
export function outcomesText({ summary }: StepFigures): string {
  const counts = OUTCOME_LAYERS.map((layer) => ({ layer, count: countOf(summary.outcomes, layer) }));
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const told = counts
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .filter(({ layer }, rank) => rank < MOST_OUTCOMES || PAGELESS_LAYERS.includes(layer));
  return told.map(({ layer, count }) => `${layer.name} ${percentText(count / all)}`).join(', ') || UNKNOWN;
}

/** Whether its rate held at any time. */
function isRun({ summary }: StepFigures): boolean {
  return summary.searches > 0;
}

function latency({ summary }: StepFigures, of: keyof Latency): string {
  return durationText(summary.latencyMs?.[of]);
}

function placesText({ engineInFlightMax: most, engineCeiling: ceiling }: StepFigures): string {
  if (most === undefined) return UNKNOWN;
  return ceiling === undefined ? countText(most) : `${countText(most)} of ${countText(ceiling)}`;
}
