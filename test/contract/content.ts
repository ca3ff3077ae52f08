import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type StoreContent, StoreUnreachable } from '../../src/operations/flush/content.ts';
import { keyOf } from '../../src/search/key.ts';

/** The domain of the content under test. */
export const CONTENT_DOMAIN = 'goods';

export interface ContentUnderTest {
  /** The content of `CONTENT_DOMAIN`. */
  readonly content: StoreContent;
  /** Nodes that own names, as `nodes()` must show them. */
  readonly owners: readonly string[];
  /** Writes values, by name, to the nodes that own the names. */
  readonly put: (values: Readonly<Record<string, string>>, ttlMs?: number) => Promise<void>;
  readonly has: (name: string) => Promise<boolean>;
  /** False: it has no right to flush a node, and says so. */
  readonly flushes: boolean;
  readonly stop: () => Promise<void>;
}

const entryOf = (id: string | number, domain = CONTENT_DOMAIN): string => keyOf(String(id), domain).storeName;

/** Names that differ from an entry of the domain in one respect each. */
function strangers(): readonly string[] {
  const entry = entryOf('stranger');
  const key = entry.slice(entry.indexOf('{') + 1, -1);
  return [
    entryOf('stranger', 'good'),
    entryOf('stranger', 'goods-2'),
    entry.replace('{', 'lease:{'),
    entry.replace('sc1', 'sc2'),
    entry.replace('sc1', 'Sc1'),
    `x${entry}`,
    `${entry}x`,
    `${entry}\n`,
    `sc1:goods:{${key.slice(1)}}`,
    `sc1:goods:{${key}x}`,
    `sc1:goods:{:${key.slice(1)}}`,
    `sc1:goods:{${key.slice(1)}\n}`,
    `sc1:goods:{${key.slice(2)}ё}`,
    `sc1:goods:{${'*'.repeat(22)}}`,
    `sc1:goods:{control:goods}`,
    `sc1:goods:{popular:goods}:0`,
    'sc1:goods:epoch:{0}',
    'sc1:goods:fleet',
    key,
  ];
}

