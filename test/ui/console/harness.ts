import { consoleAddress, type Model } from '../../../src/ui/console/assets/model.ts';

/** A console that has just received its figures. */
export function consoleModel(hash: string, changes: Partial<Model>): Model {
  return {
    address: consoleAddress(hash),
    connection: { kind: 'live' },
    receivedMs: 0,
    nowMs: 0,
    hasToken: true,
    readOnly: false,
    feeds: {},
    feedback: {},
    busy: [],
    ...changes,
  };
}

/** A feed that has just been read. */
export function feed<T>(value: T) {
  return { path: '/x', value, receivedMs: 0 };
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The words without elements. Spaces inside figures are no-break spaces. */
export function wordsIn(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&[^;\s]+;/g, (entity) => CHARACTERS[entity] ?? entity)
    .replaceAll(/[\s\u00a0]+/g, ' ');
}
