/** No terminal and no Markdown may be steered by what was measured. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu;

/** For columns of text: no-break spaces are plain ones, and what cannot be seen is gone. */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll('\u00a0', ' ').replaceAll(/\s+/g, ' ').replace(UNSEEN, '\ufffd');
}

/** In a cell of a Markdown table: nothing of it is markup. */
export function markdownText(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|]/g, String.raw`\$&`);
}
