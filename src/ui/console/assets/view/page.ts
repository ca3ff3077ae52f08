import type { DrillSummary } from '../../../../operations/drills/drills.ts';
import type { Journal } from '../../../../operations/drills/journal.ts';
import { drillVerdictWord, endingText, stateText } from '../../../../operations/drills/view.ts';
import type { DomainLook } from '../../../../operations/operations.ts';
import { shadowVerdict } from '../../../../operations/shadow/view.ts';
import { facts } from '../../../../report/components.ts';
import {
  amountText,
  countText,
  durationText,
  percentText,
  plural,
  stopwatchText,
  UNKNOWN,
} from '../../../../report/format.ts';
import { type Child, h, type Tree } from '../../../../report/tree.ts';
import {
  consoleHref,
  currentDomain,
  graveFindings,
  isHalted,
  isStale,
  type Model,
  runningDrills,
  type StreamState,
  shadowSummary,
  type View,
} from '../model.ts';
import { auditView, changesView } from './changes.ts';
import { actionButton, ago, badge, clockTime, errorBoundary, quietButton, stateBadge } from './components.ts';
import { doctorView } from './doctor.ts';
import { domainView, popularView } from './domain.ts';
import { drillsView } from './drills.ts';
import { shadowView } from './shadow.ts';

/** The frame of the console: the whole page, the title of its tab, and the announcements for screen readers. */

const VIEWS: Readonly<Record<View, readonly [title: string, draw: (model: Model) => Child]>> = {
  live: ['Live', domainView],
  drills: ['Drills', drillsView],
  shadow: ['Shadow', shadowView],
  doctor: ['Doctor', doctorView],
  changes: ['Changes', changesView],
  popular: ['Popular', popularView],
  audit: ['Audit', auditView],
};

export function consoleView(model: Model): readonly Tree[] {
  return [
    errorBoundary(() => headerView(model)),
    errorBoundary(() => bannersView(model)),
    errorBoundary(() => drillStripView(model)),
    h('div', { class: `overview ${isStale(model) ? 'stale' : ''}`, 'data-key': 'overview' })(
      errorBoundary(() => cardsView(model)),
      errorBoundary(() => viewsView(model)),
    ),
    h('main', { id: 'main', tabindex: '-1', class: isStale(model) ? 'stale' : '', 'data-key': 'main' })(
      h('div', { class: 'view', 'data-key': `view-${model.address.view}` })(
        errorBoundary(() => VIEWS[model.address.view][1](model)),
      ),
    ),
  ];
}

/** The title of the browser's tab, with the most urgent states before the name. */
export function tabTitle(model: Model) {
  const domains = model.live?.domains ?? [];
  const bad = domains.filter(({ status }) => status.state === 'down').map(({ domain }) => domain);
  const { critical } = graveFindings(model);
  const signs = [
    isStale(model) ? 'no connection' : '',
    bad.length > 0 ? `down: ${bad.join(', ')}` : '',
    domains.some(({ control }) => control.halted) ? 'halted' : '',
    critical > 0 ? plural(critical, 'critical finding') : '',
    runningDrills(model).length > 0 ? 'drill' : '',
  ].filter((sign) => sign !== '');
  return [...signs, 'serpcache operations'].join(' · ');
}

/** The state in sentences, by subject, for screen readers. Figures are left out: they change every second. */
export function announcementsOf(model: Model): ReadonlyMap<string, string> {
  const { live, connection, feeds } = model;
  const facts: Map<string, string> = new Map();
  if (live === undefined && connection.kind !== 'lost') return facts;
  facts.set('connection', connection.kind === 'lost' || isStale(model) ? 'Connection lost.' : 'Connected.');
  if (live === undefined) return facts;
  facts.set('halt', isHalted(model) ? 'Drills are halted.' : 'Drills are not halted.');
  for (const { domain, status, control } of live.domains) {
    const { shadow, placement } = control;
    facts.set(
      `shadow ${domain}`,
      shadow === undefined ? `${domain} has no shadow.` : `The shadow of ${domain} goes to ${shadow.candidate}.`,
    );
    if (placement !== undefined)
      facts.set(`store ${domain}`, `The store of ${domain} is ${placement.active}: ${placement.phase}.`);
    facts.set(`state ${domain}`, `${domain} is ${status.state}.`);
    facts.set(`breaker ${domain}`, `The engine breaker of ${domain} is ${status.engine.breaker}.`);
  }
  for (const { id, title, domains, ending } of live.drills) {
    const state = ending === undefined ? ` runs on ${domains.join(', ')}` : `: ${endingText(ending)}`;
    facts.set(`drill ${id}`, `The drill ${title}${state}.`);
  }
  if (feeds.doctor?.value !== undefined)
    facts.set('doctor', `The doctor has ${plural(graveFindings(model).all, 'finding')} above info.`);
  const status = feeds.shadowStatus?.value;
  if (status?.verdict !== undefined)
    facts.set(
      'shadow verdict',
      `The verdict on the candidate of ${status.domain}: ${shadowVerdict(status.verdict.kind).word}.`,
    );
  const journal = feeds.journal?.value;
  if (journal !== undefined) {
    if (journal.state.kind === 'running')
      facts.set('stage', `Stage ${journal.state.stage + 1}, ${journal.state.phase}.`);
    for (const guard of journal.samples.at(-1)?.guards ?? []) {
      if (guard.broken) facts.set(`guard ${guard.figure}`, `The guard ${guard.figure} is broken.`);
    }
    if (journal.verdict !== undefined)
      facts.set('verdict', `${drillVerdictWord(journal.verdict.kind)}: ${journal.verdict.detail}`);
  }
  return facts;
}

