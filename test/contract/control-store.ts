import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { ControlRead, ControlStore, ControlValue } from '../../src/control/control-store.ts';
import { until } from '../until.ts';

export interface ControlStoreUnderTest {
  readonly store: ControlStore;
  /** The client of another process on the same server. */
  readonly other: ControlStore;
  /** Deletes all data of the server. */
  readonly lose: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Generous, for slow machines: the contract tests results and not speed. */
const DEADLINE_MS = 60_000;
const TTL_MS = 60_000;
const SWAPPED = { kind: 'swapped' };
const CONFLICT = { kind: 'conflict' };
const ABSENT = { kind: 'absent' };

const tagged = (tag: string, value: Buffer | string = `value of ${tag}`): ControlValue => ({
  tag,
  value: Buffer.from(value),
});

/** The promises of every control store (src/control/control-store.ts). */
export function controlStoreContract(name: string, setUp: () => Promise<ControlStoreUnderTest>): void {
  describe(`control store contract: ${name}`, () => {
    let under: ControlStoreUnderTest;
    before(async () => {
      under = await setUp();
    });
    after(() => under?.stop());
    const read = (domain: string, known?: string): Promise<ControlRead> => under.store.read(domain, known, DEADLINE_MS);
    const swap = (domain: string, expected: string | undefined, next: ControlValue) =>
      under.store.swap(domain, expected, next, DEADLINE_MS);
    const holds = async (domain: string, expected: ControlValue): Promise<void> => {
      const found = await under.other.read(domain, undefined, DEADLINE_MS);
      assert.equal(found.kind, 'value', domain);
      assert.ok(found.kind === 'value' && found.tag === expected.tag, `${domain} is tagged otherwise`);
      assert.ok(found.value.equals(expected.value), `${domain} came back changed`);
    };
    const renewalsOf = async (domain: string, known?: string): Promise<number> => {
      const found = await read(domain, known);
      assert.ok(found.kind === 'value' || found.kind === 'unchanged', found.kind);
      return found.renewals;
    };
    const renew = async (domain: string): Promise<number> => {
      const renewed = await under.store.renew(domain, DEADLINE_MS);
      assert.equal(renewed.kind, 'renewed');
      return renewed.kind === 'renewed' ? renewed.renewals : Number.NaN;
    };
    const report = (domain: string, id: string, value: string, ttlMs = TTL_MS) =>
      under.store.report(domain, id, Buffer.from(value), ttlMs, DEADLINE_MS);
    const reportsOf = async (domain: string): Promise<Record<string, string>> => {
      const found = await under.other.reports(domain, DEADLINE_MS);
      assert.equal(found.kind, 'reports');
      if (found.kind !== 'reports') return {};
      return Object.fromEntries(found.reports.map(({ id, value }) => [id, value.toString()]));
    };

    test('a document that was never written is absent, for any known tag', async () => {
      assert.deepEqual(await read('never-written'), ABSENT);
      assert.deepEqual(await read('never-written', '7-abc'), ABSENT);
    });

    test('every process reads the swapped value: binary, empty, large', async () => {
      const values = {
        binary: Buffer.from(Uint8Array.from({ length: 512 }, (_, index) => index % 256)),
        crlf: Buffer.from('$5\r\nhello\r\n\0'),
        empty: Buffer.alloc(0),
        large: randomBytes(1 << 20),
      };
      for (const [domain, value] of Object.entries(values)) {
        const first = tagged('1-abc', value);
        assert.deepEqual(await swap(domain, undefined, first), SWAPPED, domain);
        await holds(domain, first);
        const next = tagged('2-def', Buffer.concat([value, Buffer.from([0])]));
        assert.deepEqual(await swap(domain, '1-abc', next), SWAPPED, domain);
        await holds(domain, next);
      }
    });

    test('a read with the current tag is answered `unchanged`, and only then', async () => {
      await swap('known', undefined, tagged('1-abc'));
      assert.equal((await read('known', '1-abc')).kind, 'unchanged');
      for (const tag of ['1-ab', '1-abcd', '1-ABC', '2-abc', '', ' ', '\0']) {
        assert.equal((await read('known', tag)).kind, 'value', JSON.stringify(tag));
      }
    });

    test('a swap that expects another tag changes nothing', async () => {
      const there = tagged('4-abc');
      assert.deepEqual(await swap('cas', '3-abc', there), CONFLICT, 'there is no document');
      assert.deepEqual(await read('cas'), ABSENT);
      assert.deepEqual(await swap('cas', undefined, there), SWAPPED);
      for (const expected of [undefined, '', '3-abc', '4-ab', '4-abcd', '5-abc']) {
        assert.deepEqual(await swap('cas', expected, tagged('5-def')), CONFLICT, String(expected));
        await holds('cas', there);
      }
    });

    test('when many writers expect the same tag, exactly one succeeds, for a new document and later', async () => {
      const crowd = (expected: string | undefined, revision: number) =>
        Promise.all(
          Array.from({ length: 40 }, (_, index) =>
            (index % 2 === 0 ? under.store : under.other).swap(
              'crowd',
              expected,
              tagged(`${revision}-w${index}`),
              DEADLINE_MS,
            ),
          ),
        );
      let expected: string | undefined;
      for (let revision = 1; revision <= 5; revision += 1) {
        const results = await crowd(expected, revision);
        assert.equal(results.filter(({ kind }) => kind === 'swapped').length, 1);
        assert.equal(results.filter(({ kind }) => kind === 'conflict').length, 39);
        const winner = `${revision}-w${results.findIndex(({ kind }) => kind === 'swapped')}`;
        await holds('crowd', tagged(winner));
        expected = winner;
      }
    });

    test('domains are independent', async () => {
      const domains = ['goods', 'good', 'goods-2', 'auto'];
      for (const domain of domains) await swap(domain, undefined, tagged('1-abc', domain));
      await renew('goods');
      await report('goods', 'a', 'of goods');
      for (const domain of domains) await holds(domain, tagged('1-abc', domain));
      assert.equal(await renewalsOf('goods'), (await renewalsOf('good')) + 1);
      assert.deepEqual(await reportsOf('good'), {});
    });

    test('every process sees each renewal, also with a known tag', async () => {
      await swap('renewed', undefined, tagged('1-abc'));
      const before = await renewalsOf('renewed');
      assert.equal(await renewalsOf('renewed', '1-abc'), before, 'a read moved it');
      const first = await renew('renewed');
      const second = await renew('renewed');
      assert.ok(before < first && first < second, `${before}, ${first}, ${second}`);
      assert.equal(await renewalsOf('renewed'), second);
      assert.equal(await renewalsOf('renewed', '1-abc'), second);
      await swap('renewed', '1-abc', tagged('2-def'));
      assert.equal(await renewalsOf('renewed'), second, 'a swap moved it');
      await holds('renewed', tagged('2-def'));
    });

    test('a renewal creates no document', async () => {
      await renew('bare');
      assert.deepEqual(await read('bare'), ABSENT);
      assert.deepEqual(await swap('bare', undefined, tagged('1-abc')), SWAPPED);
      await holds('bare', tagged('1-abc'));
    });

    test('every process reads the latest report of each process', async () => {
      assert.deepEqual(await reportsOf('reports'), {});
      assert.equal(await report('reports', 'a', 'first'), true);
      await report('reports', 'b-2:3', '{"x":"ё\\r\\n"}');
      await report('reports', 'a', 'second');
      await report('reports', 'empty', '');
      assert.deepEqual(await reportsOf('reports'), { a: 'second', 'b-2:3': '{"x":"ё\\r\\n"}', empty: '' });
      assert.deepEqual(await read('reports'), ABSENT, 'a report is no document');
    });

    test('reports expire when no process reports any more, and not before', async () => {
      await report('lasting', 'a', 'x', TTL_MS + 0.5);
      await report('lasting', 'b', 'y', TTL_MS + 0.5);
      await report('lapsing', 'a', 'x', 100.5);
      await until('the reports to expire', async () => assert.deepEqual(await reportsOf('lapsing'), {}));
      assert.deepEqual(await reportsOf('lasting'), { a: 'x', b: 'y' });
    });

    test('after the server lost its data everything is absent, and may be written again', async () => {
      await swap('lost', undefined, tagged('9-abc'));
      await renew('lost');
      await report('lost', 'a', 'x');
      await under.lose();
      assert.deepEqual(await read('lost', '9-abc'), ABSENT);
      assert.deepEqual(await reportsOf('lost'), {});
      assert.deepEqual(await swap('lost', '9-abc', tagged('10-def')), CONFLICT);
      assert.deepEqual(await swap('lost', undefined, tagged('10-def')), SWAPPED);
      await holds('lost', tagged('10-def'));
    });

    test('with a deadline of 0 nothing rejects, no document is torn, and it works afterwards', async () => {
      await swap('late', undefined, tagged('1-abc'));
      const settled = await Promise.allSettled([
        under.store.read('late', undefined, 0),
        under.store.swap('late', '1-abc', tagged('2-def'), 0),
        under.store.renew('late', 0),
        under.store.report('late', 'a', Buffer.from('x'), TTL_MS, 0),
        under.store.reports('late', 0),
      ]);
      assert.ok(settled.every(({ status }) => status === 'fulfilled'));
      const found = await read('late');
      assert.ok(found.kind === 'value', found.kind);
      assert.equal(found.value.toString(), `value of ${found.tag}`);
      assert.deepEqual(await swap('late', found.tag, tagged('3-ghi')), SWAPPED);
    });
  });
}
