import type { ShadowFigures } from '../../../../operations/shadow/figures.ts';
import type { ShadowStatus, ShadowSummary } from '../../../../operations/shadow/shadow.ts';
import {
  AGREEMENT_ROWS,
  COPY_ROWS,
  criterionName,
  metOf,
  SIDE_ROWS,
  shadowVerdict,
} from '../../../../operations/shadow/view.ts';
import { facts, withTooltip } from '../../../../report/components.ts';
import { countText, durationText, percentText, plural, UNKNOWN } from '../../../../report/format.ts';
import { type Child, h } from '../../../../report/tree.ts';
import { currentDomain, type Model, shadowSummary } from '../model.ts';
import {
  actionButton,
  alertView,
  badge,
  dayTime,
  feedbackView,
  feedView,
  listTable,
  panel,
  quietButton,
  scrollTable,
  softView,
} from './components.ts';

/** The view of a domain's stores: the shadow, the verdict on the candidate, the cut-over, and the kept reports. */

/** The service's own choice of the time that a verdict covers. */
const VERDICT_SECONDS = 600;
const VERDICT_TIMES = [
  [60, '1 min'],
  [VERDICT_SECONDS, '10 min'],
  [3600, '1 h'],
  [21_600, '6 h'],
] as const;

export function shadowView(model: Model) {
  const domain = currentDomain(model)?.domain;
  if (domain === undefined) return softView('No figures yet.');
  const summary = shadowSummary(model, domain);
  return h('div', { class: 'shadow', 'data-key': `shadow-${domain}` })(
    feedView(model, model.feeds.shadows, () =>
      summary === undefined
        ? softView(`${domain} has no candidate store.`)
        : feedView(model, model.feeds.shadowStatus, (status) => [
            storesPanel(model, status),
            status.shadow !== undefined && [verdictPanel(model, status), curvesPanel(model, status.shadow)],
            status.shadow !== undefined && status.figures !== undefined && shadowFiguresView(status, status.figures),
          ]),
    ),
    summary !== undefined && reportsPanel(model, domain),
  );
}

/**
 * The stores that may be the candidate of a new shadow. After a cut-over the store of the configuration is one of
 * them.
 */
export function startableStores({ candidates, configured, active }: ShadowSummary) {
  return [...candidates, configured].filter(({ fingerprint }) => fingerprint !== active.fingerprint);
}

function storesPanel(model: Model, status: ShadowStatus) {
  const { domain, active, configured, candidates, shadow, placement, warning, paused, processes } = status;
  const behind = processes.filter(({ state }) => state === 'behind');
  return panel(
    'stores',
    `Stores of ${domain}`,
    warning !== undefined && alertView(warning),
    behind.map(({ id, problem }) =>
      h('p', { class: 'notice', role: 'alert' })(
        h('b')(`Process ${id} is behind`),
        problem === undefined ? '.' : `: ${problem}`,
      ),
    ),
    facts([
      ['store in use', badge('good', active.name)],
      configured.fingerprint !== active.fingerprint && ['configured', badge('warn', configured.name)],
      ['candidates', candidates.length === 0 ? 'none' : candidates.map(({ name }) => name).join(', ')],
      placement !== undefined && ['cut-over', ...placementText(placement)],
      ...shadowFacts(shadow, paused),
      [
        'processes',
        `${countText(processes.length)} live, `,
        behind.length === 0 ? 'all of them follow' : `${countText(behind.length)} behind`,
      ],
    ]),
    h('div', { class: 'row' })(storeButtons(model, status)),
    feedbackView(model, 'shadow'),
    status.configuration !== undefined && [
      h('p')('Change the configuration files of every process:'),
      h('pre')(status.configuration),
    ],
  );
}

