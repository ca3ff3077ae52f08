import { FAULTS, type ShadowFigures, type ShadowVerdict, SIDES, type Side } from '../operations/shadow/figures.ts';
import type {
  Moved,
  ProcessState,
  ReportSummary,
  ShadowReport,
  ShadowStatus,
  ShadowSummary,
} from '../operations/shadow/shadow.ts';
import {
  AGREEMENT_ROWS,
  COPY_ROWS,
  criterionName,
  metOf,
  SIDE_ROWS,
  shadowVerdict,
} from '../operations/shadow/view.ts';
import { countText, durationText, percentText, plural, timesText, utcText } from '../report/format.ts';
import { columns, indented } from './terminal.ts';

export function shadowVerdictText({ kind, why }: Pick<ShadowVerdict, 'kind' | 'why'>): string {
  return `${shadowVerdict(kind).word}: ${why}`;
}

/** The domains with their stores, one line each. */
export function domainsText(domains: readonly ShadowSummary[]): string {
  if (domains.length === 0) return 'no domain has a store';
  const rows = domains.map(({ domain, active, candidates, shadow, placement, warning }) => [
    domain,
    active.name,
    shadow === undefined ? '' : `${shadow.candidate.name}, ${percentText(shadow.fraction)}`,
    placement === undefined ? '' : placementText(placement),
    candidates.map(({ name }) => name).join(', '),
    warning === undefined ? '' : `! ${warning}`,
  ]);
  return columns(rows, ['domain', 'store', 'shadow', 'cut-over', 'candidates', '']);
}

function placementText({ phase, other }: NonNullable<ShadowSummary['placement']>): string {
  return other === undefined ? phase : `${phase}, beside ${other.name}`;
}

/** A domain on one screen: both sides next to each other, and the verdict with its criteria. */
export function statusText(status: ShadowStatus): string {
  const { domain, active, shadow, placement, figures, verdict, processes, wrongKeys, configuration } = status;
  const moved = placement === undefined ? '' : ` (${placementText(placement)})`;
  return [
    `${domain}: store ${active.name}${moved}`,
    ...(status.warning === undefined ? [] : [`! ${status.warning}`]),
    ...processLines(processes),
    ...(shadow === undefined ? ['no shadow runs'] : shadowLines(shadow, status)),
    ...(shadow === undefined || figures === undefined
      ? []
      : [figuresText(figures, active.name, shadow.candidate.name)]),
    ...wrongLines(wrongKeys),
    ...(verdict === undefined ? [] : [verdictLines(verdict)]),
    ...configurationLines(configuration),
  ].join('\n');
}

function shadowLines(
  { id, candidate, fraction, reads, untilMs }: NonNullable<ShadowStatus['shadow']>,
  { elapsedMs, paused }: Pick<ShadowStatus, 'elapsedMs' | 'paused'>,
): readonly string[] {
  const times = `for ${durationText(elapsedMs)}, until ${utcText(untilMs)}`;
  return [
    `${id}: ${percentText(fraction)} of the keys to ${candidate.name}, reads ×${reads}, ${times}`,
    ...(paused ? ['! paused: the event loop of the process that answers is late'] : []),
  ];
}

function processLines(processes: readonly ProcessState[]): readonly string[] {
  const behind = processes.filter(({ state }) => state === 'behind');
  const rest = behind.map(({ id, problem }) => `! ${id} is behind${problem === undefined ? '' : `: ${problem}`}`);
  return processes.length === 0 ? [] : [plural(processes.length, 'live process', 'live processes'), ...rest];
}

function wrongLines(keys: readonly string[]): readonly string[] {
  return keys.length === 0 ? [] : ['! wrong values in the candidate:', indented(keys.join('\n'))];
}

function verdictLines(verdict: ShadowVerdict): string {
  const rows = verdict.criteria.map(({ name, what, met }) => [metOf(met).word, criterionName(name), what]);
  return [shadowVerdictText(verdict), ...(rows.length === 0 ? [] : [indented(columns(rows))])].join('\n');
}

