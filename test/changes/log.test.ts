import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { fingerprint } from '../../src/cache/codec.ts';
import type { Interest } from '../../src/cache/entry.ts';
import type { Change } from '../../src/changes/change.ts';
import { type ChangeLog, createChangeLog } from '../../src/changes/log.ts';
import { encodeChange, interestOf, mayChange } from '../../src/changes/record.ts';
import { formsOf } from '../../src/engines/analysis/forms.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { DOMAIN, idsOf, searchFor } from './harness.ts';

const MIB = 2 ** 20;

const interest = (...pairs: (readonly [string, string])[]) => interestOf(searchFor(...pairs).request);

/** Applies a change as a batch of its own. */
function apply(log: ChangeLog, change: Partial<Change> & { readonly id: string }, position: number): number {
  log.append(encodeChange({ op: 'upsert', ...change }, DOMAIN), position);
  return log.head();
}

test('a page is judged by what changed after it, on it and beside it', () => {
  const log = createChangeLog({ maxBytes: MIB });
  const born = apply(log, { id: '0' }, 1000);
  const asked = interest(['q', 'кроссовки nike'], ['filter', 'price:1000..2000']);
  const judged = (change: Partial<Change>, ids: number[] = idsOf('1', '2')) => {
    const from = log.head();
    apply(log, { id: 'new', ...change }, 2000 + from);
    return log.judge(ids, from, asked)?.kind;
  };
  assert.equal(log.judge(idsOf('1'), born, asked), undefined);
  assert.equal(judged({ id: '2' }), 'changed');
  assert.equal(judged({ id: '2', op: 'delete' }), 'deleted');
  assert.equal(judged({ id: '3', op: 'delete' }), undefined);
  assert.equal(judged({ text: 'Кроссовки Nike Air' }), 'entered');
  assert.equal(judged({ text: 'Кроссовкам Nike' }), 'entered', 'another form');
  assert.equal(judged({ text: 'Кроссовер Nissan' }), undefined, 'one word of two');
  assert.equal(judged({ text: 'кроссовки nike', op: 'delete' }), 'entered', 'the total falls');
  assert.equal(judged({ text: 'кроссовки nike', attributes: { price: 5000 } }), undefined, 'outside the filter');
  assert.equal(judged({ text: 'кроссовки nike', attributes: { price: 1500 } }), 'entered');
  const text = 'кроссовки nike';
  assert.equal(judged({ text, attributes: { price: 5000 }, was: { attributes: { price: 1500 } } }), 'entered', 'left');
  assert.equal(judged({ text, attributes: { price: 5000 }, was: { attributes: { price: 6000 } } }), undefined);
  assert.equal(judged({ text, attributes: { city: 'Москва' }, was: { attributes: { city: 'Омск' } } }), undefined);
  assert.equal(judged({ attributes: { price: 1500 } }), 'entered', 'its words are not known');
  assert.equal(judged({ attributes: { price: 5000 } }), undefined);
  assert.equal(judged({ text, attributes: { price: '5 000' } }), 'entered', 'a value that is not read');
  assert.equal(judged({ text, attributes: { price: '' } }), 'entered');
  assert.equal(judged({ text, attributes: { price: '5000' } }), undefined);
  assert.equal(judged({ text, attributes: { price: [] } }), undefined, 'no value');
  assert.equal(judged({ text, was: { attributes: { price: 5000 } } }), 'entered', 'any new value');
  assert.equal(judged({ attributes: { city: 'Омск' } }), undefined, 'the page does not depend on the city');
  assert.equal(judged({ text: 'Nike', was: { text: 'кроссовки nike' } }), 'entered', 'its words were there');
});

