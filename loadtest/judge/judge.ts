import { countText } from '../../src/report/format.ts';
import type { Sample } from '../sample/sample.ts';
import type { Binding, Judged, ResourceKind, RunRecord, StepFigures } from './record.ts';
import { recoveriesOf } from './recovery.ts';
import { type Resources, resourcesOf } from './resources.ts';
import { stepFigures } from './step-figures.ts';
import type { CausedUse } from './work-meters.ts';

/** What the figures of a run mean. The verdict was given when it ended, and is not given again. */
export function judge(record: RunRecord): Judged {
  const steps = stepFigures(record);
  const resources = resourcesOf(record, steps);
  return {
    verdict: record.verdict,
    steps,
    resources: resources.uses,
    binding: bindingOf(resources, record.samples),
    recoveries: recoveriesOf(record),
  };
}

const KINDS: readonly ResourceKind[] = [
  'connections',
  'core',
  'memory',
  'network',
  'disk',
  'limiter',
  'engine',
  'generator',
];

const FULL = 0.9;

/**
 * What binds and what would next. Something that is full at the telling step binds; else it is read off the growth which
 * will be full first. The generator never binds the service: that it is full is said, and spoils the run.
 */
export function bindingOf({ uses, telling }: Resources, samples: readonly Sample[]): Binding {
  const unmeasured = KINDS.filter((kind) => !uses.some((use) => use.kind === kind));
  const unseen = unseenWords(samples);
  const generator = uses.find(({ kind }) => kind === 'generator');
  const service = uses.filter((use) => use !== generator);
  if (telling === undefined) return { words: `Nothing ran.${unseen}`, isReached: false, unmeasured };
  const where = `${telling.summary.step.name} (${countText(telling.searchesPerSecond)} searches/s)`;
  const first = byGrowth(service);

  if (generator !== undefined && generator.used >= FULL) {
    const words = `The generator was full at ${where}: ${generator.words}. What the service could take is not known.`;
    return { binds: generator, words: `${words}${unseen}`, isReached: true, unmeasured };
  }
  const full = service.find(({ used }) => used >= FULL);
  if (full !== undefined) {
    const next =
      otherThan(full, first) ??
      otherThan(
        full,
        service.filter(({ used }) => used > 0),
      );
    const after = next === undefined ? '' : ` Next would be ${next.name}${fullAtWords(next) ?? `, now ${next.words}`}.`;
    const words = `${capital(full.name)} ${isMany(full.name) ? 'are' : 'is'} full at ${where}: ${full.words}.${after}`;
    return {
      binds: full,
      ...(next === undefined ? {} : { next }),
      words: `${words}${unseen}`,
      isReached: true,
      unmeasured,
    };
  }
  const binds = first[0];
  const next = binds === undefined ? undefined : otherThan(binds, first);
  const words = [
    nothingFull(telling, where, service[0]),
    ...(service.length === 0 ? [] : firstWords(binds, next)),
    ...generatorWords(generator, binds),
  ];
  return {
    ...(binds === undefined ? {} : { binds }),
    ...(next === undefined ? {} : { next }),
    words: `${words.join(' ')}${unseen}`,
    isReached: false,
    unmeasured,
  };
}

function nothingFull({ summary }: StepFigures, where: string, fullest: CausedUse | undefined): string {
  if (fullest === undefined) return `What was full at ${where} was not measured.`;
  if (summary.result !== 'broke') return `Nothing is full at ${where}.`;
  return `${where} broke, and nothing that was measured was full; ${fullest.name} came nearest: ${fullest.words}.`;
}

function firstWords(binds: CausedUse | undefined, next: CausedUse | undefined): readonly string[] {
  if (binds === undefined) return ['No two rates held that tell what would be full first.'];
  const after = next === undefined ? '' : `; next ${next.name}${fullAtWords(next) ?? ''}`;
  return [`First to fill would be ${binds.name}${fullAtWords(binds) ?? ''}${after}.`];
}

/** What is above the generator's own end cannot be tried with it. */
function generatorWords(generator: CausedUse | undefined, binds: CausedUse | undefined): readonly string[] {
  const [own, service] = [generator?.fullAtRps, binds?.fullAtRps];
  if (own === undefined || (service !== undefined && service <= own)) return [];
  return [`The generator itself would be full at about ${roundText(own)}: it takes a larger one to see that.`];
}

function fullAtWords({ fullAtRps }: CausedUse): string | undefined {
  return fullAtRps === undefined ? undefined : `, at about ${roundText(fullAtRps)} searches/s`;
}

/** Two digits: the growth of a few steps tells no more. */
function roundText(rps: number): string {
  return countText(Number(rps.toPrecision(2)));
}

function byGrowth(uses: readonly CausedUse[]): readonly CausedUse[] {
  return uses
    .filter(({ fullAtRps }) => fullAtRps !== undefined)
    .toSorted((a, b) => (a.fullAtRps ?? 0) - (b.fullAtRps ?? 0));
}

function otherThan({ cause }: CausedUse, uses: readonly CausedUse[]): CausedUse | undefined {
  return uses.find((use) => use.cause !== cause);
}

/** A kind counts as measured when one part of it was: the parts nobody saw are named. */
function unseenWords(samples: readonly Sample[]): string {
  const isSeen = (read: (sample: Sample) => boolean): boolean => samples.some(read);
  const unseen = [
    ...(isSeen(({ replicas }) => replicas.length > 0) ? [] : ['serpcache itself']),
    ...(isSeen(({ stores }) => stores.length > 0) ? [] : ['the stores']),
    ...(isSeen(({ processes }) => processes.some(({ name }) => name === 'searchd')) ? [] : ['searchd']),
    ...(isSeen(({ host }) => host !== undefined) ? [] : ['the machine']),
    ...(isSeen(({ processes }) => processes.some(({ name }) => name === 'k6')) ? [] : ['the generator']),
  ];
  return unseen.length === 0 ? '' : ` Nobody could look at ${listed(unseen)}.`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `places at …`, `all cores of …` */
function isMany(name: string): boolean {
  return /^(places|connections|searches|cores|all cores|processors)\b/.test(name);
}
