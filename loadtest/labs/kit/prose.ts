import { markdownText } from './plain-text.ts';

/** In a paragraph of Markdown: no markup, no formula, and no list, quotation or heading at its beginning. */
export function prose(text: string): string {
  return markdownText(text)
    .trim()
    .replaceAll(/[~$]/g, String.raw`\$&`)
    .replace(/^[#>+=-]/, String.raw`\$&`)
    .replace(/^(\d+)([.)](?:\s|$))/, String.raw`$1\$2`);
}
