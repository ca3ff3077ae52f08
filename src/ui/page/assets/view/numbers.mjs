// @ts-check
/**
 * Numbers as people type them. Whatever the page prints it also reads: spaces of every width between thousands, a
 * comma or a dot before the fraction, and English thousands commas where the page itself speaks English.
 * @typedef {import('./language.mjs').Language} Language
 * @typedef {'integer' | 'number'} NumberType
 */

// Fifteen digits stay exact, so nothing that fits is refused for its size.
const SPACED = '\\d(?:\\s?\\d){0,14}';
const WITH_COMMAS = '\\d{1,3}(?:,\\d{3}){1,4}';
const GROUPED = new RegExp(`^-?${WITH_COMMAS}(?:\\.\\d+)?$`);

/**
 * For an input's `pattern`. What matches, the service takes.
 * @param {NumberType} type
 * @param {Language} language
 */
export function numberPattern(type, language) {
  const [afterSpaces, afterCommas] = type === 'integer' ? ['', ''] : ['(?:[.,]\\d{1,15})?', '(?:\\.\\d{1,15})?'];
  const commas = language === 'en' ? `|${WITH_COMMAS}${afterCommas}` : '';
  return `\\s*-?(?:${SPACED}${afterSpaces}${commas})\\s*`;
}

/**
 * @param {string} text
 * @param {NumberType} type
 * @param {Language} language
 * @returns {string} Digits and a dot; what is no number stays as it was typed, for the service to refuse.
 */
export function typedNumber(text, type, language) {
  const trimmed = text.trim();
  if (!new RegExp(`^${numberPattern(type, language)}$`).test(trimmed)) return trimmed;
  // 7,200 is seven thousand to English readers and seven and a fifth to Russian ones.
  if (language === 'en' && GROUPED.test(trimmed)) return trimmed.replaceAll(',', '');
  return trimmed.replaceAll(/\s/g, '').replace(',', '.');
}
