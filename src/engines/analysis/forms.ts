/**
 * Forms that a word may have in documents, the word itself first: Russian declension and English plurals. This is a guess:
 * the caller keeps the forms that the catalogue has. The index holds words as written, so a better guess needs no new
 * index.
 */
export function formsOf(word: string): readonly string[] {
  if (word.length < SHORTEST_STEM || word.length > LONGEST_WORD) return [word];
  if (RUSSIAN.test(word)) return russianForms(word);
  if (ENGLISH.test(word)) return englishForms(word);
  return [word];
}

const SHORTEST_STEM = 3;
/** Shortest stem for the endings in FLEETING, which would make too many words out of a shorter stem. */
const SHORTEST_FLEETING_STEM = 4;
/** A longer word has no other forms. */
export const LONGEST_WORD = 32;
export const RUSSIAN = /^[а-я]+$/;
const ENGLISH = /^[a-z]+$/;

const list = (text: string): readonly string[] => text.split(' ').sort((a, b) => b.length - a.length);

/** Endings of nouns and adjectives. */
const ENDINGS = list(
  'а я о е и ы у ю ь й ой ей ою ею ом ем ам ям ах ях ов ев ами ями ью ия ии ию ией ие ий иям иями иях ' +
    'ый ая яя ое ее ые ого его ому ему ым им ых их ую юю ыми ими',
);

/** Endings with a fleeting vowel: кроссовки and кроссовок, двушка and двушек; продавец and продавцы. */
const FLEETING = [list('ка ки ку ке кой кам ками ках ок ек'), list('ец ца цу це цы цем цом цев цов цам цами цах')];

function russianForms(word: string): readonly string[] {
  const forms = new Set([word]);
  for (const family of FLEETING) {
    const ending = family.find((candidate) => word.endsWith(candidate));
    if (ending === undefined || word.length - ending.length < SHORTEST_FLEETING_STEM) continue;
    const stem = word.slice(0, -ending.length);
    for (const other of family) forms.add(stem + other);
  }
  // A word with a fleeting vowel has no endings beside those of FLEETING.
  if (forms.size > 1) return [...forms];
  const ending = ENDINGS.find(
    (candidate) => word.endsWith(candidate) && word.length - candidate.length >= SHORTEST_STEM,
  );
  const stem = word.slice(0, word.length - (ending?.length ?? 0));
  forms.add(stem);
  for (const other of ENDINGS) forms.add(stem + other);
  return [...forms];
}

function englishForms(word: string): readonly string[] {
  const forms = new Set([word, `${word}s`]);
  if (/(?:s|x|z|ch|sh)$/.test(word)) forms.add(`${word}es`);
  if (/[^aeiou]y$/.test(word)) forms.add(`${word.slice(0, -1)}ies`);
  if (/[^su]s$/.test(word) && word.length > SHORTEST_STEM) forms.add(word.slice(0, -1));
  if (/(?:s|x|z|ch|sh)es$/.test(word)) forms.add(word.slice(0, -2));
  if (/[^aeiou]ies$/.test(word)) forms.add(`${word.slice(0, -3)}y`);
  return [...forms];
}
