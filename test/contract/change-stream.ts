import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ChangeStream, READ_BATCHES, type StreamRead } from '../../src/changes/feed.ts';

export interface ChangeStreamUnderTest {
  readonly stream: ChangeStream;
  /** The client of another process on the same server; absent: the stream belongs to one process, which keeps what is not read yet. */
  readonly other?: ChangeStream;
  readonly stop: () => Promise<void>;
}

/** Generous, for slow machines: the contract tests results and not speed. */
const DEADLINE_MS = 60_000;
const APPENDED = { kind: 'appended' };
const CONFLICT = { kind: 'conflict' };

export const batchOf = (bytes: string | Buffer, source?: readonly [expected: string, next: string], afterMs = 0) => ({
  bytes: Buffer.from(bytes),
  afterMs,
  ...(source && { source: { expected: source[0], next: source[1] } }),
});

export async function readBatches(stream: ChangeStream, domain: string, place?: string) {
  const found: StreamRead = await stream.read(domain, place, DEADLINE_MS);
  assert.ok(found.kind === 'batches', JSON.stringify(found));
  return found;
}

/** An id as a number that rises with it. */
export const orderOf = (id: string): number => {
  const [ms = Number.NaN, sequence = Number.NaN] = id.split('-').map(Number);
  assert.ok(sequence <= 1023, id);
  return ms * 1024 + sequence;
};

/** The promises of every stream of changes (src/changes/feed.ts). */
export function changeStreamContract(name: string, setUp: () => Promise<ChangeStreamUnderTest>): void {
  describe(`change stream contract: ${name}`, () => {
    let under: ChangeStreamUnderTest;
    before(async () => {
      under = await setUp();
    });
    after(() => under?.stop());
    const append = (domain: string, ...batch: Parameters<typeof batchOf>) =>
      under.stream.append(domain, batchOf(...batch), DEADLINE_MS);
    const read = (domain: string, place?: string) => readBatches(under.other ?? under.stream, domain, place);

    test('a stream that was never written is absent, after any id', async () => {
      for (const place of [undefined, '5-1']) {
        const { last, batches, nowMs } = await read('never-written', place);
        assert.deepEqual([last, batches], [undefined, []]);
        assert.ok(Number.isSafeInteger(nowMs));
      }
    });

    test('batches come back as they were, numbered from 1, with rising ids and the last of them', async () => {
      const all = Buffer.from(Uint8Array.from({ length: 512 }, (_, index) => index % 256));
      const given = [all, Buffer.alloc(0), Buffer.from('$5\r\nhello\r\n\0'), Buffer.alloc(200_000, 7)];
      for (const bytes of given) assert.deepEqual(await append('bytes', bytes), APPENDED);
      const { batches, last } = await read('bytes');
      assert.deepEqual(
        batches.map(({ number, bytes }) => [number, bytes.equals(given[number - 1] ?? Buffer.from('other'))]),
        given.map((_, at) => [at + 1, true]),
      );
      const order = batches.map(({ id }) => orderOf(id));
      assert.ok(order.every((id, at) => at === 0 || id > (order[at - 1] ?? Number.NaN)));
      assert.deepEqual([last?.id, last?.number, last?.source], [batches.at(-1)?.id, 4, '']);
    });

    test('a read goes on after an id, with a maximum of batches, to the end', async () => {
      const count = READ_BATCHES * 2 + 3;
      for (let at = 1; at <= count; at += 1) await append('long', `${at}`);
      const numbers: number[] = [];
      const sizes: number[] = [];
      for (let place: string | undefined; ; ) {
        const { batches, last } = await read('long', place);
        assert.equal(last?.number, count);
        if (batches.length === 0) break;
        sizes.push(batches.length);
        numbers.push(...batches.map(({ number }) => number));
        place = batches.at(-1)?.id;
      }
      assert.deepEqual(sizes, [READ_BATCHES, READ_BATCHES, 3]);
      assert.deepEqual(
        numbers,
        Array.from({ length: count }, (_, at) => at + 1),
      );
      await append('long', 'one more');
      const { last } = await read('long');
      assert.equal(last?.number, count + 1);
    });

    test('more batches than a millisecond has places keep their order', async () => {
      const afterMs = (await read('burst')).nowMs + 3_600_000;
      const order: number[] = [];
      let place: string | undefined;
      for (let at = 0; at < 1100; at += 1) await append('burst', 'x', undefined, afterMs);
      for (;;) {
        const { batches } = await read('burst', place);
        if (batches.length === 0) break;
        order.push(...batches.map(({ id }) => orderOf(id)));
        place = batches.at(-1)?.id;
      }
      assert.equal(order.length, 1100);
      assert.ok(order.every((id, at) => id > (order[at - 1] ?? 0)));
      assert.ok((order[0] ?? 0) >= afterMs * 1024, 'an id is earlier than the time that a process has read');
    });

    test('the place in the source moves only from the place that is expected, and stays without one', async () => {
      const sourceOf = async (): Promise<string | undefined> => (await read('source')).last?.source;
      assert.deepEqual(await append('source', 'a', ['7-0', '8-0']), CONFLICT);
      assert.equal((await read('source')).last, undefined, 'a conflict began the stream');
      assert.deepEqual(await append('source', 'a', ['', '5-0']), APPENDED);
      assert.deepEqual(await append('source', 'b', ['', '6-0']), CONFLICT);
      assert.equal(await sourceOf(), '5-0');
      assert.deepEqual(await append('source', 'c'), APPENDED);
      assert.equal(await sourceOf(), '5-0');
      for (const wrong of ['', '-', '=5-0', '5-00'])
        assert.deepEqual(await append('source', 'd', [wrong, 'x']), CONFLICT);
      assert.deepEqual(await append('source', 'e', ['5-0', '9-9']), APPENDED);
      assert.equal(await sourceOf(), '9-9');
    });

    test('of two processes that copy the same entries one succeeds', async () => {
      const streams = [under.stream, under.other ?? under.stream];
      for (let round = 0; round < 20; round += 1) {
        const batch = batchOf(`${round}`, [round === 0 ? '' : `${round}-0`, `${round + 1}-0`]);
        const results = await Promise.all(
          [...streams, ...streams].map((one) => one.append('race', batch, DEADLINE_MS)),
        );
        assert.equal(results.filter(({ kind }) => kind === 'appended').length, 1);
      }
      assert.equal((await read('race')).last?.number, 20);
    });

    test('two processes that append at once get one row of numbers', async () => {
      const streams = [under.stream, under.other ?? under.stream];
      await Promise.all(
        Array.from({ length: 60 }, (_, at) => streams[at % 2]?.append('both', batchOf(`${at}`), DEADLINE_MS)),
      );
      const { batches } = await read('both');
      assert.deepEqual(
        batches.map(({ number }) => number),
        Array.from({ length: 60 }, (_, at) => at + 1),
      );
      assert.equal(new Set(batches.map(({ bytes }) => `${bytes}`)).size, 60);
    });

    test('each domain has its own stream', async () => {
      await append('goods', 'goods');
      await append('auto', 'auto');
      assert.deepEqual(
        (await read('goods')).batches.map(({ bytes }) => `${bytes}`),
        ['goods'],
      );
    });
  });
}