test('of the changes on a page a deletion is told, and a judgement reads a bounded number of changes', () => {
  const log = createChangeLog({ maxBytes: 8 * MIB });
  const from = apply(log, { id: '0' }, 1);
  apply(log, { id: '1' }, 2);
  apply(log, { id: '2', op: 'delete' }, 3);
  assert.equal(log.judge(idsOf('1', '2'), from)?.kind, 'deleted');
  assert.equal(log.judge(idsOf('2', '1'), from)?.kind, 'deleted');
  const asked = interest(['q', 'nike'], ['filter', 'price:1000..2000']);
  const outside = { id: '3', text: 'nike', attributes: { price: 5 } };
  const before = log.head();
  for (let count = 0; count < 990; count += 1) apply(log, outside, 4 + count);
  assert.equal(log.judge([], before, asked), undefined);
  for (let count = 0; count < 20; count += 1) apply(log, outside, 2000 + count);
  assert.equal(log.judge([], before, asked)?.kind, 'unknown');
});

test('days are compared, and an attribute that is searched is a text', () => {
  const attributes = [
    { name: 'day', type: 'date', facet: false, sort: true },
    { name: 'brand', type: 'string', facet: false, sort: false, search: true },
  ] as const;
  const domain: SearchDomain = { ...DOMAIN, attributes };
  const enters = (change: Partial<Change>, ...pairs: (readonly [string, string])[]): boolean => {
    const record = encodeChange({ id: 'x', op: 'upsert', ...change }, domain);
    return mayChange(record, interestOf(prepareSearch({ pairs }, [domain]).request));
  };
  const may = [
    ['q', 'tent'],
    ['filter', 'day:2026-05-01..2026-05-31'],
  ] as const;
  assert.ok(enters({ text: 'tent', attributes: { day: '2026-05-31' } }, ...may));
  assert.ok(!enters({ text: 'tent', attributes: { day: '2026-06-01' } }, ...may));
  assert.ok(enters({ text: 'tent', attributes: { day: '01.06.2026' } }, ...may), 'not a day that is read');
  assert.ok(
    enters({ text: 'tent', attributes: { brand: 'Nordic' }, was: { attributes: { brand: 'x' } } }, [
      'q',
      'nordic tent',
    ]),
  );
  assert.ok(
    !enters({ text: 'tent', attributes: { day: '2026-05-02' }, was: { attributes: { day: '2026-05-01' } } }, [
      'q',
      'tent',
    ]),
  );
});

test('a document is found by its id, in other spellings and by short words', () => {
  const log = createChangeLog({ maxBytes: MIB });
  const enters = (query: string, change: Partial<Change>): boolean => {
    const from = log.head();
    apply(log, { id: 'x', ...change }, 1000 + from);
    return log.judge([], from, interest(['q', query])) !== undefined;
  };
  assert.ok(enters('ab-12345', { id: 'AB-12345', text: 'чайник' }));
  assert.ok(enters('wifi роутер', { text: 'Роутер Wi-Fi' }));
  assert.ok(enters('wi fi', { text: 'роутер wifi' }));
  assert.ok(enters('rtx4060', { text: 'видеокарта RTX 4060' }));
  assert.ok(enters('16 gb', { text: 'ноутбук 16ГБ' }));
  assert.ok(enters('дом', { text: 'дома в деревне' }));
  assert.ok(enters('skies', { text: 'sky' }));
  assert.ok(enters('müller', { text: 'Mueller' }));
  assert.ok(enters('mueller', { text: 'Müller' }));
  assert.ok(enters('ёлка', { text: 'елки' }));
  for (const [query, text] of [
    ['quax zoom', 'quaxzoom'],
    ['quaxzoom', 'quax zoom'],
    ['колонка blue tooth', 'Колонка BlueTooth'],
    ['светодиодная лента', 'светодиоднаялента'],
    ['asp net', 'ASP.NET'],
    ['aspnet', 'asp.net'],
    ['x-y-z', 'xyz'],
    ['xyz', 'x-y-z'],
    ['usa', 'U.S.A.'],
    ['u s a', 'usa'],
    ['l’eau', 'eau'],
    ['mueller', 'muller'],
    ['ab-123/45', 'ab12345'],
  ] as const) {
    assert.ok(enters(query, { text }), `${query}: ${text}`);
  }
  assert.ok(enters('№ 17q', { id: '№ 17q', text: 'чайник' }));
  assert.ok(!enters('кроссовки nike', { text: 'кроссовки белые' }));
  assert.ok(!enters('стол белый', { text: 'столы' }), 'no word is two of a search');
  assert.ok(enters('слово2400', { text: Array.from({ length: 2600 }, (_, at) => `слово${at}`).join(' ') }));
  assert.ok(enters('studio', { text: 'stud' }), 'another stemmer may cut as much');
  assert.ok(!enters('studio', { text: 'student' }));
  assert.ok(!enters('чайник', { text: 'кастрюля' }));
});

