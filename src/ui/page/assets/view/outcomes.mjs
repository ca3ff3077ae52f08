// @ts-check
/** @typedef {import('./language.mjs').Language} Language */

/** @type {Readonly<Record<Language, Readonly<Record<import('./provenance.mjs').Source, string>>>>} */
const SOURCES = {
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

/** @type {Readonly<Record<Language, Readonly<Record<string, string>>>>} */
const REASONS = {
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
    lapsed: 'the kept answer was too old',
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
    lapsed: 'хранившийся ответ устарел',
    'not-storable': 'такие ответы не хранятся',
    unseen: 'этого давно никто не спрашивал',
    lifeboat: 'движок не смог ответить',
  },
};

/** @type {Readonly<Record<Language, Readonly<Record<string, string>>>>} */
const FAILURES = {
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

/**
 * The rules in Russian: the service itself states them in English only.
 * @type {Readonly<Record<string, string>>}
 */
const RUSSIAN_HINTS = {
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

/**
 * The fault and the rule it breaks, in the language of the page.
 * @param {import('./model.mjs').Failure} failure
 * @param {Language} language
 * @param {readonly import('../../../../search/domain.ts').Attribute[]} attributes Declared by the domain that was asked.
 */
export function failureDetail({ code, detail, parameter }, language, attributes) {
  if (language === 'en') return detail;
  const hint = saidOf(RUSSIAN_HINTS, code);
  if (hint === undefined) return undefined;
  const names = attributes.filter((attribute) => isAllowed(code, attribute)).map(({ name }) => name);
  const allowed = names.length === 0 ? '' : ` Допустимы: ${names.join(', ')}.`;
  return `${hint}${allowed}${parameter === undefined ? '' : ` Параметр: ${parameter}.`}`;
}

/**
 * @param {string} code
 * @param {import('../../../../search/domain.ts').Attribute} attribute
 */
function isAllowed(code, { sort, facet }) {
  return code === 'invalid-filter' || (code === 'invalid-sort' && sort) || (code === 'invalid-facet' && facet);
}

/**
 * @param {import('./provenance.mjs').Source} source
 * @param {Language} language
 */
export function sourceWords(source, language) {
  return SOURCES[language][source];
}

/**
 * @param {string} reason
 * @param {Language} language
 */
export function reasonWords(reason, language) {
  return saidOf(REASONS[language], reason) ?? reason;
}

/**
 * @param {string} code
 * @param {Language} language
 */
export function failureWords(code, language) {
  return saidOf(FAILURES[language], code) ?? FAILURES[language]['other'] ?? code;
}

/**
 * Codes are other people's words, and every object has a `constructor`.
 * @param {Readonly<Record<string, string>>} phrases
 * @param {string} code
 */
function saidOf(phrases, code) {
  return Object.hasOwn(phrases, code) ? phrases[code] : undefined;
}
