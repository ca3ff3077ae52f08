import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  utcText,
} from '../../src/report/format.ts';
import { type Content, element, facts, type Markup, said, verdictLine } from '../../src/report/markup.ts';
import type { Judged } from '../judge/judged.ts';
import type { BaseRate, Machine, RunRecord } from '../judge/record.ts';
import { verdictWords } from './verdict-words.ts';

/** What was run and why, and how it ended: the answer comes before anything else. */
export function heading(record: RunRecord, { verdict }: Judged): Markup {
  const { summary, machine, base, stack } = record;
  return element(
    'header',
    {},
    element('p', { class: 'kind' }, 'serpcache load report'),
    element('h1', {}, said(summary.script), element('span', { class: 'soft' }, ' ', said(summary.purpose))),
    verdictLine(verdictWords(verdict)),
    verdict.kind === 'invalid' ? reasonsList(verdict.reasons) : undefined,
    facts([
      ['When', `${utcText(summary.startedAtMs)}, for ${durationText(summary.durationMs)}`],
      ['Base rate, x1', baseWords(base)],
      ['Target', targetWords(record)],
      ['Stack', stack === 'local' ? 'local: everything ran on one machine' : 'none: what was there already'],
      ['Queries', queryWords(record)],
      ['Machine of the generator', machineWords(machine)],
      ['k6', said(machine.k6)],
      ['Run', element('code', {}, said(record.id))],
      ['To run it again', element('code', {}, said(record.command))],
    ]),
  );
}

function reasonsList(reasons: readonly string[]): Markup | undefined {
  if (reasons.length === 0) return undefined;
  return element(
    'ul',
    { class: 'plain reasons' },
    reasons.map((reason) => element('li', {}, said(reason))),
  );
}

function baseWords({ rps, from, saturationRps, saturated }: BaseRate): Content {
  const rate = perSecondText(rps);
  if (from === 'told') return `${rate}, as it was told`;
  const of =
    saturationRps === undefined
      ? ''
      : ` of ${perSecondText(saturationRps)}, the most that was answered of warm searches`;
  return [`${rate}: an eighth${of}; measured just before. `, saturated === undefined ? undefined : said(saturated)];
}

function targetWords({ summary }: RunRecord): Content {
  const { baseUrls, adminUrls } = summary.target;
  const admin = adminUrls.length === 0 ? ['; no admin address: nothing inside could be seen'] : [];
  return [baseUrls.map((url, i) => [i === 0 ? undefined : ', ', said(url)]), ...admin];
}

function queryWords({ summary }: RunRecord): Content {
  const { file, count, domains, exponent, offset, onceShare, seed } = summary.queries;
  return [
    `${countText(count)} of `,
    said(file),
    ', for ',
    said(domains.join(', ')),
    `; Zipf–Mandelbrot with exponent ${String(exponent)} and offset ${amountText(offset)}, `,
    `${percentText(onceShare)} never repeated, seed ${String(seed)}`,
  ];
}

function machineWords({ cores, memoryBytes, system, generatorCpus, serviceCpus }: Machine): Content {
  const pinned = [
    generatorCpus === undefined ? [] : [`generator on ${generatorCpus}`],
    serviceCpus === undefined ? [] : [`service on ${serviceCpus}`],
  ].flat();
  const kept = pinned.length === 0 ? 'not pinned' : `processors: ${pinned.join(', ')}`;
  return [
    `${countText(cores)} ${cores === 1 ? 'core' : 'cores'}, ${bytesText(memoryBytes)}, `,
    said(system),
    '; ',
    said(kept),
  ];
}
