import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CounterStore, QueryCount } from '../../src/popularity/shared.ts';
import { until } from '../until.ts';

export interface CountersUnderTest {
  readonly counters: CounterStore;
  /** The counters of another process. */
  readonly other: CounterStore;
  /** Counters with windows that are short enough for a test. */
  readonly brief: { readonly counters: CounterStore; readonly windowMs: number };
  /** Lets time pass for the short windows. */
  readonly pass: (ms: number) => Promise<void>;
  /** Searches stored for a domain, summed over windows. */
  readonly held: (domain: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Generous, for slow machines: the contract tests results and not speed. */
const DEADLINE_MS = 60_000;

const count = (search: string, times: number): QueryCount => ({ search, count: times });

/** The promises of every counter store (src/popularity/shared.ts). */
export function countersContract(name: string, setUp: () => Promise<CountersUnderTest>): void {
  describe(`counters contract: ${name}`, () => {
    let under: CountersUnderTest;
    before(async () => {
      under = await setUp();
    });
    after(() => under?.stop());
    const add = (domain: string, ...counts: readonly QueryCount[]) => under.counters.add(domain, counts, DEADLINE_MS);
    const top = (domain: string, n = 1000) => under.other.top(domain, n, DEADLINE_MS);

    test('without searches the top is empty', async () => {
      assert.deepEqual(await top('unknown'), []);
      assert.equal(await add('unknown'), true);
      assert.equal(await under.held('unknown'), 0);
    });

    test('the counts of all processes are summed per domain, most asked first', async () => {
      assert.equal(await add('goods', count('q=a', 3), count('q=b', 7), count('q=c', 1)), true);
      assert.equal(await under.other.add('goods', [count('q=a', 5), count('q=d', 2)], DEADLINE_MS), true);
      await add('good', count('q=a', 1));
      const all = [count('q=a', 8), count('q=b', 7), count('q=d', 2), count('q=c', 1)];
      assert.deepEqual(await top('goods'), all);
      assert.deepEqual(await top('goods', 2), all.slice(0, 2));
      assert.deepEqual(await top('goods', 0), []);
      assert.deepEqual(await top('goods', -1), []);
      assert.deepEqual(await top('good'), [count('q=a', 1)]);
    });

    test('a search is returned as it was added, with any characters', async () => {
      const odd = ['q=ёлка&filter=price:1..2', 'q=\'"\\', 'q=a\r\nb', 'q=\0', 'q=😀', ' ', '7', '-1', 'nan'];
      const counts = odd.map((search, index) => count(search, odd.length - index));
      assert.equal(await add('odd', ...counts), true);
      assert.deepEqual(await top('odd'), counts);
    });

    test('a search that is too long or has no valid count is left out and reported; the others are counted', async () => {
      const [longest, longer] = [`q=${'x'.repeat(1022)}`, `q=${'ё'.repeat(512)}`];
      assert.equal(await add('bad', count(longest, 2)), true);
      assert.equal(await add('bad', count(longer, 9), count('q=a', 1)), false);
      for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        assert.equal(await add('bad', count('q=b', wrong), count('q=a', 1)), false, String(wrong));
      }
      assert.deepEqual(await top('bad'), [count('q=a', 5), count(longest, 2)]);
    });

    test('many counts at once, from many processes', async () => {
      const counts = Array.from({ length: 300 }, (_, index) => count(`q=${index}`, 1000 - index));
      const added = await Promise.all([
        add('many', ...counts),
        under.other.add('many', counts, DEADLINE_MS),
        ...counts.slice(0, 50).map((each) => add('many', each)),
      ]);
      assert.ok(added.every(Boolean));
      const found = await top('many');
      assert.deepEqual(found?.[0], count('q=0', 3000));
      assert.equal(found?.length, 300);
      assert.deepEqual(found?.at(-1), count('q=299', 1402));
    });

    test('above the maximum number of searches the least asked are removed, and a top has at most a thousand', async () => {
      for (let first = 0; first < 10_400; first += 400) {
        const counts = Array.from({ length: 400 }, (_, index) => count(`q=${first + index}`, 20_000 - first - index));
        assert.equal(await add('bounded', ...counts), true);
      }
      assert.equal(await under.held('bounded'), 10_000);
      const found = await top('bounded', 5000);
      assert.equal(found?.length, 1000);
      assert.deepEqual(found?.[0], count('q=0', 20_000));
      assert.deepEqual(found?.at(-1), count('q=999', 19_001));
    });

    test('older counts weigh less than new ones, and expire in the end', async () => {
      const { counters, windowMs } = under.brief;
      // A machine that stalls lets more windows pass between two calls: then it is tried again.
      let [domain, tries] = ['', 0];
      await until('an old count of two or three windows ago', async () => {
        tries += 1;
        domain = `brief-${tries}`;
        await counters.add(domain, [count('q=old', 10)], DEADLINE_MS);
        await under.pass(2 * windowMs);
        await counters.add(domain, [count('q=new', 30)], DEADLINE_MS);
        const [latest, old] = (await counters.top(domain, 10, DEADLINE_MS)) ?? [];
        assert.deepEqual([latest?.search, old?.search], ['q=new', 'q=old']);
        assert.ok(old !== undefined && old.count > 4.5 && old.count < 7, JSON.stringify(old));
      });
      await until('both to expire', async () => {
        await under.pass(windowMs);
        assert.deepEqual(await counters.top(domain, 10, DEADLINE_MS), []);
      });
      assert.equal(await under.held(domain), 0);
    });

    test('with a deadline of 0 nothing rejects, and it works afterwards', async () => {
      const counts = Array.from({ length: 300 }, (_, index) => count(`q=${index}`, 1));
      const [added, found] = await Promise.all([
        under.counters.add('late', counts, 0),
        under.counters.top('late', 5, 0),
      ]);
      assert.equal(typeof added, 'boolean');
      assert.ok(found === undefined || found.length <= 5);
      assert.equal(await add('late', count('q=after', 1000)), true);
      assert.deepEqual((await top('late', 1))?.[0], count('q=after', 1000));
    });
  });
}
