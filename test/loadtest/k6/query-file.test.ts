import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmFlush, readTarget } from '../../../loadtest/k6/kit/environment.ts';
import { MAX_QUERIES, parseQueries } from '../../../loadtest/k6/kit/query-file.ts';
import { plain } from '../../plain.ts';

test('a line is a text, or a domain and a text, or these with parameters', () => {
  const file = 'red shoes\ngoods\tкрасные кроссовки\nauto\tcoupé\tfilter=make:seat,kia&sort=-price\n';
  assert.deepEqual(plain(parseQueries(file)), [
    { text: 'red shoes', parameters: '' },
    { domain: 'goods', text: 'красные кроссовки', parameters: '' },
    { domain: 'auto', text: 'coupé', parameters: 'filter=make:seat,kia&sort=-price' },
  ]);
});

test('comments, empty lines, a byte order mark and Windows line endings are not part of a search', () => {
  const file = '\ufeff# made today\r\n\r\ngoods\tc# book\t\r\n   \r\n#none\r\nlast';
  assert.deepEqual(plain(parseQueries(file)), [
    { domain: 'goods', text: 'c# book', parameters: '' },
    { text: 'last', parameters: '' },
  ]);
});

const FAULTS: readonly (readonly [line: string, says: RegExp])[] = [
  ['goods\tshoes\tfacet=brand\t12', /^line 2: 4 columns; text, domain⇥text and domain⇥text⇥parameters are allowed$/],
  ['Goods!\tshoes', /^line 2: "Goods!" is no domain; small letters, digits and dashes/],
  ['goods\t \tfacet=brand', /^line 2: a text of 0 characters; 1 to 256 are allowed$/],
  ['x'.repeat(257), /^line 2: a text of 257 characters; 1 to 256 are allowed$/],
  ['red\u0000shoes', /^line 2: a control character in the text; none is allowed$/],
  ['sch\ufffdne', /^line 2: it is not UTF-8$/],
  ['goods\tshoes\tfilter=brand:très chic', /^line 2: the parameters ".+" are not encoded; an encoded part/],
  ['goods\tshoes\tfacet', /^line 2: "facet" is no parameter; name=value, several with & between, is allowed$/],
  ['goods\tshoes\t&facet=brand', /^line 2: "" is no parameter/],
  ['goods\tshoes\tfacet=%zz', /^line 2: "facet=%zz" is no parameter/],
  ['goods\tshoes\tq=boots', /^line 2: the parameter q is not allowed; anything but q, domain, page is$/],
  ['goods\tshoes\tfacet=brand&page=2', /^line 2: the parameter page is not allowed/],
  ['goods\tshoes\tdom%61in=auto', /^line 2: the parameter domain is not allowed/],
];

for (const [line, says] of FAULTS) {
  test(`an error names its line and the allowed values: ${JSON.stringify(line.slice(0, 40))}`, () => {
    assert.throws(() => parseQueries(`fine\n${line}\nfine`), { message: says });
  });
}

test('a file without a search is refused', () => {
  assert.throws(() => parseQueries('# nothing\n\n'), /at least one search/);
});

test('the size of a file has a maximum', () => {
  const full = 'a\n'.repeat(MAX_QUERIES);
  assert.equal(parseQueries(full).length, MAX_QUERIES);
  assert.throws(() => parseQueries(`${full}a`), /^Error: line 200001: a query file has at most 200000 searches$/);
});

test('no load is sent without a configured target', () => {
  for (const BASE_URL of [undefined, '', ' , ']) {
    assert.throws(
      () => readTarget({ BASE_URL }),
      /^Error: BASE_URL is missing: load goes only to hosts that were named/,
    );
  }
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
