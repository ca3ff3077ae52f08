import { patch } from '../../page/assets/patch.mjs';
import { perform } from './act/acts.mjs';
import { askToken } from './ask-token.mjs';
import { createAccess } from './data/access.mjs';
import { createApi } from './data/api.mjs';
import { createFeeds } from './data/feeds.mjs';
import { followLive } from './data/follow-live.mjs';
import { createHistory } from './data/history.mjs';
import { currentLook, runningDrills } from './data/model.mjs';
import { placeFrom } from './data/place.mjs';
import { createWatch } from './data/watch.mjs';
import { createCohortPlot } from './plot/cohort-plot.mjs';
import { createPalette } from './plot/palette.mjs';
import { createPlots } from './plot/plots.mjs';
import { changesBetween, factsOf } from './tell.mjs';
import { pageView, titleOf } from './view/page.mjs';
import { wantedFeeds } from './wanted.mjs';

/** @typedef {import('./data/model.mjs').Model} Model */

const app = /** @type {HTMLElement} */ (document.getElementById('app'));
const told = /** @type {HTMLElement} */ (document.getElementById('told'));
const palette = createPalette();
const past = createHistory();
const plots = createPlots(palette.colour, past.of);
const cohorts = createCohortPlot(palette.colour);

const MAX_TOLD = 8;

/** @type {Model} */
let model = {
  place: placeFrom(location.hash),
  link: { kind: 'connecting' },
  nowMs: performance.now(),
  hasToken: false,
  readOnly: false,
  fed: {},
  said: {},
  busy: [],
};
/** @type {ReadonlyMap<string, string>} */
let facts = new Map();
/** @type {string | undefined} */
let toFocus;
let isAsked = false;

/** @param {Partial<Model>} part */
function set(part) {
  model = { ...model, ...part };
  if (isAsked) return;
  isAsked = true;
  // A tab that is not seen is drawn as well: its title and what it tells are heard all the same.
  setTimeout(draw, 16);
}

function draw() {
  isAsked = false;
  model = { ...model, nowMs: performance.now() };
  patch(app, pageView(model));
  for (const part of PARTS) {
    try {
      part();
    } catch (error) {
      // A part that cannot be drawn keeps no other from being drawn.
      console.error(error);
    }
  }
  if (toFocus === undefined) return;
  const target = app.querySelector(toFocus);
  toFocus = undefined;
  if (!(target instanceof HTMLElement)) return;
  if (target.tabIndex < 0) target.setAttribute('tabindex', '-1');
  target.focus();
}

const PARTS = [
  () => {
    const title = titleOf(model);
    if (document.title !== title) document.title = title;
  },
  () => plots.show(app.querySelector('[data-plots]'), model.live),
  () => cohorts.show(app.querySelector('[data-cohorts]'), model.watched?.journal),
  tellChanges,
];

function tellChanges() {
  const now = factsOf(model);
  const news = changesBetween(facts, now);
  facts = now;
  if (news.length === 0) return;
  // One after another, so that a second piece of news does not take the first away before it was read out.
  const line = document.createElement('p');
  line.textContent = news.join(' ');
  told.append(line);
  if (told.childElementCount > MAX_TOLD) told.firstElementChild?.remove();
}

const access = createAccess(askToken, () => set({ hasToken: access.pass() !== undefined }));
const api = createApi(access, (readOnly) => {
  if (model.readOnly !== readOnly) set({ readOnly });
});
const feeds = createFeeds({
  api,
  wanted: () => wantedFeeds(model),
  put: (name, fed) => set({ fed: { ...model.fed, [name]: fed } }),
});
const watch = createWatch(api, (watched) => set({ watched }));
const stream = followLive({
  api,
  random: Math.random,
  onLink: (link) => set({ link }),
  onLine: (live) => {
    past.note(live);
    set({ live, heardMs: performance.now() });
    const own = runningDrills(model);
    // The drill of the domain that is looked at, and another one only if nothing is being watched.
    const domain = currentLook(model)?.domain ?? '';
    const next =
      own.find(({ domains }) => domains.includes(domain)) ?? (model.watched === undefined ? own[0] : undefined);
    if (next !== undefined && !own.some(({ id }) => id === model.watched?.id)) watch.look(next.id);
    void watch.read();
    feeds.turn();
  },
});

/** @type {import('./act/desk.mjs').Desk} */
const desk = {
  model: () => model,
  set,
  api,
  refresh: (...names) => feeds.refresh(names),
  watch: watch.look,
  focus: (selector) => {
    toFocus = selector;
    set({});
  },
};

/** @type {Readonly<Record<string, () => void>>} */
const OWN_ACTS = {
  retry: stream.retry,
  skip: () => document.getElementById('main')?.focus(),
  hush: () => {
    const { top: _, ...said } = model.said;
    set({ said });
  },
  token: () => {
    void askToken(false).then((pass) => {
      if (pass === undefined) return;
      access.set(pass);
      stream.retry();
    });
  },
  forget: () => location.reload(),
};

app.addEventListener('click', (event) => {
  const pressed = event.target instanceof Element ? event.target.closest('[data-act]') : null;
  if (!(pressed instanceof HTMLElement)) return;
  const { act = '', id = '' } = pressed.dataset;
  const own = OWN_ACTS[act];
  // A link that only moves within the page has an address for who opens it elsewhere; the skip link has none to keep.
  if (act === 'skip') event.preventDefault();
  if (own !== undefined) return own();
  void perform(desk, act, { domain: currentLook(model)?.domain ?? '', id, form: new FormData(), clear: () => {} });
});

app.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  event.preventDefault();
  const order = {
    domain: currentLook(model)?.domain ?? '',
    id: '',
    form: new FormData(form),
    clear: () => form.reset(),
  };
  void perform(desk, form.dataset.form ?? '', order);
});

addEventListener('hashchange', () => set({ place: placeFrom(location.hash), said: {} }));
addEventListener('online', stream.retry);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  palette.reread();
  plots.recolour();
  cohorts.recolour();
});
// Ages grow between two lines, and what is read beside the stream goes on when it is lost.
setInterval(() => {
  feeds.turn();
  set({});
}, 500);
draw();