/** The promises of every store's content (src/operations/flush/content.ts). */
export function contentContract(name: string, setUp: () => Promise<ContentUnderTest>): void {
  describe(`content contract: ${name}`, () => {
    let under: ContentUnderTest;
    before(async () => {
      under = await setUp();
    });
    after(() => under?.stop());

    /** A whole scan, from cursor '0' to cursor '0', on every node. */
    const sweep = async (count: number): Promise<ReadonlyMap<string, readonly string[]>> => {
      const found = new Map<string, readonly string[]>();
      for (const node of under.content.nodes()) {
        const names = new Set<string>();
        let cursor = '0';
        do {
          const step = await under.content.scan(node, cursor, count);
          for (const each of step.names) names.add(each);
          cursor = step.cursor;
        } while (cursor !== '0');
        found.set(node, [...names]);
      }
      return found;
    };
    const namesOf = async (): Promise<readonly string[]> => [...(await sweep(1000)).values()].flat().sort();
    const fill = async (like: string, size: number): Promise<readonly string[]> => {
      const names = Array.from({ length: size }, (_, index) => entryOf(`${like} ${index}`));
      await under.put(Object.fromEntries(names.map((each, index) => [each, 'x'.repeat(index)])));
      return names;
    };
    const putTheirs = (names: readonly string[]): Promise<void> =>
      under.put(Object.fromEntries(names.map((each) => [each, 'theirs'])));
    const erase = async (): Promise<number> => {
      let removed = 0;
      for (const [node, names] of await sweep(1000)) {
        for (let first = 0; first < names.length; first += 512) {
          removed += await under.content.unlink(node, names.slice(first, first + 512));
        }
      }
      return removed;
    };

    test('its nodes are those that own names, and an empty node has no entries', async () => {
      assert.deepEqual([...under.content.nodes()].sort(), [...under.owners].sort());
      assert.deepEqual(await namesOf(), []);
      for (const node of under.owners) {
        assert.deepEqual(await under.content.sizes(node, []), []);
        assert.equal(await under.content.unlink(node, []), 0);
      }
    });

    for (const count of [0.5, 100, 1e9]) {
      test(`a scan in steps of ${count} finds each entry of the domain and nothing else`, async () => {
        const names = await fill(`scan ${count}`, 150);
        await putTheirs(strangers());
        const found = await sweep(count);
        assert.deepEqual([...found.values()].flat().sort(), [...names].sort());
        assert.equal(await erase(), names.length);
      });
    }

    test('sizes are those of the values, in the order of the names, and 0 for an absent name', async () => {
      const names = await fill('sizes', 400);
      for (const [node, found] of await sweep(1000)) {
        const asked = found.flatMap((each, index) => [each, entryOf(`nobody ${index}`)]).slice(0, 512);
        const expected = asked.map((each) => Math.max(0, names.indexOf(each)));
        assert.deepEqual(await under.content.sizes(node, asked), expected);
      }
      await erase();
    });

    test('unlinked entries are gone and counted, and everything else stays', async () => {
      const [going, staying] = [await fill('going', 120), await fill('staying', 120)];
      const theirs = strangers();
      await putTheirs(theirs);
      let removed = 0;
      for (const [node, found] of await sweep(1000)) {
        const asked = found.filter((each) => going.includes(each));
        removed += await under.content.unlink(node, [...asked, entryOf('nobody')]);
        assert.equal(await under.content.unlink(node, asked), 0, 'twice');
        assert.equal(await under.content.unlink(node, theirs), 0);
        assert.deepEqual([...new Set(await under.content.sizes(node, theirs))], [0]);
      }
      assert.equal(removed, going.length);
      assert.deepEqual(await namesOf(), [...staying].sort());
      for (const each of theirs) assert.ok(await under.has(each), each);
      await erase();
    });

    test('all keys of a node are counted, ours and others', async () => {
      const counted = async (): Promise<number> =>
        (await Promise.all(under.owners.map(under.content.count))).reduce((sum, each) => sum + each, 0);
      const before = await counted();
      await fill('counted', 50);
      await under.put({ 'somebody else’s': 'x' });
      assert.equal(await counted(), before + 51);
      await erase();
      assert.equal(await counted(), before + 1);
    });

    test('a flush empties its node and no other, or removes nothing and says why', async () => {
      const names = await fill('flushed', 150);
      const [first, ...others] = [...(await sweep(1000))];
      assert.ok(first);
      const [node, gone] = first;
      if (!under.flushes) {
        await assert.rejects(under.content.flushNode(node), { name: 'StoreUnreachable', message: /refused FLUSHDB/ });
        assert.deepEqual(await namesOf(), [...names].sort());
        return;
      }
      assert.ok(gone.length > 0 && (await under.content.count(node)) >= gone.length);
      await under.content.flushNode(node);
      assert.equal(await under.content.count(node), 0);
      assert.deepEqual(await namesOf(), others.flatMap(([, kept]) => kept).sort());
    });

    test('a node tells its own run id, its memory and its clients', async () => {
      const ids = new Set<string | undefined>();
      for (const node of under.owners) {
        const info = await under.content.info(node);
        for (const field of ['connected_clients', 'used_memory', 'maxmemory']) {
          assert.match(info, new RegExp(`^${field}:\\d+\\r$`, 'm'), node);
        }
        ids.add(/^run_id:(\S+)\r$/m.exec(info)?.[1]);
      }
      assert.ok(!ids.has(undefined));
      assert.equal(ids.size, under.owners.length);
    });

    test('the life of an entry is its remaining time, infinite without expiry, and undefined for an absent one', async () => {
      const [mortal, endless, stranger] = [entryOf('mortal'), entryOf('endless'), entryOf('mortal', 'goods-2')];
      await under.put({ [mortal]: 'x', [stranger]: 'x' }, 600_000);
      await under.put({ [endless]: 'x' });
      const left = (await under.content.lifeMs(mortal)) ?? 0;
      assert.ok(left > 0 && left <= 600_000, String(left));
      assert.equal(await under.content.lifeMs(endless), Number.POSITIVE_INFINITY);
      assert.equal(await under.content.lifeMs(entryOf('nobody')), undefined);
      assert.equal(await under.content.lifeMs(stranger), undefined, 'the entry of another domain');
      await erase();
    });

    test('a sample shows names of every kind that match, and no more than asked for', async () => {
      const matching = ['sc0:goods:{old}', 'sc2:goods:lease:{new}'];
      const others = ['sc2:goods-2:{x}', 'scx:goods:{x}'];
      await putTheirs([...matching, ...others]);
      await fill('sampled', 150);
      const sample = async (pattern: string, count: number): Promise<readonly string[]> =>
        (await Promise.all(under.owners.map((node) => under.content.sample(node, pattern, count)))).flat();
      const found = await sample('sc[0-9]*:goods:*', 5000);
      assert.deepEqual(
        [...matching, ...others].filter((each) => found.includes(each)),
        matching,
      );
      assert.deepEqual(await sample('sc0:goods:{ol?}', 5000), ['sc0:goods:{old}']);
      const few = await sample('*', 10);
      assert.ok(few.length > 0 && few.length <= 10 * under.owners.length, `${few.length} names`);
      await erase();
    });

    test('a node it does not know is a StoreUnreachable that names it', async () => {
      const node = 'nowhere.invalid:1';
      const { content } = under;
      const calls = [
        () => content.scan(node, '0', 10),
        () => content.sizes(node, [entryOf(1)]),
        () => content.unlink(node, [entryOf(1)]),
        () => content.count(node),
        () => content.flushNode(node),
        () => content.info(node),
        () => content.sample(node, '*', 10),
      ];
      for (const call of calls) {
        await assert.rejects(
          async () => call(),
          (error) => error instanceof StoreUnreachable && error.message.includes(node),
        );
      }
    });
  });
}
