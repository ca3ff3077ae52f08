import { ask } from './ask.mjs';
import { focusedKey, restoreFocus } from './focus.mjs';
import { patch } from './patch.mjs';
import { pageLanguage } from './view/language.mjs';
import { titleOf } from './view/model.mjs';
import { pageView } from './view/page.mjs';
import { isStart, placeFrom, placeHref } from './view/place.mjs';
import { wordsIn } from './view/words.mjs';

/** @type {import('./view/site.mjs').Site} */
const site = JSON.parse(document.body.dataset.site ?? '{}');
const app = /** @type {HTMLElement} */ (document.getElementById('app'));
let current = new AbortController();

/**
 * @param {string} search The address from `?` on.
 * @param {'focus' | 'top' | 'back'} then Where the reader goes on: where they were, at the top of the new page, or
 *   where they had scrolled to.
 */
async function show(search, then) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const place = placeAt(search);
  const language = pageLanguage(place.query, site.preferred);
  markBusy(language);
  try {
    const shown = isStart(place) ? { kind: /** @type {const} */ ('start') } : await ask(place, site, signal);
    if (signal.aborted) return;
    const key = focusedKey();
    const model = { site, place, language, shown };
    document.documentElement.lang = language;
    document.title = titleOf(model);
    patch(app, pageView(model));
    app.removeAttribute('aria-busy');
    resetChoices();
    openFilters();
    if (then === 'top') goToTop();
    else restoreFocus(app, key);
    if (then === 'back') scrollTo(0, history.state?.scrollY ?? 0);
  } catch (error) {
    // Asked something else meanwhile: the newer question owns the page.
    if (!signal.aborted) throw error;
  }
}

/** @param {string} search The address from `?` on. */
function placeAt(search) {
  return placeFrom(new URLSearchParams(search), site);
}

/** @param {import('./view/language.mjs').Language} language */
function markBusy(language) {
  app.setAttribute('aria-busy', 'true');
  const status = app.querySelector('[role=status]');
  if (status !== null) patch(status, [wordsIn(language)('searching')]);
}

function goToTop() {
  scrollTo(0, 0);
  app.querySelector('h1')?.focus({ preventScroll: true });
}

/**
 * @param {string} search
 * @param {'focus' | 'top'} then
 */
function go(search, then) {
  history.replaceState({ scrollY }, '');
  const href = placeHref(placeAt(search));
  // Asking the same again is asking again, not another step to go back over.
  if (href === placeHref(placeAt(location.search))) history.replaceState({}, '', href);
  else history.pushState({}, '', href);
  void show(location.search, then);
}

/** What the reader typed or chose gives way to what the answer was asked with; the box alone is theirs to keep. */
function resetChoices() {
  for (const form of app.querySelectorAll('form.ranges')) if (form instanceof HTMLFormElement) form.reset();
  for (const option of app.querySelectorAll('option')) option.selected = option.defaultSelected;
}

/** @param {string} query */
function setBox(query) {
  const box = app.querySelector('#query');
  if (box instanceof HTMLInputElement) box.value = query;
}

app.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[data-nav]') : null;
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLAnchorElement) || !plain || event.defaultPrevented) return;
  event.preventDefault();
  setBox(placeAt(link.search).query);
  go(link.search, link.dataset.to === 'top' ? 'top' : 'focus');
});

app.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.matches('form[data-nav]')) return;
  event.preventDefault();
  const given = [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  go(`?${new URLSearchParams(given)}`, 'focus');
});

addEventListener('popstate', () => {
  setBox(placeAt(location.search).query);
  void show(location.search, 'back');
});

addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = app.querySelector('#query');
  if (!(box instanceof HTMLInputElement)) return;
  event.preventDefault();
  box.focus();
  box.select();
});

const wide = matchMedia('(min-width: 52rem)');
/** Beside the results the filters are always open; above them, on a narrow screen, only when asked. */
function openFilters() {
  const filters = app.querySelector('details.filters');
  if (filters instanceof HTMLDetailsElement && wide.matches) filters.open = true;
}
wide.addEventListener('change', openFilters);
openFilters();
