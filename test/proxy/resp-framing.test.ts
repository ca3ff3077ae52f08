import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandOf, createRespFramer } from '../../loadtest/proxy/resp-framing.ts';

const VALUES = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':-17\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '$9\r\n$5\r\n*2\r\n+\r\n',
  '*0\r\n',
  '*-1\r\n',
  '*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n',
  '%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*0\r\n',
  '|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n',
  '>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n',
  '_\r\n',
  '#t\r\n',
  ',1.5\r\n',
  '=7\r\ntxt:abc\r\n',
];

test('values come out whole and in order, however their bytes were split', () => {
  const values = fc.array(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(values, fc.array(fc.nat({ max: 20 }), { minLength: 1 }), (sent, sizes) => {
      const framer = createRespFramer();
      const bytes = Buffer.from(sent.join(''));
      const got: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = 1 + (sizes[turn % sizes.length] ?? 0);
        got.push(...framer.push(bytes.subarray(at, at + size)).map(String));
        at += size;
      }
      assert.deepEqual(got, sent);
      assert.equal(framer.keptBytes(), 0);
    }),
  );
});

test('a command gives its words, empty ones and such with line ends as well', () => {
  const words = ['SET', '', 'a\r\n$3\r\nb', 'ж'];
  const bytes = Buffer.from(`*4\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`);
  assert.deepEqual(commandOf(bytes).map(String), words);
});

test('what is not RESP is refused', () => {
  for (const text of ['HTTP/1.1 200 OK\r\n', '$x\r\n', '*1.5\r\n', '$99999999999\r\n', `+${'x'.repeat(100_000)}`]) {
    assert.throws(() => createRespFramer().push(Buffer.from(text)), Error, text.slice(0, 20));
  }
  assert.throws(() => commandOf(Buffer.from('+PING\r\n')));
});
