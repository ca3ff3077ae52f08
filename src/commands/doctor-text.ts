import { type Check, isCheap } from '../operations/doctor/check.ts';
import type { Enabled, Finding, HistoryLine, Report } from '../operations/doctor/report.ts';
import {
  acceptedText,
  coverageText,
  healthText,
  historyText,
  lookedLines,
  seenText,
  severityOf,
  skippedViews,
  unseenText,
} from '../operations/doctor/view.ts';
import { utcText } from '../report/format.ts';
import { indented } from './terminal.ts';

/** Reasons for skipped checks that are shown; a report on one screen is read. */
const MAX_SKIPPED = 10;

/** A report for a person: what to change first, then what was not looked at. */
export function examinationText(report: Report): string {
  const { findings, acknowledged, skipped, looked, remarks } = report;
  const unseen = unseenText(looked);
  return [
    ...remarks.map((remark) => `! ${remark}`),
    healthText(report),
    '',
    ...findings.flatMap((finding) => [findingText(finding), '']),
    ...section('acknowledged:', acknowledged.map(acknowledgedText)),
    ...section('skipped:', skippedLines(skipped)),
    ...section('looked at:', lookedLines(looked)),
    ...(unseen === undefined ? [] : [unseen]),
    coverageText(report),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, indented(lines.join('\n'))];
}

function findingText(finding: Finding): string {
  const { check, evidence, advice, why, source } = finding;
  return [
    headText(finding),
    `  ${evidence}`,
    `  ${seenText(finding)}`,
    `  why: ${why}`,
    ...advice.map((line) => `  do: ${line}`),
    `  source: ${source} (${check})`,
  ].join('\n');
}

function headText({ severity, title, subject }: Pick<Finding, 'severity' | 'title' | 'subject'>): string {
  return `${severityOf(severity).word}: ${title}, ${subject}`;
}

function acknowledgedText(finding: Finding): string {
  const { acknowledged } = finding;
  return `${headText(finding)}${acknowledged === undefined ? '' : `; ${acceptedText(acknowledged)}`}`;
}

function skippedLines(skipped: Report['skipped']): readonly string[] {
  const views = skippedViews(skipped);
  const rest = views.length - MAX_SKIPPED;
  const shown = views.slice(0, MAX_SKIPPED).map(({ text }) => text);
  return rest > 0 ? [...shown, `and for ${rest} more reasons; --json has all`] : shown;
}

/** Findings of one look that another did not have, and the other way round. */
export function findingChanges(before: Report, after: Report): readonly HistoryLine[] {
  const lines = (change: HistoryLine['change'], some: Report, others: Report): readonly HistoryLine[] => {
    const missing = some.findings.filter(
      ({ check, subject }) => !others.findings.some((one) => one.check === check && one.subject === subject),
    );
    return missing.map(({ check, severity, subject, evidence }) => {
      return { atMs: after.atMs, change, check, severity, subject, evidence };
    });
  };
  return [...lines('raised', after, before), ...lines('cleared', before, after)];
}

export function changeText(line: HistoryLine): string {
  return `${utcText(line.atMs)} ${historyText(line)}`;
}

/** Every check with its rule. */
export function listText(checks: readonly Check[]): string {
  return checks
    .map((check) => {
      const { id, severity, title, raises, minimum, source } = check;
      const when = isCheap(check) ? 'at intervals and in an examination' : 'in an examination';
      return [
        `${id}  ${severityOf(severity).word}: ${title}`,
        `  fires at: ${raises}`,
        `  needs at least: ${minimum}; made ${when}`,
        `  source: ${source}`,
      ].join('\n');
    })
    .join('\n');
}

export function enabledText({ name, nodes }: Enabled): string {
  return [
    `${name}:`,
    ...nodes.map(({ node, commands, refused }) =>
      refused === undefined ? `  ${node}: ${commands.join('; ')}` : `  ${node}: refused: ${refused}`,
    ),
  ].join('\n');
}
