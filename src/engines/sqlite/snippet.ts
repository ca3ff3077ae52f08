import { escapeHtml } from '../../search/page.ts';
import { piecesIn, type WordPiece } from '../analysis/words.ts';
import type { Term } from './expression.ts';

interface SnippetOptions {
  /** Maximum length of a snippet, in UTF-16 units of the source text: before escaping, without `…`. */
  readonly maxLength: number;
  readonly highlight: boolean;
}

/**
 * The part of a text with most of the terms, HTML-escaped, with found words in `<em>`. Without highlighting it is the
 * beginning of the text. Marked and unmarked pieces are cut from the source and then escaped, so the text cannot contain
 * marks of its own.
 */
export function snippetOf(text: string, terms: readonly Term[], { maxLength, highlight }: SnippetOptions): string {
  const source = text.slice(0, SCANNED);
  const found = highlight ? findWords(source, terms) : [];
  const window = bestWindow(source, found, maxLength);
  let html = '';
  let at = window.from;
  for (const { from, to } of found) {
    if (from < window.from || to > window.to) continue;
    html += `${escaped(source.slice(at, from))}<em>${escaped(source.slice(from, to))}</em>`;
    at = to;
  }
  html += escaped(source.slice(at, window.to));
  const before = window.from > 0 ? '… ' : '';
  const after = window.to < text.trimEnd().length ? ' …' : '';
  return `${before}${html.trim()}${after}`;
}

/** Maximum length of a text that is searched for highlights and shown, in UTF-16 units. */
const SCANNED = 32_768;
/** Share of a snippet before its first found word. */
const LEAD_SHARE = 0.2;

interface Found {
  readonly from: number;
  readonly to: number;
  readonly term: number;
}

/** The found words in their order; neighbours without a space between them are one mark: `Wi-Fi`, `1.6`. */
function findWords(text: string, terms: readonly Term[]): readonly Found[] {
  const found: Found[] = [];
  const pieces = piecesIn(text);
  for (const [at, { text: word, from, to: end }] of pieces.entries()) {
    const term = terms.findIndex((each) => isFound(word, each) || startsAt(at, pieces, each.phrase));
    if (term < 0) continue;
    const length = terms[term]?.phrase?.length ?? 1;
    const to = pieces[at + length - 1]?.to ?? end;
    const last = found.at(-1);
    const isNext = last !== undefined && from - last.to <= 1 && !isSpace(text, last.to);
    if (isNext) found.pop();
    found.push(isNext ? { ...last, to: Math.max(to, last.to) } : { from, to, term });
  }
  return found;
}

function isFound(word: string, { words, prefix }: Term): boolean {
  return words.has(word) || (prefix !== undefined && word.startsWith(prefix));
}

/** Whether the pieces of a phrase stand together at this one. */
function startsAt(at: number, pieces: readonly WordPiece[], phrase: readonly string[] | undefined): boolean {
  const isAt = (word: string, index: number): boolean => {
    const piece = pieces[at + index];
    return piece?.text === word && (index === 0 || piece.from <= (pieces[at + index - 1]?.to ?? 0));
  };
  return phrase?.every(isAt) ?? false;
}

/** The earliest window that holds the most different terms, moved to word boundaries. */
function bestWindow(text: string, found: readonly Found[], maxLength: number): { from: number; to: number } {
  const end = text.trimEnd().length;
  if (end <= maxLength) return { from: 0, to: end };
  let best = { distinct: 0, from: 0 };
  for (const [index, first] of found.entries()) {
    const distinct = new Set<number>();
    for (let next = index; next < found.length; next += 1) {
      const { to, term } = found[next] ?? first;
      if (to - first.from > maxLength * (1 - LEAD_SHARE)) break;
      distinct.add(term);
    }
    if (distinct.size > best.distinct) best = { distinct: distinct.size, from: first.from };
  }
  const lead = best.from - Math.floor(maxLength * LEAD_SHARE);
  const from = lead <= 0 ? 0 : boundaryAfter(text, lead, best.from);
  const to = from + maxLength >= end ? end : boundaryBefore(text, from, from + maxLength);
  return { from, to };
}

/** The position after the first space from `at` on; at most `limit`. */
function boundaryAfter(text: string, at: number, limit: number): number {
  for (let index = at; index < limit; index += 1) {
    if (isSpace(text, index)) return index + 1;
  }
  return limit;
}

/** The position of the last space before `at`; without a space, a position between two whole characters. */
function boundaryBefore(text: string, from: number, at: number): number {
  for (let index = at; index > from; index -= 1) {
    if (isSpace(text, index)) return index;
  }
  const low = text.charCodeAt(at);
  return low >= 0xdc00 && low <= 0xdfff ? at - 1 : at;
}

function isSpace(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit <= 0x20 || unit === 0xa0;
}

/** Also turns runs of white space and control characters, which HTML does not allow, into one space. */
function escaped(text: string): string {
  return escapeHtml(text.replace(/[\s\p{Cc}]+/gu, ' '));
}