function placementText({ phase, active, other, by, atMs }: NonNullable<ShadowStatus['placement']>): readonly Child[] {
  const old = other?.name ?? 'the other store';
  const meanings = {
    prepared: `${active.name} is read; ${old} is written too, until every process has agreed`,
    committed: `${active.name} is read first, ${old} where it has no page; both are written`,
    settled: `${active.name} alone is used`,
  };
  return [
    badge(phase === 'settled' ? 'good' : 'warn', phase),
    ` ${meanings[phase] ?? ''}`,
    h('small')(` ${by}, ${dayTime(atMs)}`),
  ];
}

function shadowFacts(shadow: ShadowStatus['shadow'], paused: boolean): Parameters<typeof facts>[0] {
  if (shadow === undefined) return [['shadow', 'none']];
  const { candidate, fraction, reads, by, atMs, untilMs } = shadow;
  return [
    [
      'shadow',
      `${percentText(fraction)} of the keys to ${candidate.name}, ${plural(reads, 'copy', 'copies')} of each read`,
      paused && badge('warn', 'paused: the event loop is late'),
    ],
    ['began', dayTime(atMs), h('small')(` ${by}`)],
    ['ends', dayTime(untilMs)],
  ];
}

/** The actions that the present state allows. */
function storeButtons(model: Model, status: ShadowStatus) {
  const { shadow, placement, active, configured } = status;
  const other = placement?.other?.name ?? 'the old store';
  const button = (action: string, className: string, label: string) =>
    actionButton(model, action, { class: className, 'data-key': `${action}-${label}` }, label);
  if (placement?.phase === 'prepared') return button('shadow-stop', 'danger', 'Cancel the cut-over…');
  if (placement?.phase === 'committed') {
    return [button('cut-over-back', '', `Back to ${other}…`), button('shadow-stop', 'quiet', `Stop using ${other}…`)];
  }
  if (shadow !== undefined) {
    return [
      button('cut-over', 'danger', `Cut over to ${shadow.candidate.name}…`),
      button('shadow-change', 'quiet', 'Change…'),
      button('shadow-stop', 'quiet', 'Stop…'),
    ];
  }
  return [
    startableStores(status).length > 0 && button('shadow-start', '', 'Start a shadow…'),
    // It is refused while a configuration still names another store.
    placement !== undefined &&
      configured.fingerprint === active.fingerprint &&
      button('shadow-stop', 'quiet', 'Forget the cut-over…'),
  ];
}

function verdictPanel(model: Model, { verdict }: ShadowStatus) {
  const chosen = model.verdictSeconds ?? VERDICT_SECONDS;
  return panel(
    'verdict',
    'Verdict',
    verdict === undefined
      ? softView('This process has recorded nothing yet.')
      : [
          h('p', { class: 'phase' })(badge(shadowVerdict(verdict.kind).tone, shadowVerdict(verdict.kind).word)),
          h('p')(verdict.why),
          h('ul', { class: 'criteria' })(
            verdict.criteria.map(({ name, what, met }) =>
              h('li', { 'data-key': `criterion-${name}` })(
                h('span', { class: `met ${metOf(met).tone}`, 'aria-hidden': 'true' })(metOf(met).sign),
                h('span')(h('b')(criterionName(name)), ` ${metOf(met).word}`, h('small')(what)),
              ),
            ),
          ),
        ],
    h('div', { class: 'row', role: 'group', 'aria-label': 'Time that the verdict covers' })(
      h('span', { class: 'soft' })('Over the last'),
      VERDICT_TIMES.map(([seconds, name]) =>
        quietButton('verdict-time', name, { 'data-id': seconds, 'aria-pressed': String(seconds === chosen) }),
      ),
    ),
  );
}

function curvesPanel({ feeds }: Model, { id }: NonNullable<ShadowStatus['shadow']>) {
  return panel(
    'curves',
    'Both sides since the start of the shadow',
    feeds.curves?.problem !== undefined && alertView(feeds.curves.problem.message, ' The curves may be old.'),
    h('div', { class: 'plots', 'data-own': true, 'data-key': `shadow-plots-${id}`, 'data-shadow-plots': id })(),
  );
}

