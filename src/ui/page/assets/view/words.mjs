// @ts-check
import { formatNumber } from './format.mjs';

/**
 * Everything the page says, in the languages it speaks. Keys are the codes the service itself uses, so that a code
 * without a sentence here is visible as such.
 * @typedef {import('./language.mjs').Language} Language
 * @typedef {Readonly<Record<string, string>>} Dictionary
 */

/** @type {Readonly<Record<Language, Dictionary>>} */
const PHRASES = {
  en: {
    skip: 'Skip to the results',
    search: 'Search',
    query: 'What to search for',
    queryLength: 'At most 256 characters',
    domains: 'Sections',
    filters: 'Filters',
    chosen: 'Chosen filters',
    remove: 'remove the filter',
    clear: 'Clear all',
    from: 'from',
    to: 'to',
    apply: 'Apply',
    numberSuchAs: 'A number such as',
    more: 'More:',
    sort: 'Sort',
    relevance: 'By relevance',
    ascending: 'ascending',
    descending: 'descending',
    pages: 'Pages of results',
    previous: 'Previous',
    next: 'Next',
    page: 'Page',
    onPage: 'page',
    results: 'Results',
    empty: 'Nothing found',
    emptyHint: 'Check the spelling, or try fewer or more general words.',
    emptyFiltered: 'Nothing fits all the chosen filters. Remove one of them, or clear them all.',
    elsewhere: 'The same in another section:',
    beyond: 'There are no results on this page',
    firstPage: 'Go to the first page',
    start: 'Search the catalogue',
    startHint: 'Type a word or two and press Enter. The key / brings you back to the box from anywhere.',
    examples: 'For example',
    degraded: 'Some parts of the index did not answer, so this list may be incomplete.',
    searching: 'Searching…',
    again: 'Try again',
    plainly: 'Search without refinements',
    soon: 'You can try again in',
    how: 'How it was found',
    explain: 'Explain this answer',
    inAll: 'in all',
    onServer: 'on the server',
    inEngine: 'in the engine',
    freshFor: 'Fresh for another',
    staleFor: 'Stale for',
    about: 'A cached search service: every page says where its answer came from.',
    docs: 'API reference',
    ready: 'State of the service',
    'at-l1': 'Memory',
    'at-l2': 'Store',
    'at-engine': 'Engine',
    'at-lifeboat': 'Reserve index',
    'did-had': 'had the answer',
    'did-had-stale': 'had a stale answer',
    'did-missed': 'had no answer',
    'did-kept': 'had no answer, keeps this one',
    'did-computed': 'computed it',
    'did-shared': 'computed it once for several requests',
    'did-refreshes': 'is computing a new one',
    'did-failed': 'could not answer',
  },
  ru: {
    skip: 'К результатам',
    search: 'Найти',
    query: 'Что искать',
    queryLength: 'Не больше 256 символов',
    domains: 'Разделы',
    filters: 'Фильтры',
    chosen: 'Выбранные фильтры',
    remove: 'убрать фильтр',
    clear: 'Сбросить все',
    from: 'от',
    to: 'до',
    apply: 'Применить',
    numberSuchAs: 'Число, например',
    more: 'Ещё',
    sort: 'Порядок',
    relevance: 'По релевантности',
    ascending: 'по возрастанию',
    descending: 'по убыванию',
    pages: 'Страницы результатов',
    previous: 'Назад',
    next: 'Вперёд',
    page: 'Страница',
    onPage: 'страница',
    results: 'Результаты',
    empty: 'Ничего не нашлось',
    emptyHint: 'Проверьте, нет ли опечатки, возьмите слова короче или общее.',
    emptyFiltered: 'Под все выбранные фильтры ничего не подходит. Уберите один из них или сбросьте все.',
    elsewhere: 'То же в другом разделе:',
    beyond: 'На этой странице результатов нет',
    firstPage: 'Перейти на первую страницу',
    start: 'Поиск по каталогу',
    startHint: 'Наберите слово-другое и нажмите Enter. Клавиша / отовсюду возвращает в строку поиска.',
    examples: 'Например',
    degraded: 'Часть индекса не ответила, поэтому список может быть неполным.',
    searching: 'Ищем…',
    again: 'Повторить',
    plainly: 'Искать без уточнений',
    soon: 'Повторить можно через',
    how: 'Как нашли',
    explain: 'Объяснить этот ответ',
    inAll: 'всего',
    onServer: 'на сервере',
    inEngine: 'в движке',
    freshFor: 'Свежий ещё',
    staleFor: 'Устарел на',
    about: 'Поиск с кэшем: каждая страница говорит, откуда взят её ответ.',
    docs: 'Описание API',
    ready: 'Состояние сервиса',
    'at-l1': 'Память',
    'at-l2': 'Хранилище',
    'at-engine': 'Движок',
    'at-lifeboat': 'Запасной индекс',
    'did-had': 'ответ здесь был',
    'did-had-stale': 'был устаревший ответ',
    'did-missed': 'ответа не было',
    'did-kept': 'ответа не было, теперь есть',
    'did-computed': 'вычислил ответ',
    'did-shared': 'вычислил ответ один раз для нескольких запросов',
    'did-refreshes': 'вычисляет новый',
    'did-failed': 'не смог ответить',
  },
};

/** @typedef {(key: string) => string} Words */

/**
 * @param {Language} language
 * @returns {Words}
 */
export function wordsIn(language) {
  return (key) => PHRASES[language][key] ?? key;
}

/** @type {Readonly<Record<Language, Dictionary>>} */
const RESULTS = {
  en: { one: 'result', other: 'results' },
  ru: { one: 'результат', few: 'результата', many: 'результатов', other: 'результата' },
};

const PLURALS = { en: new Intl.PluralRules('en'), ru: new Intl.PluralRules('ru') };

/**
 * @param {number} total
 * @param {boolean} atLeast The engine stopped counting.
 * @param {Language} language
 */
export function countWords(total, atLeast, language) {
  const number = formatNumber(total, language);
  if (atLeast) return language === 'ru' ? `не меньше ${number} результатов` : `at least ${number} results`;
  return `${number} ${RESULTS[language][PLURALS[language].select(total)] ?? ''}`;
}
