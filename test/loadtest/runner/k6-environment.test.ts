import assert from 'node:assert/strict';
import { test } from 'node:test';
import { k6Environment } from '../../../loadtest/runner/k6-program.ts';

const RUN = { id: 'run', baseUrls: ['http://a', 'http://b'], adminUrls: [], baseRps: 12.5, queries: '/q.tsv' };

test('a script gets the variables of the given options, and no variable for an option that was not given', () => {
  assert.deepEqual(k6Environment({ ...RUN, numbers: { seed: 0, 'once-share': 0.45 } }), {
    RUN_ID: 'run',
    BASE_URL: 'http://a,http://b',
    ADMIN_URL: '',
    QUERIES: '/q.tsv',
    SEED: '0',
    ONCE_SHARE: '0.45',
    BASE_RPS: '12.5',
  });
});

test('the script gets the token of the local stack, whatever the environment contains', () => {
  assert.equal(k6Environment({ ...RUN, adminToken: 'choose-one', numbers: {} })['ADMIN_TOKEN'], 'choose-one');
});

test('the script gets the measured rate, not the requested one', () => {
  assert.equal(k6Environment({ ...RUN, numbers: { 'base-rps': 3 } })['BASE_RPS'], '12.5');
});
