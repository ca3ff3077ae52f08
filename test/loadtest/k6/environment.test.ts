import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmFlush, readTarget } from '../../../loadtest/k6/kit/environment.ts';

test('no load is sent without a configured target', () => {
  for (const BASE_URL of [undefined, '', ' , ']) {
    assert.throws(
      () => readTarget({ BASE_URL }),
      /^Error: BASE_URL is missing: load goes only to hosts that were named/,
    );
  }
});

test('several processes are separated by commas, and a trailing slash is ignored', () => {
  const { baseUrls } = readTarget({ BASE_URL: 'http://a.example:8080/, https://b.example/shop/,http://[::1]:8090' });
  assert.deepEqual(baseUrls, ['http://a.example:8080', 'https://b.example/shop', 'http://[::1]:8090']);
});

test('an address with another scheme, credentials, a query or plain words is refused, and its variable is named', () => {
  for (const bad of [
    'ftp://a',
    'a.example',
    'http://user:secret@a',
    'http://a?x=1',
    'http://a#b',
    'http://',
    'http://a b',
  ]) {
    assert.throws(() => readTarget({ BASE_URL: bad }), /BASE_URL: .* is no address; allowed: http\(s\):\/\/host/, bad);
    assert.throws(() => readTarget({ BASE_URL: 'http://a', ADMIN_URL: bad }), /ADMIN_URL: .* is no address/, bad);
  }
});

test('a script that flushes reports all missing settings at once', () => {
  assert.throws(
    () => readTarget({}, true),
    (error: Error) =>
      ['BASE_URL', 'ADMIN_URL', 'ADMIN_TOKEN'].every((name) => error.message.includes(`${name} is missing`)),
  );
  const target = readTarget(
    { BASE_URL: 'http://a', ADMIN_URL: 'http://a:81,http://b:81', ADMIN_TOKEN: 'choose-one' },
    true,
  );
  assert.deepEqual(target, { baseUrls: ['http://a'], adminUrls: ['http://a:81', 'http://b:81'], token: 'choose-one' });
});

test('without an admin address no request goes to an admin API, and that is not an error', () => {
  assert.deepEqual(readTarget({ BASE_URL: 'http://a' }), { baseUrls: ['http://a'], adminUrls: [] });
});

const HERE = ['http://127.0.0.1:8080', 'http://localhost:8080', 'https://[::1]:8443', 'http://127.9.9.9/serp'];
const FAR = [
  'http://10.0.0.7:8080',
  'https://staging.example',
  'http://localhost.example:80',
  'http://127.0.0.1.example/',
  'http://0.0.0.0:8080',
];

function confirm(baseUrl: string, adminUrl: string, flush?: string): void {
  confirmFlush(flush === undefined ? {} : { FLUSH: flush }, { baseUrls: [baseUrl], adminUrls: [adminUrl] });
}

for (const url of HERE) {
  test(`${url} is this machine: its cache may be flushed without confirmation`, () => confirm(url, url));
}

for (const url of FAR) {
  test(`${url} may belong to others: it is named, and flushed only after confirmation`, () => {
    const refusal = (error: Error): boolean => error.message.includes(url) && error.message.includes('FLUSH=yes');
    assert.throws(() => confirm(url, HERE[0] ?? ''), refusal);
    assert.throws(() => confirm(HERE[0] ?? '', url), refusal);
    assert.throws(() => confirm(url, url, 'true'), refusal);
    confirm(url, url, 'yes');
  });
}
