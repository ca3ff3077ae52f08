import assert from 'node:assert/strict';
import { test } from 'node:test';
import { respCommand } from '../../../../loadtest/labs/kit/mix.ts';

test('the length of an argument is in bytes, not characters', () => {
  const wanted = '*3\r\n$3\r\nSET\r\n$8\r\nключ\r\n$1\r\n1\r\n';
  assert.equal(respCommand(['SET', 'ключ', '1']).toString(), wanted);
});

test('bytes are sent unchanged, also when they are not valid text', () => {
  const value = Buffer.from([0xff, 0x0d, 0x0a, 0x00]);
  const wanted = Buffer.concat([Buffer.from('*2\r\n$1\r\na\r\n$4\r\n'), value, Buffer.from('\r\n')]);
  assert.deepEqual(respCommand(['a', value]), wanted);
});
