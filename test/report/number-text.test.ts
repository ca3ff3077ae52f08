import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as text from '../../src/report/format.ts';
import { clockText, elapsedText, utcText } from '../../src/report/format.ts';

const plain = (shown: string): string => shown.replaceAll('\u00a0', ' ');

test('numbers are formatted for reading', () => {
  const cases: readonly (readonly [string, string])[] = [
    [text.countText(1234.4), '1,234'],
    [text.amountText(1234.4), '1,234'],
    [text.amountText(0.534), '0.53'],
    [text.perSecondText(1234.4), '1,234/s'],
    [text.perSecondText(12.34), '12.3/s'],
    [text.perSecondText(0.534), '0.53/s'],
    [text.percentText(0.1234), '12.3 %'],
    [text.percentText(0.05), '5 %'],
    [text.percentText(0.0042), '0.42 %'],
    [text.pointsText(1), '1 point'],
    [text.pointsText(-2.25), '−2.3 points'],
    [text.pointsText(1.04), '1 point'],
    [text.pointsText(-0.96), '−1 point'],
    [text.timesText(6.27), '6.3 ×'],
    [text.timesText(1234), '1,234 ×'],
    [text.bytesText(1536 * 1024 ** 2), '1.5 GiB'],
    [text.durationText(0.42), '0.42 ms'],
    [text.durationText(340), '340 ms'],
    [text.durationText(5600), '5.6 s'],
    [text.durationText(125_000), '2 min 05 s'],
    [text.durationText(3_725_000), '1 h 02 min'],
    [text.durationText(0.04), '0.04 ms'],
    [text.durationText(4.25), '4.3 ms'],
    [text.durationText(187_000), '3 min 07 s'],
    [text.stopwatchText(187_000), '3:07 min'],
    [text.bytesText(512), '512 B'],
    [text.bytesText(2048), '2 KiB'],
    [text.amountText(0), '0'],
    [text.amountText(0.4), '0.4'],
    [text.percentText(0.0001), '0.01 %'],
  ];
  for (const [shown, expected] of cases) assert.equal(plain(shown), expected);
});

test('a share near 0 or 1 is never rounded to 0 or 100 %', () => {
  assert.equal(plain(text.percentText(0.000_01)), '<0.01 %');
  assert.equal(plain(text.percentText(0.999_9)), '>99.9 %');
  assert.equal(plain(text.percentText(1)), '100 %');
  assert.equal(plain(text.percentText(0)), '0 %');
});

test('a unit never changes in the middle of a number: 59.97 s are a minute', () => {
  assert.equal(plain(text.durationText(59_970)), '1 min 00 s');
  assert.equal(plain(text.durationText(999.7)), '1 s');
  assert.equal(plain(text.durationText(3_599_700)), '1 h 00 min');
});

test('a range has its unit once, and one value when both ends read the same', () => {
  assert.equal(plain(text.rangeText({ low: 1.3, high: 1.6 }, text.timesText)), '1.3–1.6 ×');
  assert.equal(plain(text.rangeText({ low: 1, high: 1 }, text.percentText)), '100 %');
  assert.equal(plain(text.rangeText({ low: 20 }, text.timesText)), 'over 20 ×');
});

test('a value that was not measured is a dash', () => {
  const { rangeText, elapsedText, clockText, utcText, plural, ...numbers } = text;
  assert.equal(rangeText(undefined, text.timesText), 'too little load to say');
  for (const show of Object.values(numbers).filter((one) => typeof one === 'function')) {
    assert.deepEqual([undefined, Number.NaN, Number.POSITIVE_INFINITY].map(show), ['–', '–', '–']);
  }
});

test('times are elapsed and UTC', () => {
  assert.deepEqual([0, 5340, 725_300, 3_725_300, -400].map(elapsedText), [
    '+0:00.0\u00a0min',
    '+0:05.3\u00a0min',
    '+12:05.3\u00a0min',
    '+1:02:05.3\u00a0h',
    '−0:00.4\u00a0min',
  ]);
  assert.deepEqual([0, 65, 3600].map(clockText), ['0:00', '1:05', '1:00:00']);
  assert.equal(utcText(Date.UTC(2026, 10, 21, 6, 43, 48, 317)), '2026-11-21T06:43:48.317Z');
  assert.equal(utcText(1e20), '–');
});
