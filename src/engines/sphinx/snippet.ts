import { escapeHtml } from '../../search/escape-html.ts';
/** What searchd puts around found words: no document can hold it, because nobody knows it before the process starts. */
export interface Marks {
  readonly open: string;
  readonly close: string;
}

const NONCE_LENGTH = 4;
const PRIVATE_USE_FROM = 0xe000;
const PRIVATE_USE_SIZE = 6400;

/** Private-use characters only: no tokenizer takes them for a word, and no HTML escaping touches them. */
export function createMarks(random: () => number): Marks {
  const nonce = Array.from({ length: NONCE_LENGTH }, () =>
    String.fromCharCode(PRIVATE_USE_FROM + Math.floor(random() * PRIVATE_USE_SIZE)),
  ).join('');
  return { open: `\ue000${nonce}\ue000`, close: `\ue001${nonce}\ue001` };
}

export interface SnippetSource {
  /** Both as SNIPPET() made them, with marks. */
  readonly title: string;
  readonly description: string;
}

/** The passages of the description with the found words; in front of its beginning the title, where only that has them. */
export function highlighted({ title, description }: SnippetSource, marks: Marks, length: number): string {
  if (description.includes(marks.open)) return markup(description, marks);
  // Without a found word SNIPPET gives the first characters, which may end within a word.
  const begun = beginning(unmarked(description, marks), length - 1);
  if (!title.includes(marks.open)) return begun || markup(title, marks);
  return begun === '' ? markup(title, marks) : `${markup(title, marks)} … ${begun}`;
}

/** The beginning of a text, escaped, at most `length` characters, cut between words where there is a gap to cut at. */
export function beginning(text: string, length: number): string {
  const characters = [...collapse(text)];
  if (characters.length <= length) return escapeHtml(characters.join(''));
  const cut = characters.slice(0, length).join('');
  const gap = cut.lastIndexOf(' ');
  return `${escapeHtml(gap > cut.length / 2 ? cut.slice(0, gap) : cut)}…`;
}

function unmarked(text: string, marks: Marks): string {
  return text.replaceAll(marks.open, '').replaceAll(marks.close, '');
}

/** A found word and the punctuation in it: `C++`, `.NET`, `b/g`. */
const MARKED_WORD = /[-+.#&_]*[\p{L}\p{M}\p{N}](?:\S*[\p{L}\p{M}\p{N}+#])?/gu;

/**
 * Turns marks into `<em>`, an opening one only with its closing one, and escapes the rest. Sphinx gives a blended word in two
 * pieces and with its full stop: `C` `++.` becomes `<em>C++</em>.`; Manticore gives neighbouring words in one piece.
 */
function markup(text: string, marks: Marks): string {
  const whole = collapse(text).replaceAll(`${marks.close}${marks.open}`, '');
  const [plain = '', ...marked] = whole.split(marks.open);
  const parts = marked.map((part) => {
    const end = part.indexOf(marks.close);
    return end < 0 ? escapeHtml(part) : emphasized(part.slice(0, end)) + escapeHtml(part.slice(end));
  });
  return unmarked([escapeHtml(plain), ...parts].join(''), marks);
}

function emphasized(text: string): string {
  let html = '';
  let at = 0;
  for (const { 0: word, index } of text.matchAll(MARKED_WORD)) {
    html += `${escapeHtml(text.slice(at, index))}<em>${escapeHtml(word)}</em>`;
    at = index + word.length;
  }
  return html + escapeHtml(text.slice(at));
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