test('no change of a random catalogue is missed, and few pages are called changed that are not', () => {
  const random = seededRandom(45);
  const words = [
    'кроссовки',
    'кроссовок',
    'диван',
    'дивана',
    'кожаный',
    'nike',
    'air',
    'стол',
    'столы',
    'белый',
    'дом',
  ];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const log = createChangeLog({ maxBytes: MIB });
  type Asked = { readonly city: string | undefined; readonly isSorted: boolean; readonly isCounted: boolean };
  const index = new Map<string, { text: string; held: readonly string[]; city: string; price: number }>();
  const formsOfWord = new Map(words.map((word) => [word, new Set(formsOf(word))]));
  /** The parts of an answer that a page shows; an updated document is another object. */
  const answer = (query: readonly string[], { city, isSorted, isCounted }: Asked) => {
    const wanted = query.map((word) => formsOfWord.get(word) ?? new Set());
    const found = [...index].filter(([, { held, city: own }]) => {
      if (city !== undefined && city !== own) return false;
      return wanted.every((forms) => held.some((word) => forms.has(word)));
    });
    const shown = isSorted ? found.toSorted(([, a], [, b]) => a.price - b.price) : found;
    const counts = isCounted ? found.filter(([, document]) => document.city === 'омск').length : 0;
    return { shown: shown.slice(0, 5), figures: `${found.length} ${counts}` };
  };
  type Answer = ReturnType<typeof answer>;
  const isSame = (one: Answer, other: Answer): boolean =>
    one.figures === other.figures && one.shown.every(([, document], at) => document === other.shown[at]?.[1]);
  let [wrong, needless, whole] = [0, 0, 0];
  let pages: {
    query: readonly string[];
    look: Asked;
    answered: Answer;
    ids: readonly number[];
    asked: Interest;
    from: number;
  }[] = [];
  for (let step = 0; step < 600; step += 1) {
    const id = String(Math.floor(random() * 300));
    const before = index.get(id);
    const kind = pick(['attributes', 'deletion', 'text']);
    if (before !== undefined && kind === 'attributes') {
      // Another price or city in its place, told with and without the words.
      const { text, city, price } = before;
      const now = random() < 0.5 ? { city, price: price + 1 } : { city: city === 'омск' ? 'москва' : 'омск', price };
      index.set(id, { ...before, ...now });
      apply(
        log,
        { id, text: pick([text, undefined]), attributes: now, was: { attributes: { city, price } } },
        step * 1e5,
      );
    } else if (before !== undefined && kind === 'deletion') {
      index.delete(id);
      apply(log, { id, op: 'delete', text: before.text, attributes: { city: before.city } }, step * 1e5);
    } else {
      const held = [pick(words), pick(words), `мусор${Math.floor(random() * 300)}`];
      const text = held.join(' ');
      const document = { text, held, city: pick(['москва', 'омск']), price: Math.floor(random() * 100) };
      index.delete(id);
      index.set(id, document);
      const { city, price } = document;
      const was = before && { text: before.text, attributes: { city: before.city, price: before.price } };
      apply(log, { id, text, attributes: { city, price }, was }, step * 1e5);
    }
    pages = pages.filter(({ query, look, answered, ids, asked, from }) => {
      const change = log.judge(ids, from, asked);
      const isRight = isSame(answer(query, look), answered);
      if (change === undefined && !isRight) wrong += 1;
      if (change !== undefined && isRight) needless += 1;
      if (change === undefined && isRight) whole += 1;
      return change === undefined;
    });
    const query = [...new Set([pick(words), pick(words)])];
    const look = { city: pick(['москва', 'омск', undefined]), isSorted: random() < 0.2, isCounted: random() < 0.2 };
    const given = {
      filter: look.city && `city:${look.city}`,
      sort: look.isSorted && 'price',
      facet: look.isCounted && 'city',
    };
    const pairs = Object.entries(given).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
    const answered = answer(query, look);
    const asked = interest(['q', query.join(' ')], ...pairs);
    const ids = answered.shown.map(([id]) => fingerprint(id));
    pages.push({ query, look, answered, ids, asked, from: log.head() });
  }
  assert.equal(wrong, 0);
  assert.ok(whole > 1000, `${whole} judgements of pages that did not change`);
  assert.ok(needless < whole / 20, `${needless} of ${whole} pages were called changed in vain`);
});