/** The sentences that have changed between two drawings, and the drills that have ended. None at the first drawing. */
export function announcedChanges(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  if (before.size === 0) return [];
  const changed = [...now].filter(([subject, text]) => before.get(subject) !== text).map(([, text]) => text);
  const ended = [...before.keys()]
    .filter((subject) => subject.startsWith('drill ') && !now.has(subject))
    .map((subject) => `${subject} has ended.`);
  return [...changed, ...ended];
}

/** The running drills, shown above every view. */
export function drillStripView(model: Model) {
  const domain = currentDomain(model)?.domain ?? '';
  return h('div', { class: 'strips', 'data-key': 'strips' })(
    (model.live?.drills ?? []).map((drill) => {
      const journal = model.watched === drill.id ? model.feeds.journal?.value : undefined;
      return h('div', { class: 'row strip', 'data-key': `strip-${drill.id}` })(
        h('b')('Drill'),
        h('span')(drill.title, ' on ', drill.domains.join(', ')),
        h('span', { class: 'grow' })(stripState(drill, journal)),
        h('span', { class: 'clock' })(
          stopwatchText(model.live === undefined ? undefined : model.live.atMs - drill.startedAtMs),
        ),
        h('a', {
          href: consoleHref(drill.domains[0] ?? domain, 'drills'),
          'data-action': 'watch',
          'data-id': drill.id,
        })('Watch'),
      );
    }),
  );
}

/** A card with the key figures of each domain. The rest of the page is about the current one. */
function cardsView(model: Model) {
  const current = currentDomain(model)?.domain;
  return h('nav', { class: 'cards', 'aria-label': 'Domains', 'data-key': 'cards' })(
    (model.live?.domains ?? []).map((look) => cardView(model, look, look.domain === current)),
  );
}

function cardView(model: Model, { domain, status, figures, control }: DomainLook, isCurrent: boolean) {
  const { engine } = status;
  const { view } = model.address;
  const hasView = view !== 'shadow' || shadowSummary(model, domain) !== undefined;
  return h('a', {
    class: 'card',
    href: consoleHref(domain, hasView ? view : 'live'),
    'aria-current': isCurrent && 'true',
    'data-key': `card-${domain}`,
  })(
    h('span', { class: 'card-head' })(
      h('strong')(domain),
      stateBadge(status.state),
      engine.breaker !== 'closed' && badge('bad', engine.forcedOpen ? 'blackout' : `breaker ${engine.breaker}`),
      engine.overloaded && badge('warn', 'overloaded'),
      control.halted && badge('bad', 'halted'),
      control.drill !== undefined && badge('warn', `drill ${percentText(control.drill.flushed)}`),
      control.shadow !== undefined && badge('none', `shadow ${percentText(control.shadow.fraction)}`),
      control.placement?.other !== undefined && badge('warn', 'cut-over'),
    ),
    facts(
      [
        ['hit ratio', percentText(figures?.hitRatio)],
        ['searches/s', amountText(figures?.searchesPerSecond)],
        ['p99', durationText(figures?.p99Ms)],
        ['in flight', `${countText(engine.inFlight)}/${countText(engine.maxConcurrent)}`],
      ],
      'key-figures',
    ),
  );
}

function viewsView(model: Model) {
  const domain = currentDomain(model)?.domain ?? model.address.domain ?? '';
  const hasShadow = model.address.view === 'shadow' || shadowSummary(model, domain) !== undefined;
  const shown = Object.entries(VIEWS).filter(([view]) => view !== 'shadow' || hasShadow);
  return h('nav', { class: 'views tabs', 'aria-label': 'Views', 'data-key': 'views' })(
    shown.map(([view, [title]]) =>
      h('a', {
        href: consoleHref(domain, view as View),
        'aria-current': view === model.address.view && 'page',
      })(title, view === 'doctor' && findingsBadge(model)),
    ),
  );
}

