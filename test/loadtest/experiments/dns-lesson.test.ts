import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lessonOf } from '../../../loadtest/experiments/dns/lesson.ts';
import { dnsRow } from './dns-rows.ts';

const ADDRESSES = dnsRow('addresses', 'address', 0.08);
const HEALTHY = dnsRow('names', { kind: 'healthy' }, 0.09);
const SLOW = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.4);
const FAILING = dnsRow('SERVFAIL', { kind: 'servfail' }, 0.99);

test('it holds when names lose more with every resolver in trouble', () => {
  const { holds, sentence } = lessonOf([ADDRESSES, HEALTHY, SLOW, FAILING]);
  assert.equal(holds, 'yes');
  assert.match(sentence, /addresses lost 8.%.*40.% with answers after 200 ms, 99.% with SERVFAIL/);
  assert.match(sentence, /healthy resolver cost nothing that can be seen/);
  assert.match(sentence, /Connections that were kept asked for no name/);
});

test('it holds in part when only one of them costs anything', () => {
  const quick = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.1);
  assert.equal(lessonOf([ADDRESSES, HEALTHY, quick, FAILING]).holds, 'partly');
});

test('it does not hold when nothing is lost beyond what addresses lose', () => {
  const quick = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.1);
  assert.equal(lessonOf([ADDRESSES, HEALTHY, quick]).holds, 'no');
});

test('a healthy resolver that costs something is said', () => {
  const dear = dnsRow('names', { kind: 'healthy' }, 0.18);
  assert.match(lessonOf([ADDRESSES, dear, SLOW, FAILING]).sentence, /Even a healthy resolver cost 10.points/);
});

test('a start that did not end is said, and a connection that broke by itself too', () => {
  const never = dnsRow('SERVFAIL', { kind: 'servfail' }, 0.99, { startedMs: undefined });
  const broken = dnsRow('names', { kind: 'healthy' }, 0.09, { kept: { ...HEALTHY.kept, asked: 2 } });
  const { sentence } = lessonOf([ADDRESSES, broken, SLOW, never]);
  assert.match(sentence, /did not end in the time given with SERVFAIL/);
  assert.match(sentence, /2 names were asked for/);
});