test('what the log has forgotten counts as changed, and its memory does not grow', () => {
  const log = createChangeLog({ maxBytes: MIB / 16, maxNumber: 10_000 });
  const first = apply(log, { id: 'first' }, 1);
  for (let number = 0; number < 25_000; number += 1) apply(log, { id: `id ${number}` }, 1 + number * 1024);
  assert.equal(log.judge(idsOf('other'), first)?.kind, 'unknown');
  assert.equal(log.judge(idsOf('id 24999'), log.head() - 1)?.kind, 'changed');
  assert.equal(log.judge(idsOf('id 24998'), log.head() - 1), undefined);
  assert.equal(log.judge(idsOf('other'), log.head()), undefined);
  log.forget(1e12);
  assert.equal(log.judge(idsOf('other'), log.head() - 1)?.kind, 'unknown');
});

test('a page that is older than the recent words is unknown when all of its words were touched since', () => {
  const log = createChangeLog({ maxBytes: MIB });
  const from = apply(log, { id: 'first' }, 1);
  apply(log, { id: '0', text: 'кроссовки nike' }, 2);
  for (let number = 1; number < 5000; number += 1)
    apply(log, { id: '0', text: ['кроссовки', 'nike'][number % 2] }, 2 + number);
  assert.equal(log.judge([], from, interest(['q', 'кроссовки nike']))?.kind, 'unknown');
  assert.equal(log.judge([], from, interest(['q', 'кроссовки nike палатка'])), undefined);
  assert.equal(log.judge([], log.head() - 500, interest(['q', 'кроссовки nike'])), undefined);
});

test('positions are translated to numbers, never to a later one', () => {
  const log = createChangeLog({ maxBytes: MIB });
  // More than the pairs that are kept.
  const steps = 70_000;
  const record = encodeChange({ id: '1', op: 'upsert' }, DOMAIN);
  for (let step = 1; step <= steps; step += 1) log.append(record, step * 30 * 1024);
  assert.equal(log.numberAt(steps * 30 * 1024), steps);
  assert.equal(log.numberAt(1e15), steps);
  assert.equal(log.numberAt((steps - 0.5) * 30 * 1024), steps - 1);
  assert.equal(log.numberAt(1), -1, 'older than all pairs');
  assert.equal(log.numberAt(Number.NaN), -1);
});

test('the memory tells since when it knows every change, and how many changes can enter pages or be on them', () => {
  const log = createChangeLog({ maxBytes: MIB });
  log.forget(0);
  apply(log, { id: 'first', text: 'a sofa' }, 1);
  assert.equal(log.coversFrom(), undefined, 'a gap is not a loss of memory');
  apply(log, { id: 'sold', op: 'delete' }, 2);
  apply(log, { id: 'cheaper', attributes: { price: 5 } }, 3);
  apply(log, { id: 'moved', text: 'a sofa', was: { attributes: { city: 'Рим' } } }, 4);
  assert.deepEqual(log.seen(), { texts: 1, known: 3 });
  const distance = 2 ** 20;
  let dropped = 0;
  for (let count = 1; count <= 20_000; count += 1) {
    apply(log, { id: `${count}`, text: `sofa ${count} in words of its own` }, count * distance);
    const from = log.coversFrom() ?? 0;
    assert.ok(from >= dropped, 'it never goes back');
    dropped = from;
  }
  assert.ok(dropped > distance && dropped < 20_000 * distance, `${dropped / distance}`);
});