/** The figures of both sides as a table, and how their values agree. */
function figuresText(figures: ShadowFigures, primary: string, candidate: string): string {
  const { seconds, processes, agreement, copying } = figures;
  const measured = `over ${durationText(seconds * 1000)} in ${plural(processes, 'process', 'processes')}`;
  const rows = SIDE_ROWS.map(({ name, text }) => [name, text(figures.primary), text(figures.candidate)]);
  return [
    indented(columns(rows, [measured, primary, candidate])),
    ...SIDES.flatMap((side) => faultLines(side === 'primary' ? primary : candidate, figures[side])),
    indented(agreementText(agreement)),
    indented(`copies: ${COPY_ROWS.map(([name]) => `${countText(copying[name])} ${name}`).join(', ')}`),
  ].join('\n');
}

function faultLines(name: string, { errors }: Side): readonly string[] {
  const some = FAULTS.filter((fault) => errors[fault] > 0).map((fault) => `${countText(errors[fault])} ${fault}`);
  return some.length === 0 ? [] : [indented(`errors of ${name}: ${some.join(', ')}`)];
}

function agreementText(agreement: ShadowFigures['agreement']): string {
  const { compared, equal, lifeDriftMs, lifeDriftMaxMs } = agreement;
  const shares = AGREEMENT_ROWS.filter(([name]) => name !== 'equal' && name !== 'wrong' && agreement[name] > 0).map(
    ([name]) => `, ${percentText(agreement[name] / compared)} ${name}`,
  );
  const drift = `remaining lives differ by ${durationText(lifeDriftMs)}, at most ${durationText(lifeDriftMaxMs)}`;
  return [
    `values: ${countText(compared)} compared, ${percentText(compared === 0 ? undefined : equal / compared)} equal`,
    ...[...shares, `, ${countText(agreement.wrong)} wrong`],
    ...(lifeDriftMs === undefined ? [] : [`; ${drift}`]),
  ].join('');
}

/** Empty when the configuration files already name the store in use. */
export function configurationLines(configuration = ''): readonly string[] {
  const text = configuration.trimEnd();
  return text === '' ? [] : ['change the configuration of every process:', indented(text)];
}

/** The outcome of a cut-over or of the way back. */
export function movedText({ domain, from, to, preparedMs, processes, report, configuration }: Moved): string {
  return [
    `${domain}: ${to.name} is the store, ${from.name} is still read and written; prepared for ${durationText(preparedMs)}`,
    ...processLines(processes),
    ...configurationLines(configuration),
    ...(report === undefined ? [] : [`the report of the shadow: serpcache shadow report ${report}`]),
    `the way back: serpcache shadow back ${domain} --reason …`,
    `to use ${from.name} no longer: serpcache shadow stop ${domain}`,
  ].join('\n');
}

export function reportsText(reports: readonly ReportSummary[]): string {
  if (reports.length === 0) return 'there is no report yet';
  const rows = reports.map(({ id, domain, primary, candidate, startedAtMs, endedAtMs, verdict }) => [
    id,
    domain,
    `${primary.name} → ${candidate.name}`,
    utcText(startedAtMs),
    durationText(endedAtMs - startedAtMs),
    shadowVerdict(verdict.kind).word,
  ]);
  return columns(rows, ['id', 'domain', 'stores', 'started', 'took', 'verdict']);
}

/** A kept report on one screen. */
export function shadowReportText(report: ShadowReport): string {
  const { id, domain, primary, candidate, by, startedAtMs, endedAtMs, ended, changes, total, verdict } = report;
  const took = durationText(endedAtMs - startedAtMs);
  const rows = changes.map(({ atMs, fraction, reads }) => [
    `after ${durationText(atMs)}`,
    `${percentText(fraction)} of the keys`,
    `reads ${timesText(reads)}`,
  ]);
  return [
    `${id}  ${domain}: ${primary.name} → ${candidate.name}`,
    `started ${utcText(startedAtMs)} by ${by}; took ${took}; ${ended}`,
    indented(columns(rows)),
    figuresText(total, primary.name, candidate.name),
    ...wrongLines(report.wrongKeys),
    verdictLines(verdict),
    `its page: serpcache shadow report ${id} --out ${id}.html`,
  ].join('\n');
}
