import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lessonOf } from '../../../../loadtest/labs/experiments/timeouts/lesson.ts';
import { abandoning, closing } from './timeouts-figures.ts';

const CALM = closing({ lostShare: 0, opened: 0 });

test('it holds with half the time and half the connections, and the sentence gives the figures', () => {
  const { holds, sentence } = lessonOf({ closes: closing(), abandons: abandoning(), calm: CALM });
  assert.equal(holds, 'yes');
  assert.match(sentence, /10.ms in the mean instead of 41.ms \(4\.1.×\)/);
  assert.match(sentence, /0 connections were opened instead of 6,000/);
});

test('fewer connections alone make the lesson hold in part', () => {
  const lesson = lessonOf({ closes: closing({ meanOfAllMs: 11 }), abandons: abandoning(), calm: CALM });
  assert.equal(lesson.holds, 'partly');
});

test('where no connection was reopened, the number cannot shrink', () => {
  const abandons = abandoning({ meanOfAllMs: 41, opened: 0 });
  const { holds, sentence } = lessonOf({ closes: closing({ opened: 0 }), abandons, calm: CALM });
  assert.equal(holds, 'no');
  assert.match(sentence, /no command was late enough to close anything/);
});

test('equal connections and equal time are not a gain', () => {
  const abandons = abandoning({ meanOfAllMs: 40, opened: 5000 });
  const of = (over: Parameters<typeof closing>[0]) => lessonOf({ closes: closing(over), abandons, calm: CALM });
  assert.equal(of({}).holds, 'no');
  assert.match(of({}).sentence, /costs this store little/);
  assert.match(of({ storeCores: 0.6 }).sentence, /had room for the connections/);
  assert.doesNotMatch(of({ storeCores: 0.6, waitedShare: 0.3 }).sentence, /had room/);
  assert.match(of({ limit: 'both' }).sentence, /the generator was full/);
});

test('a store that loses commands without a slow spell gives no result', () => {
  const calm = closing({ lostShare: 0.3, waitedShare: 0.4 });
  const { holds, sentence } = lessonOf({ closes: closing(), abandons: abandoning(), calm });
  assert.equal(holds, 'unseen');
  assert.match(sentence, /30.% of the commands were lost already, and the store waited for its processor 40.%/);
});

const own = (over: Parameters<typeof closing>[0], perSecondEach = 15) => {
  const adapter = { shipped: abandoning(over), closes: closing({ lostShare: 0.45 }), perSecondEach };
  return lessonOf({ closes: closing({ lostShare: 0.442 }), abandons: abandoning(), calm: CALM, adapter }).sentence;
};

test('the loss of our own adapter is reported, with its place between the two policies', () => {
  const worst = own({ lostShare: 0.513, unsentShare: 0.7 });
  assert.match(
    worst,
    /own adapter lost 51\.3.% as shipped, more than either, and 45.% with a socket timeout of the deadline/,
  );
  assert.match(own({ lostShare: 0.3 }), /30.% as shipped, between both/);
  assert.match(own({ lostShare: 0.01 }), /1.% as shipped, less than either/);
});

test('its breaker is named only when it rejected most of the loss, and slow connections only when they were slow', () => {
  const worst = own({ lostShare: 0.513, unsentShare: 0.7 });
  assert.match(worst, /70.% of what it lost .* before it was sent: .* 15 commands a second, so a few .* open it/);
  assert.doesNotMatch(own({ lostShare: 0.513, unsentShare: 0.7 }, 400), /a breaker of its own/);
  assert.match(own({ lostShare: 0.513, unsentShare: 0.2 }), /20.% of what it lost .* so the breaker is not most of it/);
  assert.match(own({ lostShare: 0.1, unsentShare: 0 }), /no breaker took part in that\.$/);
  assert.doesNotMatch(own({ lostShare: 0 }), /breaker/);
});

test('a store that waited for its processor is reported to have waited', () => {
  const said = (waitedShare: number) =>
    lessonOf({ closes: closing({ waitedShare }), abandons: abandoning(), calm: CALM }).sentence;
  assert.match(said(0.2), /waited for its processor 20.%/);
  assert.doesNotMatch(said(0.05), /waited/);
});
