import assert from 'node:assert/strict';
import { test } from 'node:test';
import { k6Environment } from '../../../loadtest/run/k6-environment.ts';

const RUN = { id: 'run', baseUrls: ['http://a', 'http://b'], adminUrls: [], baseRps: 12.5, queries: '/q.tsv' };

test('a script is told what was wished, and nothing of what nobody wished', () => {
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

test('the token of the local stack is told, whatever else is in the environment', () => {
  assert.equal(k6Environment({ ...RUN, adminToken: 'choose-one', numbers: {} })['ADMIN_TOKEN'], 'choose-one');
});

test('the rate that was found is told, not the one that was asked for', () => {
  assert.equal(k6Environment({ ...RUN, numbers: { 'base-rps': 3 } })['BASE_RPS'], '12.5');
});