function findingsBadge(model: Model) {
  const { critical, all } = graveFindings(model);
  if (all === 0) return undefined;
  const hidden = h('span', { class: 'visually-hidden' })(all === 1 ? ' finding' : ' findings');
  return [' ', badge(critical > 0 ? 'bad' : 'warn', countText(all), hidden)];
}

/** The state of a drill in the strip. A live line may report the end of a drill before the journal is read again. */
function stripState({ ending }: DrillSummary, journal: Journal | undefined) {
  if (ending !== undefined) return endingText(ending);
  return journal === undefined ? 'running' : stateText(journal);
}

/** The parts above every view: the bar and the banners. */

/** The bar that is always on the screen: the state of the connection, and the buttons that stop every drill. */
function headerView(model: Model) {
  const running = runningDrills(model);
  const halted = isHalted(model);
  const abortLabel = running.length > 1 ? `Abort ${running.length} drills` : 'Abort drill';
  return h('header', { class: 'row top', 'data-key': 'header' })(
    h('a', { class: 'skip', href: '#main', 'data-action': 'skip' })('To the figures'),
    h('span', { class: 'brand' })(h('b')('serp'), 'cache', h('span', { class: 'soft' })(' operations')),
    connectionView(model),
    h('div', { class: 'toolbar' })(
      actionButton(
        model,
        'abort',
        // When no drill runs, the button is disabled and not removed: it stays where operators look for it.
        { class: 'danger abort', 'aria-disabled': running.length === 0 && 'true' },
        abortLabel,
      ),
      halted === true
        ? actionButton(model, 'lift', { class: 'quiet halt', 'data-key': 'lift' }, 'Lift halt')
        : actionButton(model, 'halt', { class: 'quiet halt', 'data-key': 'halt' }, 'Halt all'),
      model.hasToken ? quietButton('forget-token', 'Forget token') : quietButton('give-token', 'Token'),
    ),
    halted === true && haltedView(model),
  );
}

/** Messages above the view, the most urgent first. */
function bannersView(model: Model) {
  const { connection, live, nowMs } = model;
  const feedback = model.feedback['header'];
  return h('div', { class: 'banners', 'data-key': 'banners' })(
    connection.kind === 'lost' &&
      h('div', { class: 'row between banner bad', 'data-key': 'lost' })(
        h('p')(
          h('b')(connection.wasLive ? 'Connection lost. ' : 'No connection. '),
          connection.why,
          ' ',
          staleNote(model),
        ),
        quietButton('retry', `Try now (${countText(retrySeconds(connection, nowMs))} s)`),
      ),
    model.readOnly &&
      h('div', { class: 'row between banner', 'data-key': 'read-only' })(
        h('p')(h('b')('Read only. '), 'The service refuses every change until it is started with ADMIN_TOKEN set.'),
      ),
    feedback !== undefined &&
      h('div', {
        class: `row between banner ${feedback.kind === 'refused' ? 'bad' : ''}`,
        'data-key': 'feedback',
        role: 'status',
      })(h('p')(feedback.text), quietButton('dismiss', 'Close')),
    live === undefined &&
      connection.kind === 'connecting' &&
      h('p', { class: 'soft', 'data-key': 'first' })('Waiting for the first figures…'),
  );
}

/** Why no drill may run. It stands in the bar, so that it is seen on every view while the halt lasts. */
function haltedView({ feeds }: Model) {
  const [halt] = feeds.halt?.value?.domains ?? [];
  return h('div', { class: 'row between banner bad halted', 'data-key': 'halted' })(
    h('p')(
      h('b')('Halted: no drill may run or start. '),
      halt === undefined ? 'Why is not known yet.' : `${halt.by}, ${clockTime(halt.atMs)}: ${halt.reason}`,
    ),
  );
}

function connectionView(model: Model) {
  const { connection, receivedMs, nowMs, live } = model;
  const age = receivedMs === undefined ? undefined : nowMs - receivedMs;
  if (connection.kind === 'live' && !isStale(model)) {
    return h('span', { class: 'link on' })('live · ', h('span', { class: 'age' })(ago(age)));
  }
  if (connection.kind === 'lost') {
    const state = connection.wasLive ? 'connection lost' : 'no connection';
    return h('span', { class: 'link lost' })(state, ` · ${retrySeconds(connection, nowMs)} s`);
  }
  return h('span', { class: `link ${live === undefined ? '' : 'lost'}` })(
    live === undefined ? 'connecting…' : `silent · ${ago(age)}`,
  );
}

function retrySeconds({ retryAtMs }: Extract<StreamState, { kind: 'lost' }>, nowMs: number) {
  return Math.max(0, Math.ceil((retryAtMs - nowMs) / 1000));
}

function staleNote({ live, receivedMs, nowMs }: Model) {
  if (live === undefined || receivedMs === undefined) return `Nothing is known: every figure is ${UNKNOWN}.`;
  return `What is shown is of ${clockTime(live.atMs)}, ${ago(nowMs - receivedMs)}.`;
}
