import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearest } from '../../src/schema/faults.ts';
import {
  formatDuration,
  formatHostPort,
  formatSize,
  parseDuration,
  parseHostPort,
  parseSize,
} from '../../src/schema/units.ts';

test('every whole number of milliseconds is unchanged after formatting and parsing', () => {
  fc.assert(fc.property(fc.nat(999_999_999), (ms) => parseDuration(formatDuration(ms)) === ms));
});

test('every whole number of bytes is unchanged after formatting and parsing', () => {
  fc.assert(fc.property(fc.nat(999_999_999), (bytes) => parseSize(formatSize(bytes)) === bytes));
  for (const bytes of [2 ** 30, 3 * 2 ** 20, 1.5 * 2 ** 30, 64 * 2 ** 30]) {
    assert.equal(parseSize(formatSize(bytes)), bytes);
  }
});

test('every address is unchanged after formatting and parsing', () => {
  const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(host, fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      assert.deepEqual(parseHostPort(formatHostPort({ host: name, port })), { host: name, port });
    }),
  );
});

test('no text makes a parser throw, and every parsed value is a whole number, not negative', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const value of [parseDuration(text), parseSize(text)]) {
        assert.ok(value === undefined || (Number.isSafeInteger(value) && value >= 0));
      }
      const address = parseHostPort(text);
      assert.ok(address === undefined || (address.port > 0 && address.port <= 65_535));
    }),
  );
});

test('a fraction is parsed exactly when it is a whole millisecond or byte, and refused otherwise', () => {
  assert.equal(parseDuration('1.5s'), 1500);
  assert.equal(parseDuration('1.001s'), 1001);
  assert.equal(parseDuration('0.5ms'), undefined);
  assert.equal(parseSize('1.5KiB'), 1536);
  assert.equal(parseSize('0.1KiB'), undefined);
});

test('a number without a unit, with a sign, with a space or with an unknown unit is refused', () => {
  for (const text of ['5', '-5s', '5 s', '5S', '5sec', '1h30m', '', 's', '１s', '5s\n']) {
    assert.equal(parseDuration(text), undefined, JSON.stringify(text));
  }
  for (const text of ['5', '5MB', '5M', '5mib', '5 MiB']) assert.equal(parseSize(text), undefined, text);
  for (const text of ['a', 'a:', ':1', 'a:0', 'a:65536', 'redis://a:1', '::1:6379', 'a b:1', 'a:1\n', '[a]:1x']) {
    assert.equal(parseHostPort(text), undefined, JSON.stringify(text));
  }
});

test('a mistyped name finds the nearest known name, an unrelated one finds none', () => {
  const known = ['ttl', 'staleWhileRevalidate', 'deadline', 'hardDeadline', 'connectTimeout', 'drain'];
  assert.equal(nearest('deadlne', known), 'deadline');
  assert.equal(nearest('ttlMs', known), 'ttl');
  assert.equal(nearest('connect_timeout', known), 'connectTimeout');
  assert.equal(nearest('stalewhilerevalidate', known), 'staleWhileRevalidate');
  assert.equal(nearest('drian', known), 'drain');
  assert.equal(nearest('colour', known), undefined);
  assert.equal(nearest('', known), undefined);
});
