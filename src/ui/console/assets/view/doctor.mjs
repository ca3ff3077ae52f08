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
} from '../../../../operations/doctor/view.mjs';
import { countText } from '../../../../report/format.mjs';
import { h } from '../../../shared/tree.mjs';
import { badge, errorBoundary, feedbackView, feedView, panel, table } from './components.mjs';
import { capitalized, counted, dayTime } from './format.mjs';

/**
 * The view of the doctor: an examination at the operator's request, the findings that the checks inside the service have
 * now, and when each began and ended.
 * @typedef {import('../model.mjs').Model} Model
 * @typedef {import('../api.mjs').DoctorReport} DoctorReport
 * @typedef {import('../api.mjs').Finding} Finding
 * @typedef {import('../api.mjs').HistoryLine} HistoryLine
 * @typedef {import('../api.mjs').Standing} Standing
 * @typedef {import('./components.mjs').Child} Child
 */

/** The service keeps 500 lines. */
const MAX_LINES = 100;

/** @param {Model} model */
export function doctorView(model) {
  return h(
    'div',
    { class: 'doctor', 'data-key': 'doctor' },
    examinationPanel(model),
    feedView(model, model.feeds.doctor, ({ standing, history }) => [
      standingPanel(standing, model.examination !== undefined),
      historyPanel(history),
    ]),
  );
}

/** @param {Model} model */
function examinationPanel(model) {
  const isBusy = model.busy.includes('examine');
  const report = model.examination?.report;
  return panel(
    'examination',
    'Examination',
    h(
      'div',
      { class: 'row' },
      h(
        'button',
        { type: 'button', 'data-action': 'examine', 'aria-disabled': isBusy && 'true' },
        isBusy ? 'Examining…' : 'Examine now',
      ),
      isBusy && h('progress', { 'aria-label': 'Examination in progress' }),
      h(
        'span',
        { class: 'soft' },
        'Makes every check of stores, engines, this host and serpcache itself, in about four seconds. It changes nothing.',
      ),
    ),
    feedbackView(model, 'examine'),
    report !== undefined && errorBoundary(() => reportView(report)),
  );
}

/**
 * The findings first, most severe first, then everything that they leave out.
 * @param {DoctorReport} report
 */
function reportView(report) {
  const { findings, acknowledged, remarks, looked, skipped, atMs } = report;
  const unseen = unseenText(looked);
  const skips = skippedViews(skipped);
  return [
    summaryView(findings, acknowledged, atMs),
    remarks.map((remark) => h('p', { class: 'notice', role: 'alert' }, remark)),
    cardsOf('report', findings),
    acknowledgedView('report', acknowledged),
    skips.length > 0 &&
      collapsed(
        'skipped',
        `${counted(new Set(skipped.map(({ check }) => check)).size, 'check')} skipped`,
        linesView(skips.map(({ text }) => text)),
      ),
    collapsed('looked', 'What was looked at', linesView(lookedLines(looked))),
    unseen !== undefined && h('p', { class: 'notice' }, capitalized(unseen)),
    h('p', { class: 'soft' }, coverageText(report)),
  ];
}

/**
 * @param {Standing | undefined} standing
 * @param {boolean} isExamined A report is shown, which has the same findings: the cards are collapsed.
 */
function standingPanel(standing, isExamined) {
  return panel(
    'standing',
    'Checks inside the service',
    standing === undefined
      ? h('p', { class: 'soft' }, 'None yet: the first two looks have not ended, or doctor.interval is 0s.')
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

/** @param {readonly HistoryLine[]} history Oldest first. */
function historyPanel(history) {
  return panel(
    'doctor-history',
    'Raised and cleared',
    history.length === 0
      ? h('p', { class: 'soft' }, 'Nothing since this process started.')
      : table(
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
          'wide',
        ),
  );
}

/**
 * Counts by severity, and when they were taken.
 * @param {readonly Finding[]} findings
 * @param {readonly Finding[]} acknowledged
 * @param {number} atMs
 */
function summaryView(findings, acknowledged, atMs) {
  return h(
    'p',
    { class: 'row' },
    aboveInfo(findings).length === 0 && badge('good', 'healthy'),
    countsOf(findings).map(({ severity, text }) => badge(severityOf(severity).tone, text)),
    acknowledged.length > 0 && badge('none', `${countText(acknowledged.length)} acknowledged`),
    h('small', {}, dayTime(atMs)),
  );
}

/**
 * @param {string} place Two lists on the page may hold the same finding.
 * @param {readonly Finding[]} findings
 */
function cardsOf(place, findings) {
  return findings.map((finding) => errorBoundary(() => findingView(place, finding)));
}

/**
 * @param {string} place
 * @param {Finding} finding
 */
function findingView(place, finding) {
  const { check, subject, severity, title, evidence, why, advice, source, sinceMs, acknowledged } = finding;
  const { word, tone } = severityOf(severity);
  return h(
    'article',
    { class: `finding ${tone}`, 'data-key': `${place}-${check}-${subject}` },
    h('h3', {}, badge(tone, word), ' ', title),
    h('p', { class: 'soft' }, subject, ' · ', h('code', {}, check), ` · since ${dayTime(sinceMs)}`),
    h('p', {}, evidence),
    h('p', {}, why),
    advice.map((line) => h('pre', {}, line)),
    acknowledged !== undefined && h('p', {}, acceptedText(acknowledged)),
    h('small', {}, capitalized(seenText(finding)), '. Source: ', source),
  );
}

/**
 * @param {string} place
 * @param {readonly Finding[]} findings
 */
function acknowledgedView(place, findings) {
  if (findings.length === 0) return undefined;
  return collapsed(
    `acknowledged-${place}`,
    `${counted(findings.length, 'finding')} acknowledged`,
    cardsOf(`accepted-${place}`, findings),
  );
}

/**
 * @param {string} key
 * @param {string} title
 * @param {...Child} content
 */
function collapsed(key, title, ...content) {
  return h('details', { 'data-key': key }, h('summary', {}, title), ...content);
}

/** @param {readonly string[]} lines */
function linesView(lines) {
  return h(
    'ul',
    { class: 'plain' },
    lines.map((line) => h('li', {}, line)),
  );
}
