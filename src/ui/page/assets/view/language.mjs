// @ts-check
/** @typedef {'ru' | 'en'} Language The languages the page speaks. */

/**
 * The script tells Russian from the rest well enough for a page that speaks two languages.
 * @param {string} text
 * @returns {Language | undefined} undefined for text without letters of either script.
 */
export function languageOf(text) {
  if (/\p{Script=Cyrillic}/u.test(text)) return 'ru';
  return /\p{Script=Latin}/u.test(text) ? 'en' : undefined;
}

/**
 * A `lang` attribute for text that is not in the page's language, so that a screen reader changes its voice.
 * @param {string} text
 * @param {Language} page
 */
export function foreignLanguage(text, page) {
  const language = languageOf(text);
  return language === page ? undefined : language;
}

/**
 * Whoever asks in Cyrillic reads Russian; Latin letters prove nothing (`iphone 13`), so the browser's wish decides.
 * @param {string} query
 * @param {Language} preferred
 * @returns {Language}
 */
export function pageLanguage(query, preferred) {
  return languageOf(query) === 'ru' ? 'ru' : preferred;
}

/**
 * @param {string | undefined} header Accept-Language
 * @returns {Language} English where the header names neither.
 */
export function preferredLanguage(header) {
  /** @type {{ language: Language, quality: number } | undefined} */
  let best;
  for (const item of (header ?? '').slice(0, 256).split(',')) {
    const [range = '', ...parameters] = item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const language = range.split('-')[0];
    if (language !== 'ru' && language !== 'en') continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    if (quality > 0 && (best === undefined || quality > best.quality)) best = { language, quality };
  }
  return best?.language ?? 'en';
}
