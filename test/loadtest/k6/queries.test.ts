import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Ask,
  type AskerOptions,
  createAsker,
  createOnce,
  numbersOf,
  readMix,
  targetOf,
} from '../../../loadtest/k6/kit/queries.ts';
import type { Query } from '../../../loadtest/k6/kit/query-file.ts';
import { canonicalText } from '../../../src/search/canonical.ts';
import { plain } from '../../plain.ts';

const MIX: AskerOptions['mix'] = { exponent: 1, offset: 0, onceShare: 0.3, seed: 1, pages: true };
const COUNT = 30_000;

/** Two domains in turn, and every tenth line with parameters. */
const QUERIES: readonly Query[] = Array.from({ length: 400 }, (_, at) => ({
  domain: at % 2 === 0 ? 'goods' : 'auto',
  text: `${letters(at)} ${letters(at + 1)}`,
  parameters: at % 10 === 0 ? 'facet=brand' : '',
}));

function letters(at: number): string {
  return `${at % 2 === 0 ? 'wort' : 'слово'}${[...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}`;
}

function asks(options: Partial<AskerOptions> = {}, count = COUNT): Ask[] {
  const ask = createAsker({ queries: QUERIES, mix: MIX, ...options });
  return Array.from({ length: count }, (_, n) => ask(n));
}

const share = (list: readonly Ask[], which: (ask: Ask) => boolean): number => list.filter(which).length / list.length;
/** Five standard deviations of a share of COUNT. */
const about = (seen: number, wanted: number, of = COUNT): void =>
  assert.ok(Math.abs(seen - wanted) <= 5 * Math.sqrt((wanted * (1 - wanted)) / of), `${seen}, not ${wanted}`);

test('search n is always the same, in whatever order searches are requested', () => {
  const first = createAsker({ queries: QUERIES, mix: MIX });
  const second = createAsker({ queries: QUERIES, mix: MIX });
  const order = [7, 3, 9_999, 0, 500, 3];
  assert.deepEqual(order.map(first), order.toReversed().map(second).toReversed());
});

test('consecutive searches are equal no more often than any two searches', () => {
  const ranks = asks({ mix: { ...MIX, onceShare: 0 } }).map(({ rank }) => rank);
  const harmonic = QUERIES.reduce((sum, _, at) => sum + 1 / (at + 1), 0);
  const alike = QUERIES.reduce((sum, _, at) => sum + (1 / (at + 1) / harmonic) ** 2, 0);
  for (const apart of [1, 2, 10]) {
    about(ranks.filter((rank, n) => rank === ranks[n + apart]).length / COUNT, alike);
  }
});

test('a repeated search is a line of the file, with the frequency of its rank', () => {
  const repeated = asks().filter(({ once }) => !once);
  for (const { rank = -1, domain, q, parameters } of repeated) {
    assert.deepEqual({ domain, text: q, parameters }, QUERIES[rank]);
  }
  const harmonic = QUERIES.reduce((sum, _, at) => sum + 1 / (at + 1), 0);
  for (const rank of [0, 1, 9]) {
    const seen = share(repeated, (ask) => ask.rank === rank);
    about(seen, 1 / (rank + 1) / harmonic, repeated.length);
  }
});

test('the configured share of once-only searches is kept, from none to all', () => {
  for (const onceShare of [0, 0.3, 1]) {
    const list = asks({ mix: { ...MIX, onceShare } });
    about(
      share(list, ({ once }) => once),
      onceShare,
    );
  }
});

test('repeated searches also go to the second and third page; once-only searches stay on the first', () => {
  const list = asks();
  const repeated = list.filter(({ once }) => !once);
  const pageShare = (page: number): number => share(repeated, (ask) => ask.page === page);
  about(pageShare(2), 0.12, repeated.length);
  about(pageShare(3), 0.06, repeated.length);
  about(pageShare(1), 0.82, repeated.length);
  assert.ok(list.every(({ once, page }) => !once || page === 1));
  assert.ok(asks({ mix: { ...MIX, pages: false } }).every(({ page }) => page === 1));
});

test('no once-only search comes twice, and the service caches each under its own key', () => {
  const once = asks({ mix: { ...MIX, onceShare: 1 } }, 100_000);
  const keys = new Set(once.map(({ domain, q }) => `${domain} ${canonicalText(q)}`));
  assert.equal(keys.size, once.length);
});

test('once-only searches use the domains of the file, with words of that domain', () => {
  const once = asks({ mix: { ...MIX, onceShare: 1 } });
  const repeated = asks({ mix: { ...MIX, onceShare: 0 } });
  const inAuto = (ask: Ask): boolean => ask.domain === 'auto';
  about(share(once, inAuto), share(repeated, inAuto));
  const words = new Set(QUERIES.filter(({ domain }) => domain === 'auto').flatMap(({ text }) => text.split(' ')));
  const strange = once.filter((ask) => inAuto(ask) && !ask.q.split(' ').every((word) => words.has(word)));
  assert.deepEqual(strange, []);
});

