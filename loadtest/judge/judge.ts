import { countText } from '../../src/report/format.ts';
import type { Sample } from '../sample/sample.ts';
import { RESOURCE_KINDS, type RunRecord } from './record.ts';
import { recoveriesOf } from './recovery.ts';
import { type Resources, type ResourceUse, resourcesOf } from './resources.ts';
import { type StepFigures, stepFigures } from './step-figures.ts';

export type Judged = ReturnType<typeof judge>;

/** The results of a run, computed whenever it is shown, never stored. The verdict was given at its end. */
export function judge(record: RunRecord) {
  const steps = stepFigures(record);
  const resources = resourcesOf(record, steps);
  return {
    verdict: record.verdict,
    steps,
    /** Fullest first, at the decisive step: the first that broke, else the one with the highest rate. */
    resources: resources.uses,
    bottleneck: bottleneckOf(resources, record.samples),
    /** For scripts that flush a cache. */
    recoveries: recoveriesOf(record),
  };
}

const FULL = 0.9;

/**
 * The limiting resource, and the one that would be next. It is a resource that is full at the decisive step, or else the one
 * that would be full first if its use grows as before. The generator never limits the service: when it is full, the run is
 * invalid.
 */
export function bottleneckOf({ uses, decisive }: Resources, samples: readonly Sample[]) {
  const unmeasured = RESOURCE_KINDS.filter((kind) => !uses.some((use) => use.kind === kind));
  const unseen = unseenWords(samples);
  const generator = uses.find(({ kind }) => kind === 'generator');
  const service = uses.filter((use) => use !== generator);
  const found = (words: string, uses: { readonly limiting?: ResourceUse; readonly next?: ResourceUse } = {}) => ({
    ...uses,
    words: `${words}${unseen}`,
    unmeasured,
  });
  if (decisive === undefined) return found('Nothing ran.');
  const where = `${decisive.summary.step.name} (${countText(decisive.searchesPerSecond)} searches/s)`;
  const byGrowth = service
    .filter(({ fullAtRps }) => fullAtRps !== undefined)
    .toSorted((a, b) => (a.fullAtRps ?? 0) - (b.fullAtRps ?? 0));

  if (generator !== undefined && generator.used >= FULL) {
    const words = `The generator was full at ${where}: ${generator.words}. What the service could take is not known.`;
    return found(words, { limiting: generator });
  }
  const full = service.find(({ used }) => used >= FULL);
  if (full !== undefined) {
    const used = service.filter((use) => use.used > 0);
    const next = withOtherCause(full, byGrowth) ?? withOtherCause(full, used);
    const after = next === undefined ? '' : ` Next would be ${next.name}${fullAtWords(next) ?? `, now ${next.words}`}.`;
    const words = `${capital(full.name)} ${isPlural(full.name) ? 'are' : 'is'} full at ${where}: ${full.words}.${after}`;
    return found(words, { limiting: full, next });
  }
  const limiting = byGrowth[0];
  const next = limiting && withOtherCause(limiting, byGrowth);
  const words = [
    nothingFull(decisive, where, service[0]),
    ...(service.length === 0 ? [] : firstWords(limiting, next)),
    ...generatorWords(generator, limiting),
  ];
  return found(words.join(' '), { limiting, next });
}

function nothingFull({ summary }: StepFigures, where: string, fullest: ResourceUse | undefined): string {
  if (fullest === undefined) return `What was full at ${where} was not measured.`;
  if (summary.result !== 'broke') return `Nothing is full at ${where}.`;
  return `${where} broke, and nothing that was measured was full; ${fullest.name} came nearest: ${fullest.words}.`;
}

function firstWords(limiting: ResourceUse | undefined, next: ResourceUse | undefined): readonly string[] {
  if (limiting === undefined) return ['No two rates held that tell what would be full first.'];
  const after = next === undefined ? '' : `; next ${next.name}${fullAtWords(next) ?? ''}`;
  return [`First to fill would be ${limiting.name}${fullAtWords(limiting) ?? ''}${after}.`];
}

/** A rate above that at which the generator is full cannot be tried with this generator. */
function generatorWords(generator: ResourceUse | undefined, limiting: ResourceUse | undefined): readonly string[] {
  const [own, service] = [generator?.fullAtRps, limiting?.fullAtRps];
  if (own === undefined || (service !== undefined && service <= own)) return [];
  return [`The generator itself would be full at about ${roundText(own)}: it takes a larger one to see that.`];
}

function fullAtWords({ fullAtRps }: ResourceUse): string | undefined {
  return fullAtRps === undefined ? undefined : `, at about ${roundText(fullAtRps)} searches/s`;
}

/** Two digits: the growth over a few steps is not more precise. */
function roundText(rps: number): string {
  return countText(Number(rps.toPrecision(2)));
}

function withOtherCause({ cause }: ResourceUse, uses: readonly ResourceUse[]): ResourceUse | undefined {
  return uses.find((use) => use.cause !== cause);
}

/** Names the parts that were never sampled. A kind counts as measured when one part of it was. */
function unseenWords(samples: readonly Sample[]): string {
  const hasProcess = (process: string) => (sample: Sample) => sample.processes.some(({ name }) => name === process);
  const parts: readonly (readonly [string, (sample: Sample) => boolean])[] = [
    ['serpcache itself', ({ replicas }) => replicas.length > 0],
    ['the stores', ({ stores }) => stores.length > 0],
    ['searchd', hasProcess('searchd')],
    ['the machine', ({ host }) => host !== undefined],
    ['the generator', hasProcess('k6')],
  ];
  const unseen = parts.flatMap(([name, isSeen]) => (samples.some(isSeen) ? [] : [name]));
  return unseen.length === 0 ? '' : ` There are no figures of ${new Intl.ListFormat('en-GB').format(unseen)}.`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `engine permits …`, `all cores of …` */
function isPlural(name: string): boolean {
  return /^(engine permits|connections|searches|cores|all cores|processors)\b/.test(name);
}
