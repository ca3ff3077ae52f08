import type { Attribute } from '../../../search/domain.ts';
import { formatNumber, type Language } from './locale.ts';
import type { Failure } from './model.ts';
import type { Source } from './provenance.ts';

/** Texts by key, in both languages. */
type Texts<Key extends string = string> = Readonly<Record<Key, readonly [en: string, ru: string]>>;

export type Messages = (key: string) => string;

const TEXTS: Texts = {
  skip: ['Skip to the results', 'К результатам'],
  search: ['Search', 'Найти'],
  query: ['What to search for', 'Что искать'],
  queryLength: ['At most 256 characters', 'Не больше 256 символов'],
  domains: ['Sections', 'Разделы'],
  filters: ['Filters', 'Фильтры'],
  chosen: ['Chosen filters', 'Выбранные фильтры'],
  remove: ['remove the filter', 'убрать фильтр'],
  clear: ['Clear all', 'Сбросить все'],
  from: ['from', 'от'],
  to: ['to', 'до'],
  apply: ['Apply', 'Применить'],
  numberSuchAs: ['A number such as', 'Число, например'],
  more: ['More:', 'Ещё'],
  sort: ['Sort', 'Порядок'],
  relevance: ['By relevance', 'По релевантности'],
  ascending: ['ascending', 'по возрастанию'],
  descending: ['descending', 'по убыванию'],
  pages: ['Pages of results', 'Страницы результатов'],
  previous: ['Previous', 'Назад'],
  next: ['Next', 'Вперёд'],
  page: ['Page', 'Страница'],
  onPage: ['page', 'страница'],
  results: ['Results', 'Результаты'],
  empty: ['Nothing found', 'Ничего не нашлось'],
  emptyHint: [
    'Check the spelling, or try fewer or more general words.',
    'Проверьте, нет ли опечатки, возьмите слова короче или общее.',
  ],
  emptyFiltered: [
    'Nothing fits all the chosen filters. Remove one of them, or clear them all.',
    'Под все выбранные фильтры ничего не подходит. Уберите один из них или сбросьте все.',
  ],
  elsewhere: ['The same in another section:', 'То же в другом разделе:'],
  beyond: ['There are no results on this page', 'На этой странице результатов нет'],
  firstPage: ['Go to the first page', 'Перейти на первую страницу'],
  start: ['Search the catalogue', 'Поиск по каталогу'],
  startHint: [
    'Type a word or two and press Enter. The key / brings you back to the box from anywhere.',
    'Наберите слово-другое и нажмите Enter. Клавиша / отовсюду возвращает в строку поиска.',
  ],
  examples: ['For example', 'Например'],
  degraded: [
    'Some parts of the index did not answer, so this list may be incomplete.',
    'Часть индекса не ответила, поэтому список может быть неполным.',
  ],
  searching: ['Searching…', 'Ищем…'],
  again: ['Try again', 'Повторить'],
  plainly: ['Search without refinements', 'Искать без уточнений'],
  soon: ['You can try again in', 'Повторить можно через'],
  how: ['How it was found', 'Как нашли'],
  explain: ['Explain this answer', 'Объяснить этот ответ'],
  inAll: ['in all', 'всего'],
  onServer: ['on the server', 'на сервере'],
  inEngine: ['in the engine', 'в движке'],
  freshFor: ['Fresh for another', 'Свежий ещё'],
  staleFor: ['Stale for', 'Устарел на'],
  about: [
    'A cached search service: every page says where its answer came from.',
    'Поиск с кэшем: каждая страница говорит, откуда взят её ответ.',
  ],
  docs: ['API reference', 'Описание API'],
  ready: ['State of the service', 'Состояние сервиса'],
  'at-l1': ['Memory', 'Память'],
  'at-l2': ['Store', 'Хранилище'],
  'at-engine': ['Engine', 'Движок'],
  'at-lifeboat': ['Reserve index', 'Запасной индекс'],
  'did-had': ['had the answer', 'ответ здесь был'],
  'did-had-stale': ['had a stale answer', 'был устаревший ответ'],
  'did-missed': ['had no answer', 'ответа не было'],
  'did-kept': ['had no answer, keeps this one', 'ответа не было, теперь есть'],
  'did-computed': ['computed it', 'вычислил ответ'],
  'did-shared': ['computed it once for several requests', 'вычислил ответ один раз для нескольких запросов'],
  'did-refreshes': ['is computing a new one', 'вычисляет новый'],
  'did-failed': ['could not answer', 'не смог ответить'],
};

const SOURCES: Texts<Source> = {
  memory: ['from memory', 'из памяти'],
  store: ['from the store', 'из хранилища'],
  engine: ['computed by the engine', 'вычислено движком'],
  shared: ['computed by the engine, shared with another request', 'вычислено движком вместе с другим запросом'],
  stale: ['stale, being refreshed', 'устаревший ответ, уже обновляется'],
  'stale-after-failure': ['stale: the engine could not answer', 'устаревший ответ: движок не ответил'],
  lifeboat: ['from the reserve index', 'из запасного индекса'],
  unknown: ['origin not stated', 'источник не указан'],
};