test('a file with too few words for once-only searches is refused before a search is sent', () => {
  const queries: readonly Query[] = [{ domain: 'goods', text: 'red red shoes', parameters: '' }];
  assert.throws(
    () => createAsker({ queries, mix: MIX }),
    /the domain goods has 2 of three letters or more; give it 10, or set ONCE_SHARE to 0/,
  );
  assert.equal(createAsker({ queries, mix: { ...MIX, onceShare: 0 } })(1).q, 'red red shoes');
});

test('the target has the form that the service reads: encoded text, no page 1, parameters unchanged', () => {
  const ask = { q: 'красные & 50%', page: 1, parameters: '', once: false };
  assert.equal(targetOf(ask), '/search?q=%D0%BA%D1%80%D0%B0%D1%81%D0%BD%D1%8B%D0%B5%20%26%2050%25');
  const filtered = { ...ask, domain: 'goods', q: 'tv', page: 3, parameters: 'filter=brand:so%26ny&sort=-price' };
  assert.equal(targetOf(filtered), '/search?domain=goods&q=tv&page=3&filter=brand:so%26ny&sort=-price');
});

test('the mix comes from the script unless a variable overrides it', () => {
  assert.deepEqual(readMix({}, MIX), MIX);
  assert.deepEqual(readMix({ EXPONENT: '0.7', OFFSET: '10', ONCE_SHARE: '0', SEED: '42' }, MIX), {
    exponent: 0.7,
    offset: 10,
    onceShare: 0,
    seed: 42,
    pages: true,
  });
  const { seed: _, ...seedless } = MIX;
  assert.deepEqual(plain(readMix({ SEED: '' }, seedless)), seedless);
  assert.equal(readMix({ SEED: '0' }, seedless).seed, 0);
});

for (const [name, value, allowed] of [
  ['EXPONENT', '0', 'from 0.1 to 3'],
  ['EXPONENT', 'steep', 'from 0.1 to 3'],
  ['OFFSET', '-1', 'from 0 to 1000'],
  ['ONCE_SHARE', '40', 'from 0 to 1'],
  ['SEED', '1.5', 'a whole number'],
  ['SEED', '-1', 'from 0 to'],
  ['SEED', '4294967296', 'from 0 to 4294967295'],
] as const) {
  test(`${name}=${value} is refused, with the allowed values`, () => {
    assert.throws(
      () => readMix({ [name]: value }, MIX),
      (error: Error) => error.message.includes(name) && error.message.includes(allowed),
    );
  });
}

const TEN = 'ah be ce de ef eg he ie je ka'.split(' ');

test('all pairs come before one repeats, and a repeated pair gets one more word: the same text never comes twice', () => {
  const once = createOnce({ words: TEN }, 5);
  // There are 70 pairs, so COUNT reaches far into texts of four words.
  const texts = Array.from({ length: 20_000 }, (_, n) => once(n));
  assert.equal(new Set(texts).size, texts.length);
  assert.ok(texts.slice(0, 70).every((text) => text.split(' ').length === 2));
  assert.ok(texts.slice(70, 700).every((text) => text.split(' ').length === 3));
});

test('the two words are neither equal nor neighbours in the list', () => {
  const words = TEN;
  const once = createOnce({ words: TEN }, 5);
  for (let n = 0; n < 70; n += 1) {
    const [first = '', second = ''] = once(n).split(' ');
    const apart = Math.abs(words.indexOf(first) - words.indexOf(second));
    assert.ok(apart > 1 && apart < words.length - 1, `${first} ${second}`);
  }
});

const DRAWS = 100_000;
/** The draw-th number of each n, centred on 0. */
function numbers(seed: number, draw: number): number[] {
  return Array.from({ length: DRAWS }, (_, n) => {
    const next = numbersOf(seed, n);
    for (let before = 0; before < draw; before += 1) next();
    return next() - 0.5;
  });
}

test('the same seed and n give the same numbers, and another seed or n gives others', () => {
  const list = (seed: number, n: number): number[] => Array.from({ length: 8 }, numbersOf(seed, n));
  assert.deepEqual(list(1, 7), list(1, 7));
  const others = [list(1, 7), list(1, 8), list(2, 7), list(7, 1), list(0, 0)];
  assert.equal(new Set(others.flat()).size, 40);
});

test('numbers are uniform over all sixteenths of 0 to 1', () => {
  for (const draw of [0, 1, 5]) {
    const bins = new Array<number>(16).fill(0);
    for (const value of numbers(42, draw)) {
      assert.ok(value >= -0.5 && value < 0.5);
      const bin = Math.floor((value + 0.5) * 16);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const wanted = DRAWS / 16;
    const statistic = bins.reduce((sum, seen) => sum + (seen - wanted) ** 2 / wanted, 0);
    assert.ok(statistic < 15 + 5 * Math.sqrt(30), `${statistic} at 15 degrees of freedom, draw ${draw}`);
  }
});
