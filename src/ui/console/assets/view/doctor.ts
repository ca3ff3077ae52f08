import type { Report as DoctorReport, Finding, HistoryLine, Standing } from '../../../../operations/doctor/report.ts';
import {
  aboveInfo,
  acceptedText,
  countsOf,
  coverageText,
  lookedLines,
  seenText,
  severityOf,
  skippedViews,
  unseenText,
} from '../../../../operations/doctor/view.ts';
import { bullets, capitalized } from '../../../../report/components.ts';
import { countText, plural } from '../../../../report/format.ts';
import { type Child, h } from '../../../../report/tree.ts';
import type { Model } from '../model.ts';
import { badge, dayTime, errorBoundary, feedbackView, feedView, listTable, panel, softView } from './components.ts';

/**
 * The view of the doctor: an examination at the operator's request, the findings that the checks inside the service
 * have now, and when each began and ended.
 */

/** The service keeps 500 lines. */
const MAX_LINES = 100;

export function doctorView(model: Model) {
  return h('div', { class: 'doctor', 'data-key': 'doctor' })(
    examinationPanel(model),
    feedView(model, model.feeds.doctor, ({ standing, history }) => [
      standingPanel(standing, model.examination !== undefined),
      historyPanel(history),
    ]),
  );
}

function examinationPanel(model: Model) {
  const isBusy = model.busy.includes('examine');
  const report = model.examination?.report;
  return panel(
    'examination',
    'Examination',
    h('div', { class: 'row' })(
      h('button', { type: 'button', 'data-action': 'examine', 'aria-disabled': isBusy && 'true' })(
        isBusy ? 'Examining…' : 'Examine now',
      ),
      isBusy && h('progress', { 'aria-label': 'Examination in progress' })(),
      h('span', { class: 'soft' })(
        'Makes every check of stores, engines, this host and serpcache itself, in about four seconds. It changes nothing.',
      ),
    ),
    feedbackView(model, 'examine'),
    report !== undefined && errorBoundary(() => reportView(report)),
  );
}

/** The findings first, most severe first, then everything that they leave out. */
function reportView(report: DoctorReport) {
  const { findings, acknowledged, remarks, looked, skipped, atMs } = report;
  const unseen = unseenText(looked);
  const skips = skippedViews(skipped);
  return [
    summaryView(findings, acknowledged, atMs),
    remarks.map((remark) => h('p', { class: 'notice', role: 'alert' })(remark)),
    cardsOf('report', findings),
    acknowledgedView('report', acknowledged),
    skips.length > 0 &&
      collapsed(
        'skipped',
        `${plural(new Set(skipped.map(({ check }) => check)).size, 'check')} skipped`,
        bullets(skips.map(({ text }) => text)),
      ),
    collapsed('looked', 'What was looked at', bullets(lookedLines(looked))),
    unseen !== undefined && h('p', { class: 'notice' })(capitalized(unseen)),
    softView(coverageText(report)),
  ];
}

/** @param isExamined A report is shown, which has the same findings: the cards are collapsed. */
function standingPanel(standing: Standing | undefined, isExamined: boolean) {
  return panel(
    'standing',
    'Checks inside the service',
    standing === undefined
      ? softView('None yet: the first two looks have not ended, or doctor.interval is 0s.')
      : [
          summaryView(standing.findings, standing.acknowledged, standing.atMs),
          isExamined
            ? standing.findings.length > 0 &&
              collapsed('standing-cards', 'Show them', cardsOf('now', standing.findings))
            : cardsOf('now', standing.findings),
          acknowledgedView('now', standing.acknowledged),
        ],
  );
}

/** @param history Oldest first. */
function historyPanel(history: readonly HistoryLine[]) {
  return panel(
    'doctor-history',
    'Raised and cleared',
    listTable(
      'Nothing since this process started.',
      'Changes of the findings, newest first',
      ['time', '', 'finding', 'subject', 'evidence'],
      history
        .slice(-MAX_LINES)
        .toReversed()
        .map(({ atMs, change, check, severity, subject, evidence }) => [
          dayTime(atMs),
          change,
          [badge(severityOf(severity).tone, severityOf(severity).word), ' ', check],
          subject,
          evidence,
        ]),
    ),
  );
}

/** Counts by severity, and when they were taken. */
function summaryView(findings: readonly Finding[], acknowledged: readonly Finding[], atMs: number) {
  return h('p', { class: 'row' })(
    aboveInfo(findings).length === 0 && badge('good', 'healthy'),
    countsOf(findings).map(({ severity, text }) => badge(severityOf(severity).tone, text)),
    acknowledged.length > 0 && badge('none', `${countText(acknowledged.length)} acknowledged`),
    h('small')(dayTime(atMs)),
  );
}

/** @param place Two lists on the page may hold the same finding. */
function cardsOf(place: string, findings: readonly Finding[]) {
  return findings.map((finding) => errorBoundary(() => findingView(place, finding)));
}

function findingView(place: string, finding: Finding) {
  const { check, subject, severity, title, evidence, why, advice, source, sinceMs, acknowledged } = finding;
  const { word, tone } = severityOf(severity);
  return h('article', { class: `finding ${tone}`, 'data-key': `${place}-${check}-${subject}` })(
    h('h3')(badge(tone, word), ' ', title),
    softView(subject, ' · ', h('code')(check), ` · since ${dayTime(sinceMs)}`),
    h('p')(evidence),
    h('p')(why),
    advice.map((line) => h('pre')(line)),
    acknowledged !== undefined && h('p')(acceptedText(acknowledged)),
    h('small')(capitalized(seenText(finding)), '. Source: ', source),
  );
}

function acknowledgedView(place: string, findings: readonly Finding[]) {
  if (findings.length === 0) return undefined;
  return collapsed(
    `acknowledged-${place}`,
    `${plural(findings.length, 'finding')} acknowledged`,
    cardsOf(`accepted-${place}`, findings),
  );
}

function collapsed(key: string, title: string, ...content: Child[]) {
  return h('details', { 'data-key': key })(h('summary')(title), ...content);
}