const REASONS: Texts = {
  bypass: ['an operator asked past the cache', 'оператор спросил мимо кэша'],
  'node-open': ['the store node is taken out of use', 'узел хранилища временно отключён'],
  'store-down': ['the store cannot be reached', 'хранилище недоступно'],
  'store-saturated': ['the store is too busy', 'хранилище перегружено'],
  'store-slow': ['the store took too long', 'хранилище не успело ответить'],
  incompatible: ['the kept answer was of another version', 'хранился ответ другой версии'],
  corrupt: ['the kept answer was damaged', 'хранившийся ответ повреждён'],
  oversized: ['the kept answer was too large', 'хранившийся ответ слишком велик'],
  unsigned: ['the kept answer was not signed by this service', 'хранившийся ответ не подписан этим сервисом'],
  flushed: ['the kept answer was flushed', 'хранившийся ответ сброшен'],
  suppressed: ['the kept answer held a withdrawn document', 'в хранившемся ответе был снятый документ'],
  deleted: ['the kept answer held a deleted document', 'в хранившемся ответе был удалённый документ'],
  changed: ['documents of this answer have changed', 'документы этого ответа изменились'],
  expired: ['the kept answer was too old', 'хранившийся ответ устарел'],
  'not-storable': ['such an answer is not kept', 'такие ответы не хранятся'],
  unseen: ['nobody had asked this lately', 'этого давно никто не спрашивал'],
  lifeboat: ['the engine could not answer', 'движок не смог ответить'],
};

const FAILURES: Texts = {
  overloaded: [
    'Too many searches at once. The service protects the engine and asks you to wait a little.',
    'Слишком много запросов сразу. Сервис бережёт движок и просит немного подождать.',
  ],
  busy: [
    'Too many searches at once. Only what is kept can be shown for the moment.',
    'Слишком много запросов сразу. Пока показываем только то, что сохранено.',
  ],
  'over-budget': [
    'You have asked for a great many new things. Known searches still work; for others, wait a little.',
    'От вас пришло очень много новых запросов. Известные работают, с остальными подождите немного.',
  ],
  'engine-open': [
    'The search engine is not well, and the service lets it recover.',
    'Поисковому движку нездоровится, сервис даёт ему прийти в себя.',
  ],
  'engine-deadline': ['The search engine did not answer in time.', 'Поисковый движок не успел ответить.'],
  'engine-unavailable': ['The search engine cannot be reached.', 'Поисковый движок недоступен.'],
  'engine-rejected': ['The search engine refused this query.', 'Поисковый движок не принял этот запрос.'],
  'invalid-query': ['This query cannot be searched for.', 'Такой запрос искать нельзя.'],
  'unknown-domain': ['There is no such section.', 'Такого раздела нет.'],
  'invalid-page': ['There is no such page of results.', 'Такой страницы результатов нет.'],
  'invalid-sort': ['Results cannot be sorted like that.', 'В таком порядке результаты не выстроить.'],
  'invalid-filter': ['One of the filters does not make sense.', 'Один из фильтров не имеет смысла.'],
  'invalid-facet': ['One of the counters does not make sense.', 'Один из счётчиков не имеет смысла.'],
  'invalid-highlight': ['The matches cannot be marked like that.', 'Совпадения так не отметить.'],
  'invalid-context': ['One of the choices does not exist.', 'Одного из выбранных значений не существует.'],
  'invalid-url': ['This address is damaged.', 'Этот адрес повреждён.'],
  unreachable: ['The service cannot be reached. Check the connection.', 'Сервис недоступен. Проверьте соединение.'],
  slow: ['The service took too long to answer.', 'Сервис слишком долго не отвечает.'],
  other: ['The service could not answer.', 'Сервис не смог ответить.'],
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
  return (key) => textIn(TEXTS, key, language) ?? key;
}

const RESULTS: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
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
  // Codes come from outside, and every object has a `constructor`: only own properties count.
  const hint = Object.hasOwn(RUSSIAN_HINTS, code) ? RUSSIAN_HINTS[code] : undefined;
  if (hint === undefined) return undefined;
  const names = attributes.filter((attribute) => isAllowed(code, attribute)).map(({ name }) => name);
  const allowed = names.length === 0 ? '' : ` Допустимы: ${names.join(', ')}.`;
  return `${hint}${allowed}${parameter === undefined ? '' : ` Параметр: ${parameter}.`}`;
}

export function sourceText(source: Source, language: Language) {
  return textIn(SOURCES, source, language);
}

export function reasonText(reason: string, language: Language) {
  return textIn(REASONS, reason, language) ?? reason;
}

export function failureText(code: string, language: Language) {
  return textIn(FAILURES, code, language) ?? textIn(FAILURES, 'other', language);
}

function isAllowed(code: string, { sort, facet }: Attribute) {
  return code === 'invalid-filter' || (code === 'invalid-sort' && sort) || (code === 'invalid-facet' && facet);
}

/** Undefined for an unknown key; a member that every object inherits is unknown too. */
function textIn(texts: Texts, key: string, language: Language) {
  return Object.hasOwn(texts, key) ? texts[key]?.[language === 'en' ? 0 : 1] : undefined;
}
