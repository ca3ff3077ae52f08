import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmFlush } from '../../../loadtest/k6/kit/environment.ts';

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
