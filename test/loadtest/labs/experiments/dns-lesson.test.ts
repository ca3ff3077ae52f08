import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, fillOf } from '../../../../loadtest/labs/experiments/dns/command.ts';
import { isDisturbed, lessonOf } from '../../../../loadtest/labs/experiments/dns/lesson.ts';
import { dnsRow } from './dns-rows.ts';

const ADDRESSES = dnsRow('addresses', 'address', 0.08);
const HEALTHY = dnsRow('names', { kind: 'healthy' }, 0.09);
const SLOW = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.4);
const FAILING = dnsRow('SERVFAIL', { kind: 'servfail' }, 0.99);

test('it holds when names lose more than addresses with every faulty resolver', () => {
  const { holds, sentence } = lessonOf([ADDRESSES, HEALTHY, SLOW, FAILING]);
  assert.equal(holds, 'yes');
  assert.match(sentence, /addresses lost 8.%.*40.% with answers after 200 ms, 99.% with SERVFAIL/);
  assert.match(sentence, /healthy resolver cost nothing that can be seen/);
  assert.match(sentence, /Connections that were kept asked for no name/);
});

test('it holds in part when only one faulty resolver causes loss', () => {
  const quick = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.1);
  assert.equal(lessonOf([ADDRESSES, HEALTHY, quick, FAILING]).holds, 'partly');
});

test('it does not hold when names lose no more than addresses', () => {
  const quick = dnsRow('answers after 200 ms', { kind: 'slow', ms: 200 }, 0.1);
  assert.equal(lessonOf([ADDRESSES, HEALTHY, quick]).holds, 'no');
});

test('loss with a healthy resolver is reported', () => {
  const dear = dnsRow('names', { kind: 'healthy' }, 0.18);
  assert.match(lessonOf([ADDRESSES, dear, SLOW, FAILING]).sentence, /Even a healthy resolver cost 10.points/);
});

test('a start that did not finish is reported, and so is a connection that broke by itself', () => {
  const never = dnsRow('SERVFAIL', { kind: 'servfail' }, 0.99, { startedMs: undefined });
  const broken = dnsRow('names', { kind: 'healthy' }, 0.09, { kept: { ...HEALTHY.kept, asked: 2 } });
  const { sentence } = lessonOf([ADDRESSES, broken, SLOW, never]);
  assert.match(sentence, /did not end in the time given with SERVFAIL/);
  assert.match(sentence, /2 names were asked for/);
});

test('reads lost with addresses while nothing was cut mean a disturbed baseline, so there is no answer', () => {
  const disturbed = dnsRow('addresses', 'address', 0.08, { kept: { ...ADDRESSES.kept, answered: 400, failed: 600 } });
  const { holds, sentence } = lessonOf([disturbed, HEALTHY, SLOW, FAILING]);
  assert.equal(holds, 'unseen');
  assert.match(sentence, /^It could not be seen here: .*60.% with addresses/);
});

test('a row that lost reads is disturbed only if no name was resolved', () => {
  const lost = { ...ADDRESSES.kept, answered: 900, failed: 100 };
  assert.equal(isDisturbed({ kept: lost }), true);
  assert.equal(isDisturbed({ kept: { ...lost, asked: 3 } }), false);
  assert.equal(isDisturbed(ADDRESSES), false);
});

test('a command reads an existing page, and cuts connections beside the load only where the row did', () => {
  assert.match(fillOf(2000), /^redis-cli SET memtier-1 /);
  for (const { variant } of [ADDRESSES, HEALTHY]) {
    const [cut, kept] = [commandOf(variant, true), commandOf(variant, false)];
    assert.match(
      cut,
      /--key-minimum=1 --key-maximum=1 .*--test-time=10 .*& for .*CLIENT KILL TYPE normal; done; wait$/,
    );
    assert.doesNotMatch(kept, /KILL|reconnect/);
  }
});
