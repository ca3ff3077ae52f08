import { patch } from '../../shared/patch.ts';
import { type ActionContext, type ActionRequest, DOCTOR_ACTIONS, perform } from './actions.ts';
import { createApi, createCredentialStore } from './api.ts';
import { CHANGE_ACTIONS, HALT_ACTIONS } from './change-actions.ts';
import { cohortCharts, createHistory, liveCharts, shadowCharts } from './chart-groups.ts';
import { createCharts } from './charts.ts';
import { askCredentials } from './dialogs.ts';
import { DRILL_ACTIONS } from './drill-actions.ts';
import { createFeeds, feedsFor, followLive } from './feeds.ts';
import { consoleAddress, currentDomain, type Model, runningDrills } from './model.ts';
import { SHADOW_ACTIONS } from './shadow-actions.ts';
import { announcedChanges, announcementsOf, consoleView, tabTitle } from './view/page.ts';

/** The entry of the console: holds the model, draws it, and turns events of the page into actions. */

const MAX_ANNOUNCEMENTS = 8;
/** Before the first samples. */
const NO_CURVES = { samples: [] };
/** Changes within one interval are drawn together. */
const DRAW_DELAY_MS = 16;
const ACTIONS = { ...DRILL_ACTIONS, ...SHADOW_ACTIONS, ...DOCTOR_ACTIONS, ...HALT_ACTIONS, ...CHANGE_ACTIONS };

const app = document.getElementById('app') as HTMLElement;
const announcements = document.getElementById('announcements') as HTMLElement;
const history = createHistory();
const charts = createCharts('live', ({ dataset }) => liveCharts(history.of(dataset.plots ?? '')));
const shadowPlots = createCharts('shadow', ({ dataset }) => {
  const curves = model.feeds.curves?.value;
  return shadowCharts(curves !== undefined && dataset.shadowPlots === curves.shadow ? curves : NO_CURVES);
});
const cohortPlot = createCharts('drill', () => {
  const journal = model.feeds.journal?.value;
  return journal === undefined ? undefined : cohortCharts(journal);
});

let model: Model = {
  address: consoleAddress(location.hash),
  connection: { kind: 'connecting' },
  nowMs: performance.now(),
  hasToken: false,
  readOnly: false,
  feeds: {},
  feedback: {},
  busy: [],
};
let announced: ReadonlyMap<string, string> = new Map();
let focusSelector: string | undefined;
let isScheduled = false;

function set(part: Partial<Model>) {
  model = { ...model, ...part };
  if (isScheduled) return;
  isScheduled = true;
  // A timer and not an animation frame: a hidden tab is drawn too, for its title and its announcements.
  setTimeout(draw, DRAW_DELAY_MS);
}

function draw() {
  isScheduled = false;
  model = { ...model, nowMs: performance.now() };
  patch(app, consoleView(model));
  for (const render of RENDERERS) {
    try {
      render();
    } catch (error) {
      // The other renderers go on.
      console.error(error);
    }
  }
  if (focusSelector === undefined) return;
  const target = app.querySelector(focusSelector);
  focusSelector = undefined;
  if (!(target instanceof HTMLElement)) return;
  if (target.tabIndex < 0) target.setAttribute('tabindex', '-1');
  target.focus();
}

const RENDERERS = [
  () => {
    const title = tabTitle(model);
    if (document.title !== title) document.title = title;
  },
  () => charts.show(app.querySelector('[data-plots]'), model.live),
  () => shadowPlots.show(app.querySelector('[data-shadow-plots]'), model.feeds.curves?.value),
  () => cohortPlot.show(app.querySelector('[data-cohorts]'), model.feeds.journal?.value),
  announceChanges,
];

function announceChanges() {
  const now = announcementsOf(model);
  const changes = announcedChanges(announced, now);
  announced = now;
  if (changes.length === 0) return;
  // A line for each announcement: a screen reader goes on reading the earlier ones.
  const line = document.createElement('p');
  line.textContent = changes.join(' ');
  announcements.append(line);
  if (announcements.childElementCount > MAX_ANNOUNCEMENTS) announcements.firstElementChild?.remove();
}

const credentials = createCredentialStore(askCredentials, () => set({ hasToken: credentials.current() !== undefined }));
const api = createApi(credentials, (readOnly) => {
  if (model.readOnly !== readOnly) set({ readOnly });
});
const feeds = createFeeds({
  api,
  needed: () => feedsFor(model),
  put: (name, state) => set({ feeds: { ...model.feeds, [name]: state } }),
});
const stream = followLive({
  api,
  random: Math.random,
  onConnection: (connection) => set({ connection }),
  onLine: (live) => {
    history.add(live);
    set({ live, receivedMs: performance.now() });
    watchRunningDrill();
    feeds.poll();
  },
});

/** Watches the running drill of the current domain; another domain's drill only when none is watched. */
function watchRunningDrill() {
  const running = runningDrills(model);
  const domain = currentDomain(model)?.domain ?? '';
  const next =
    running.find(({ domains }) => domains.includes(domain)) ?? (model.watched === undefined ? running[0] : undefined);
  if (next !== undefined && !running.some(({ id }) => id === model.watched)) watch(next.id);
}

/** The journal of the drill before is forgotten at once. */
function watch(id: string) {
  set({ watched: id });
  feeds.poll();
}

const context: ActionContext = {
  model: () => model,
  set,
  api,
  refresh: (...names) => feeds.refresh(names),
  watch,
  focus: (selector) => {
    focusSelector = selector;
    set({});
  },
};

/** Actions of the page itself, which the service does not see. */
const PAGE_ACTIONS: Readonly<Record<string, () => void>> = {
  retry: stream.retry,
  skip: () => document.getElementById('main')?.focus(),
  dismiss: () => {
    const { header: _, ...feedback } = model.feedback;
    set({ feedback });
  },
  'give-token': () => {
    void askCredentials(false).then((given) => {
      if (given === undefined) return;
      credentials.set(given);
      stream.retry();
    });
  },
  'forget-token': () => location.reload(),
};

function run(name: string, request: Partial<ActionRequest>) {
  const domain = currentDomain(model)?.domain ?? '';
  void perform(context, ACTIONS, name, { domain, id: '', form: new FormData(), clear: () => {}, ...request });
}

app.addEventListener('click', (event) => {
  const pressed = event.target instanceof Element ? event.target.closest('[data-action]') : null;
  if (!(pressed instanceof HTMLElement)) return;
  const { action = '', id = '' } = pressed.dataset;
  const ofPage = PAGE_ACTIONS[action];
  // Other links follow their address, so that they can be opened in a new tab. The address of the skip link would
  // replace the view.
  if (action === 'skip') event.preventDefault();
  if (ofPage !== undefined) return ofPage();
  run(action, { id });
});

app.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  event.preventDefault();
  run(form.dataset.form ?? '', { form: new FormData(form), clear: () => form.reset() });
});

addEventListener('hashchange', () => set({ address: consoleAddress(location.hash), feedback: {} }));
addEventListener('online', stream.retry);
// Draws also without a new line, because ages grow, and reads the feeds also while the stream is lost.
setInterval(() => {
  feeds.poll();
  set({});
}, 500);
draw();
