import { countText, percentText, perSecondText } from '../../src/report/format.ts';
import type { RunRecord } from './record.ts';

/** What differs by less was meant to be the same. */
const SAME_RATE = 0.05;

export function isSameRate(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_RATE * Math.max(one, other);
}

/** What was different between two runs beside the service, in sentences. None: they can be compared. */
export function differencesOf(now: RunRecord, earlier: RunRecord): readonly string[] {
  const differ = (what: string, read: (run: RunRecord) => string): readonly string[] =>
    read(now) === read(earlier) ? [] : [`${what}: ${read(now)}, earlier ${read(earlier)}.`];
  const [one, other] = [now.summary.baseRps, earlier.summary.baseRps];
  return [
    ...differ('Script', ({ summary }) => summary.script),
    ...[now, earlier].flatMap(({ verdict }, at) =>
      verdict.kind === 'invalid'
        ? [`${at === 0 ? 'This' : 'The earlier'} run is invalid: its generator spoiled it.`]
        : [],
    ),
    ...(isSameRate(one, other) ? [] : [`Base rate: ${perSecondText(one)}, earlier ${perSecondText(other)}.`]),
    ...differ('Cores of the machine', ({ machine }) => countText(machine.cores)),
    ...differ('Processors of the generator', ({ machine }) => machine.generatorCpus ?? 'any'),
    ...differ('Processors of the service', ({ machine }) => machine.serviceCpus ?? 'any'),
    ...differ('k6', ({ machine }) => machine.k6),
    ...differ('Stack', ({ stack }) => stack),
    ...differ('Queries', ({ summary: { queries } }) => `${countText(queries.count)} of ${queries.domains.join(', ')}`),
    ...differ('Zipf–Mandelbrot exponent', ({ summary: { queries } }) => String(queries.exponent)),
    ...differ('Zipf–Mandelbrot offset', ({ summary: { queries } }) => String(queries.offset)),
    ...differ('Searches that never repeat', ({ summary: { queries } }) => percentText(queries.onceShare)),
  ];
}
