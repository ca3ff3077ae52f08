/**
 * How wide letters are at most, in ems, among the fonts that a system is likely to choose (DejaVu Sans has the widest).
 * A drawing cannot measure its own text: whoever shows it has fonts of his own.
 */
const EMS: readonly (readonly [letters: RegExp, ems: number])[] = [
  [/[\p{Cc}\p{Bidi_Control}]/u, 1.1],
  [/[ \u00a0ijlI.,:;'|!]/, 0.36],
  [/[frt()[\]/\\"-]/, 0.45],
  [/[mwMW@%]/, 1],
  [/[A-Z+=<>~#&^]/, 0.84],
  [/[\x20-\x7e]/, 0.65],
  [/[\u00a1-\u024f\u2010-\u2026]/, 0.95],
];
const [OTHER_EMS, PICTURE_EMS] = [1.1, 1.4];
const BOLD = 1.13;

export interface Lettering {
  readonly fontPx: number;
  readonly isBold?: true;
}

/** How wide a text is, rather too much than too little. */
export function textPx(text: string, { fontPx, isBold }: Lettering): number {
  const ems = [...text].reduce((sum, letter) => sum + emsOf(letter), 0);
  return ems * fontPx * (isBold ? BOLD : 1);
}

function emsOf(letter: string): number {
  const known = EMS.find(([letters]) => letters.test(letter));
  if (known !== undefined) return known[1];
  return (letter.codePointAt(0) ?? 0) > 0xffff ? PICTURE_EMS : OTHER_EMS;
}

export interface Room extends Lettering {
  readonly px: number;
  readonly lines: number;
}

export interface Fitted {
  readonly lines: readonly string[];
  /** No word was parted and nothing was left out. */
  readonly isWhole: boolean;
}

/** A text in as many lines as there is room for; what goes beyond is left out, and an ellipsis says so. */
export function fitted(text: string, room: Room): Fitted {
  const words = text
    .trim()
    .replaceAll(/[ \t\r\n]+/g, ' ')
    .split(/(?<= )|(?<=\p{L}[-/])(?=\p{L})/u);
  const isWide = (line: string): boolean => textPx(line.trimEnd(), room) > room.px;
  const pieces = words.flatMap((word) => (isWide(word) ? [...word] : [word]));
  const lines: string[] = [];
  let current = '';
  for (const piece of pieces) {
    if (current !== '' && isWide(current + piece)) {
      lines.push(current.trimEnd());
      current = '';
    }
    current += piece;
  }
  lines.push(current.trimEnd());
  const isWhole = pieces.length === words.length && lines.length <= room.lines;
  if (lines.length <= room.lines) return { lines, isWhole };
  const kept = lines.slice(0, room.lines);
  return { lines: [...kept.slice(0, -1), cut(kept.at(-1) ?? '', isWide)], isWhole };
}

function cut(line: string, isWide: (line: string) => boolean): string {
  const letters = [...line];
  while (letters.length > 0 && isWide(`${letters.join('')}…`)) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}