function reportsPanel(model: Model, domain: string) {
  return panel(
    'shadow-reports',
    'Reports of ended shadows',
    feedView(model, model.feeds.shadowReports, ({ reports }) => {
      const own = reports.filter((report) => report.domain === domain);
      return listTable(
        'None yet.',
        'Reports, newest first',
        ['began', 'stores', 'verdict', 'ended', ''],
        own.map(({ id, primary, candidate, startedAtMs, endedAtMs, ended, verdict }) => [
          dayTime(startedAtMs),
          `${primary.name} → ${candidate.name}`,
          [badge(shadowVerdict(verdict.kind).tone, shadowVerdict(verdict.kind).word), h('small')(verdict.why)],
          [`after ${durationText(endedAtMs - startedAtMs)}`, h('small')(ended)],
          quietButton('shadow-report', 'Report', { 'data-id': id, 'aria-label': `Report of ${id}` }),
        ]),
      );
    }),
    feedbackView(model, 'shadow-reports'),
  );
}

/** The figures of a shadow as tables: both sides, the agreement of their values, and the copies. */

function shadowFiguresView({ active, shadow, wrongKeys }: ShadowStatus, figures: ShadowFigures) {
  const { primary, candidate, agreement, seconds, processes } = figures;
  return [
    panel(
      'sides',
      'Side by side',
      softView(
        `Over ${durationText(seconds * 1000)} in ${plural(processes, 'process', 'processes')}, the same sampled keys on both sides. Figures of the servers include what others ask of them.`,
      ),
      scrollTable(
        'Figures of both sides',
        ['figure', sideHead('store', 'primary', active.name), sideHead('engine', 'candidate', shadow?.candidate.name)],
        SIDE_ROWS.map(({ name, text }) => [name, text(primary), text(candidate)]),
      ),
      faultsView('primary', primary),
      faultsView('candidate', candidate),
    ),
    panel(
      'agreement',
      'Agreement of the values',
      scrollTable(
        `Values of ${countText(agreement.compared)} reads that both sides answered`,
        ['result', 'reads', 'share'],
        AGREEMENT_ROWS.map(([name, meaning]) => [
          withTooltip(name, meaning),
          name === 'wrong' && agreement.wrong > 0
            ? badge('bad', countText(agreement.wrong))
            : countText(agreement[name]),
          percentText(agreement.compared > 0 ? agreement[name] / agreement.compared : undefined),
        ]),
      ),
      softView(
        agreement.lifeSamples > 0
          ? `Remaining lives differ by ${durationText(agreement.lifeDriftMs)} on average, by ${durationText(agreement.lifeDriftMaxMs)} at most.`
          : 'No remaining lives were compared.',
      ),
      wrongKeysView(wrongKeys),
      h('h3')('Copies'),
      scrollTable(
        'Copies of reads and writes',
        COPY_ROWS.map(([name, meaning]) => withTooltip(name, meaning)),
        [COPY_ROWS.map(([name]) => countText(figures.copying[name]))],
      ),
    ),
  ];
}

/** The colour of the curves, the side, and the name of its store. */
function sideHead(colour: 'store' | 'engine', side: string, name: string | undefined) {
  const isDashed = side === 'primary';
  return [h('i', { class: `swatch ${colour} ${isDashed ? 'dashed' : ''}` })(), `${side}: ${name ?? UNKNOWN}`];
}

function faultsView(side: string, { errors }: ShadowFigures['primary']) {
  const some = Object.entries(errors).filter(([, count]) => count > 0);
  return (
    some.length > 0 &&
    h('p')(`Errors of the ${side}: ${some.map(([fault, count]) => `${countText(count)} ${fault}`).join(', ')}.`)
  );
}

function wrongKeysView(keys: readonly string[]) {
  if (keys.length === 0) return undefined;
  return [
    h('h3')('Keys with wrong values'),
    h('ul', { class: 'ids' })(keys.map((key) => h('li', { class: 'row' })(h('code')(key)))),
  ];
}
