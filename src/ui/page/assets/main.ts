import { patch } from '../../shared/patch.ts';
import { isStart, pageAddress, pageHref, type Site } from './address.ts';
import { type Language, pageLanguage } from './locale.ts';
import { messagesIn } from './messages.ts';
import { documentTitle, fetchAnswer } from './model.ts';
import { pageView } from './view/page.ts';

/** The script of the search page: fetches and draws answers without loading the document again. */

const site: Site = JSON.parse(document.body.dataset.site ?? '{}');
const app = document.getElementById('app') as HTMLElement;
let current = new AbortController();

/**
 * @param search The address from `?` on. @param then Where the reader continues: at the focused element, at the top
 * of the new page, or at the scroll position of the history entry.
 */
async function show(search: string, then: 'focus' | 'top' | 'back') {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const address = addressAt(search);
  const language = pageLanguage(address.query, site.preferred);
  markBusy(language);
  try {
    const shown = isStart(address) ? { kind: 'start' as const } : await fetchAnswer(address, site, signal);
    if (signal.aborted) return;
    const key = focusedKey();
    const model = { site, address, language, shown };
    document.documentElement.lang = language;
    document.title = documentTitle(model);
    patch(app, pageView(model));
    app.removeAttribute('aria-busy');
    resetChoices();
    openFilters();
    if (then === 'top') goToTop();
    else restoreFocus(app, key);
    if (then === 'back') scrollTo(0, history.state?.scrollY ?? 0);
  } catch (error) {
    // A newer search was started meanwhile, and draws the page.
    if (!signal.aborted) throw error;
  }
}

/** @param search The address from `?` on. */
function addressAt(search: string) {
  return pageAddress(new URLSearchParams(search), site);
}

function markBusy(language: Language) {
  app.setAttribute('aria-busy', 'true');
  const status = app.querySelector('[role=status]');
  if (status !== null) patch(status, [messagesIn(language)('searching')]);
}

function goToTop() {
  scrollTo(0, 0);
  app.querySelector('h1')?.focus({ preventScroll: true });
}

function go(search: string, then: 'focus' | 'top') {
  history.replaceState({ scrollY }, '');
  const href = pageHref(addressAt(search));
  // The same search again adds no history entry.
  if (href === pageHref(addressAt(location.search))) history.replaceState({}, '', href);
  else history.pushState({}, '', href);
  void show(location.search, then);
}

/** Sets the form fields to the values of the answer's address, except the search box: the reader may be typing there. */
function resetChoices() {
  for (const form of app.querySelectorAll('form.ranges')) if (form instanceof HTMLFormElement) form.reset();
  for (const option of app.querySelectorAll('option')) option.selected = option.defaultSelected;
}

function setBox(query: string) {
  const box = app.querySelector('#query');
  if (box instanceof HTMLInputElement) box.value = query;
}

app.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[data-nav]') : null;
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLAnchorElement) || !plain || event.defaultPrevented) return;
  event.preventDefault();
  setBox(addressAt(link.search).query);
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
  setBox(addressAt(location.search).query);
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
/** On a wide screen the filters stand beside the results and are open; on a narrow one they stand above and are closed. */
function openFilters() {
  const filters = app.querySelector('details.filters');
  if (filters instanceof HTMLDetailsElement && wide.matches) filters.open = true;
}
wide.addEventListener('change', openFilters);
openFilters();

/** @returns The key that the focused element has on each answer's page. */
function focusedKey(): string | undefined {
  const focused = document.activeElement;
  return focused?.getAttribute('data-focus') ?? (focused?.id || undefined);
}

/**
 * Focuses the element with this key again: an element that is moved in the document loses its focus. Without such an
 * element the heading gets the focus, so that the next Tab continues at the results and not at the top of the page.
 */
function restoreFocus(root: Element, key: string | undefined) {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  if (key === undefined) return;
  const same = [...root.querySelectorAll('[data-focus], [id]')].find(
    (element) => (element.getAttribute('data-focus') ?? element.id) === key,
  );
  const target = same ?? root.querySelector('h1');
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}
