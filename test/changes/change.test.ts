import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_CHANGE_TEXT, parseChange } from '../../src/changes/change.ts';

const parsed = (value: unknown) => JSON.parse(JSON.stringify(parseChange(value).change));

test('a change has an id alone, or all of its members, as a line of JSON and as its value', () => {
  assert.deepEqual(parsed('{"id":"1"}'), { id: '1', op: 'upsert' });
  const whole = {
    id: 'AB-1',
    op: 'delete',
    text: 'Чайник',
    attributes: { city: 'Омск', price: 990, colours: ['red', 'blue'] },
    was: { text: 'чайник', attributes: { price: 1000 } },
  };
  const read = {
    ...whole,
    attributes: { city: ['Омск'], price: [990], colours: ['red', 'blue'] },
    was: { text: 'чайник', attributes: { price: [1000] } },
  };
  assert.deepEqual(parsed(whole), read);
  assert.deepEqual(parsed(JSON.stringify(whole)), read);
});

test('an id may be a whole number, and null is no value', () => {
  assert.deepEqual(parsed({ id: 42, text: null, attributes: null, was: null }), { id: '42', op: 'upsert' });
  assert.deepEqual(parsed({ id: '1', attributes: { city: null, colours: [] }, was: {} }), {
    id: '1',
    op: 'upsert',
    was: {},
    attributes: { city: [], colours: [] },
  });
});

test('a text beyond its maximum is cut, and that is said', () => {
  const long = 'ы'.repeat(1_000_000);
  for (const given of [{ text: long }, { was: { text: long } }]) {
    const { change, cut } = parseChange({ id: '1', ...given });
    assert.equal(cut, true);
    assert.equal((change.text ?? change.was?.text)?.length, MAX_CHANGE_TEXT);
  }
  assert.equal(parseChange({ id: '1', text: long.slice(0, MAX_CHANGE_TEXT) }).cut, false);
});

for (const [value, message] of [
  ['', /not JSON/],
  ['{"id":"1"', /not JSON/],
  ['[]', /a change must be an object/],
  ['null', /a change must be an object/],
  ['"1"', /a change must be an object/],
  [undefined, /a change must be an object/],
  [{}, /id must be a text of 1 to \d+ bytes/],
  [{ id: '' }, /id must be a text/],
  [{ id: '1\0' }, /without NUL/],
  [{ id: 1.5 }, /id must be a text/],
  [{ id: 2 ** 53 }, /id must be a text/],
  [{ id: 'x'.repeat(10_000) }, /id must be a text/],
  [{ id: ['1'] }, /id must be a text/],
  [{ id: '1', op: 'replace' }, /op must be upsert or delete/],
  [{ id: '1', op: null }, /op must be upsert or delete/],
  [{ id: '1', title: 'x' }, /unknown member "title"; known are id, op, text, attributes, was/],
  [{ id: '1', text: 5 }, /text must be a text/],
  [{ id: '1', attributes: [] }, /attributes must be an object/],
  [{ id: '1', attributes: { city: {} } }, /attributes\.city must be a text, a number, or a list/],
  [{ id: '1', attributes: { city: true } }, /attributes\.city must be/],
  [{ id: '1', attributes: { price: Number.NaN } }, /attributes\.price must be/],
  [{ id: '1', attributes: { colours: ['red', ['blue']] } }, /attributes\.colours must be/],
  [{ id: '1', attributes: { colours: Array(10_000).fill('x') } }, /attributes\.colours must have at most \d+ values/],
  [{ id: '1', attributes: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`a${at}`, 1])) }, /at most 64/],
  [{ id: '1', was: 'x' }, /was must be an object/],
  [{ id: '1', was: { id: '2' } }, /was has an unknown member "id"; known are text, attributes/],
  [{ id: '1', was: { text: 5 } }, /was\.text must be a text/],
  [{ id: '1', was: { attributes: { price: {} } } }, /was\.attributes\.price must be/],
] as const) {
  const shown = (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')).slice(0, 60);
  test(`a change is refused by the name of its faulty member: ${shown}`, () => {
    assert.throws(() => parseChange(value), message);
  });
}

test('a member of every JavaScript object is a member like any other', () => {
  const attributes = JSON.parse('{"__proto__":"x","constructor":"y","toString":1}');
  assert.deepEqual(parseChange({ id: '1', attributes }).change.attributes, {
    ...Object.fromEntries([['constructor', ['y']]]),
    ...Object.fromEntries([['toString', [1]]]),
    ['__proto__']: ['x'],
  });
  assert.throws(() => parseChange('{"id":"1","__proto__":{}}'), /unknown member "__proto__"/);
});
