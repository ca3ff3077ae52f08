import type { Attribute } from '../../../search/domain.ts';
import type { Language } from './locale.ts';
import { formatNumber } from './locale.ts';
import type { Failure } from './model.ts';
import type { Source } from './provenance.ts';

export type Dictionary = Readonly<Record<string, string>>;

export type Messages = (key: string) => string;

const TEXTS: Readonly<Record<Language, Dictionary>> = {
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

const SOURCES: Readonly<Record<Language, Readonly<Record<Source, string>>>> = {
  en: {
    memory: 'from memory',
    store: 'from the store',
    engine: 'computed by the engine',
    shared: 'computed by the engine, shared with another request',
    stale: 'stale, being refreshed',
    'stale-after-failure': 'stale: the engine could not answer',
    lifeboat: 'from the reserve index',
    unknown: 'origin not stated',
  },
  ru: {
    memory: 'из памяти',
    store: 'из хранилища',
    engine: 'вычислено движком',
    shared: 'вычислено движком вместе с другим запросом',
    stale: 'устаревший ответ, уже обновляется',
    'stale-after-failure': 'устаревший ответ: движок не ответил',
    lifeboat: 'из запасного индекса',
    unknown: 'источник не указан',
  },
};

const REASONS: Readonly<Record<Language, Dictionary>> = {
  en: {
    bypass: 'an operator asked past the cache',
    'node-open': 'the store node is taken out of use',
    'store-down': 'the store cannot be reached',
    'store-saturated': 'the store is too busy',
    'store-slow': 'the store took too long',
    incompatible: 'the kept answer was of another version',
    corrupt: 'the kept answer was damaged',
    oversized: 'the kept answer was too large',
    unsigned: 'the kept answer was not signed by this service',
    flushed: 'the kept answer was flushed',
    suppressed: 'the kept answer held a withdrawn document',
    expired: 'the kept answer was too old',
    'not-storable': 'such an answer is not kept',
    unseen: 'nobody had asked this lately',
    lifeboat: 'the engine could not answer',
  },
  ru: {
    bypass: 'оператор спросил мимо кэша',
    'node-open': 'узел хранилища временно отключён',
    'store-down': 'хранилище недоступно',
    'store-saturated': 'хранилище перегружено',
    'store-slow': 'хранилище не успело ответить',
    incompatible: 'хранился ответ другой версии',
    corrupt: 'хранившийся ответ повреждён',
    oversized: 'хранившийся ответ слишком велик',
    unsigned: 'хранившийся ответ не подписан этим сервисом',
    flushed: 'хранившийся ответ сброшен',
    suppressed: 'в хранившемся ответе был снятый документ',
    expired: 'хранившийся ответ устарел',
    'not-storable': 'такие ответы не хранятся',
    unseen: 'этого давно никто не спрашивал',
    lifeboat: 'движок не смог ответить',
  },
};

const FAILURES: Readonly<Record<Language, Dictionary>> = {
  en: {
    overloaded: 'Too many searches at once. The service protects the engine and asks you to wait a little.',
    busy: 'Too many searches at once. Only what is kept can be shown for the moment.',
    'over-budget': 'You have asked for a great many new things. Known searches still work; for others, wait a little.',
    'engine-open': 'The search engine is not well, and the service lets it recover.',
    'engine-deadline': 'The search engine did not answer in time.',
    'engine-unavailable': 'The search engine cannot be reached.',
    'engine-rejected': 'The search engine refused this query.',
    'invalid-query': 'This query cannot be searched for.',
    'unknown-domain': 'There is no such section.',
    'invalid-page': 'There is no such page of results.',
    'invalid-sort': 'Results cannot be sorted like that.',
    'invalid-filter': 'One of the filters does not make sense.',
    'invalid-facet': 'One of the counters does not make sense.',
    'invalid-highlight': 'The matches cannot be marked like that.',
    'invalid-context': 'One of the choices does not exist.',
    'invalid-url': 'This address is damaged.',
    unreachable: 'The service cannot be reached. Check the connection.',
    slow: 'The service took too long to answer.',
    other: 'The service could not answer.',
  },
  ru: {
    overloaded: 'Слишком много запросов сразу. Сервис бережёт движок и просит немного подождать.',
    busy: 'Слишком много запросов сразу. Пока показываем только то, что сохранено.',
    'over-budget': 'От вас пришло очень много новых запросов. Известные работают, с остальными подождите немного.',
    'engine-open': 'Поисковому движку нездоровится, сервис даёт ему прийти в себя.',
    'engine-deadline': 'Поисковый движок не успел ответить.',
    'engine-unavailable': 'Поисковый движок недоступен.',
    'engine-rejected': 'Поисковый движок не принял этот запрос.',
    'invalid-query': 'Такой запрос искать нельзя.',
    'unknown-domain': 'Такого раздела нет.',
    'invalid-page': 'Такой страницы результатов нет.',
    'invalid-sort': 'В таком порядке результаты не выстроить.',
    'invalid-filter': 'Один из фильтров не имеет смысла.',
    'invalid-facet': 'Один из счётчиков не имеет смысла.',
    'invalid-highlight': 'Совпадения так не отметить.',
    'invalid-context': 'Одного из выбранных значений не существует.',
    'invalid-url': 'Этот адрес повреждён.',
    unreachable: 'Сервис недоступен. Проверьте соединение.',
    slow: 'Сервис слишком долго не отвечает.',
    other: 'Сервис не смог ответить.',
  },
};

/** The rules in Russian; the service states them in English only. */
const RUSSIAN_HINTS: Readonly<Record<string, string>> = {
  'invalid-query': 'В запросе от 1 до 256 символов, без управляющих.',
  'unknown-domain': 'Разделы перечислены вверху страницы.',
  'invalid-page': 'Номер страницы — целое число от 1; на странице от 1 до 100 результатов, показываем первую тысячу.',
  'invalid-sort': 'Порядок задаётся именем свойства, по убыванию — со знаком минус.',
  'invalid-filter': 'Проверьте значения: числа — цифрами, даты — как 2026-05-03, каждое свойство — один раз.',
  'invalid-facet': 'Считаются только свойства этого раздела.',
  'invalid-highlight': 'Допустимы true и false.',
  'invalid-context': 'Выберите одно из предложенных значений.',
  'invalid-url': 'После каждого знака % в адресе должны стоять две шестнадцатеричные цифры.',
};

export function messagesIn(language: Language): Messages {
  return (key) => TEXTS[language][key] ?? key;
}

const RESULTS: Readonly<Record<Language, Dictionary>> = {
  en: { one: 'result', other: 'results' },
  ru: { one: 'результат', few: 'результата', many: 'результатов', other: 'результата' },
};

const PLURALS = { en: new Intl.PluralRules('en'), ru: new Intl.PluralRules('ru') };

/** @param atLeast True: the engine stopped counting, so the total is a lower bound. */
export function resultCountText(total: number, atLeast: boolean, language: Language) {
  const number = formatNumber(total, language);
  if (atLeast) return language === 'ru' ? `не меньше ${number} результатов` : `at least ${number} results`;
  return `${number} ${RESULTS[language][PLURALS[language].select(total)] ?? ''}`;
}

/** The fault and the rule behind it, in the language of the page. @param attributes Those of the searched domain. */
export function failureDetail(
  { code, detail, parameter }: Failure,
  language: Language,
  attributes: readonly Attribute[],
) {
  if (language === 'en') return detail;
  const hint = textFor(RUSSIAN_HINTS, code);
  if (hint === undefined) return undefined;
  const names = attributes.filter((attribute) => isAllowed(code, attribute)).map(({ name }) => name);
  const allowed = names.length === 0 ? '' : ` Допустимы: ${names.join(', ')}.`;
  return `${hint}${allowed}${parameter === undefined ? '' : ` Параметр: ${parameter}.`}`;
}

export function sourceText(source: Source, language: Language) {
  return SOURCES[language][source];
}

export function reasonText(reason: string, language: Language) {
  return textFor(REASONS[language], reason) ?? reason;
}

export function failureText(code: string, language: Language) {
  return textFor(FAILURES[language], code) ?? FAILURES[language]['other'] ?? code;
}

function isAllowed(code: string, { sort, facet }: Attribute) {
  return code === 'invalid-filter' || (code === 'invalid-sort' && sort) || (code === 'invalid-facet' && facet);
}

/** Codes come from outside, and every object has a `constructor`: only own properties count. */
function textFor(texts: Dictionary, code: string) {
  return Object.hasOwn(texts, code) ? texts[code] : undefined;
}
