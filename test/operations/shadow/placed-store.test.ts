import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readOnce } from '../../../src/cache/store.ts';
import type { Placement } from '../../../src/control/document.ts';
import type { Mirror } from '../../../src/operations/shadow/mirror.ts';
import { storeContract } from '../../contract/store.ts';
import { COMMITTED, createPair, leaseOf, NEW, OLD, PREPARED, pageOf, REVERSED, SETTLED } from './harness.ts';

const TTL_MS = 60_000;
const DEADLINE_MS = 200;

test('without a placement only the configured store is used, and a candidate is not opened', async () => {
  const { old, candidate, placed, openings } = createPair();
  const { name, value } = pageOf(1);
  await placed.write(name, value, TTL_MS);
  assert.deepEqual(await readOnce(placed, name, DEADLINE_MS), { kind: 'value', value });
  assert.deepEqual([old.names(), candidate.names(), openings()], [[name], [], 0]);
});

test('prepared: the old store is read, and a page is written to both', async () => {
  const { old, candidate, placed } = createPair();
  assert.ok(placed.follow(PREPARED));
  const [written, planted] = [pageOf(1), pageOf(2)];
  await placed.write(written.name, written.value, TTL_MS);
  await candidate.write(planted.name, planted.value, TTL_MS);
  assert.deepEqual(await readOnce(placed, planted.name, DEADLINE_MS), { kind: 'absent' });
  assert.deepEqual(old.value(written.name), written.value);
  assert.deepEqual(candidate.value(written.name), written.value);
});

test('committed: a page that the new store lacks is read from the old one, and is marked', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(COMMITTED);
  const [moved, behind] = [pageOf(1), pageOf(2)];
  await candidate.write(moved.name, moved.value, TTL_MS);
  await old.write(behind.name, behind.value, TTL_MS);
  assert.deepEqual(await readOnce(placed, moved.name, DEADLINE_MS), { kind: 'value', value: moved.value });
  const marked = { kind: 'value', value: behind.value, behind: true };
  assert.deepEqual(await readOnce(placed, behind.name, DEADLINE_MS), marked);
  const many = await placed.readMany([moved.name, behind.name, pageOf(3).name], DEADLINE_MS);
  assert.deepEqual(many, [{ kind: 'value', value: moved.value }, marked, { kind: 'absent' }]);
  assert.deepEqual(old.reads.includes(moved.name), false, 'a page of the new store costs the old one no read');
});

test('committed: while the new store is dead the old one answers within the same deadline', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(COMMITTED);
  const page = pageOf(1);
  await old.write(page.name, page.value, TTL_MS);
  for (const trouble of [
    { kind: 'fault', fault: 'node-open' },
    { kind: 'slow', replyAfterMs: 10 * DEADLINE_MS },
  ] as const) {
    candidate.meet(trouble);
    const read = await readOnce(placed, page.name, DEADLINE_MS);
    // Not to be copied: the new store may have it, and cannot take it now.
    assert.deepEqual(read, { kind: 'value', value: page.value }, trouble.kind);
  }
  old.meet({ kind: 'fault', fault: 'store-down' });
  candidate.meet({ kind: 'fault', fault: 'node-open' });
  const faulty = await readOnce(placed, page.name, DEADLINE_MS);
  assert.equal(faulty.kind === 'fault' && faulty.fault, 'node-open', 'the reason is that of the active store');
});

test('after a commit both stores get new pages, so the way back finds them', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(COMMITTED);
  const page = pageOf(1);
  await placed.write(page.name, page.value, TTL_MS);
  placed.follow(REVERSED);
  assert.deepEqual(await readOnce(placed, page.name, DEADLINE_MS), { kind: 'value', value: page.value });
  assert.deepEqual([old.value(page.name), candidate.value(page.name)], [page.value, page.value]);
});

test('settled: the old store is neither read nor written', async () => {
  const { old, placed } = createPair();
  placed.follow(SETTLED);
  const [page, behind] = [pageOf(1), pageOf(2)];
  await old.write(behind.name, behind.value, TTL_MS);
  await placed.write(page.name, page.value, TTL_MS);
  assert.deepEqual(await readOnce(placed, behind.name, DEADLINE_MS), { kind: 'absent' });
  assert.equal(old.value(page.name), undefined);
});

test('a lease that was taken before the commit is given back, and fenced, where it was taken', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(PREPARED);
  const { name, value } = pageOf(1);
  assert.equal((await placed.leases.take(leaseOf(name), 'token', TTL_MS, DEADLINE_MS)).kind, 'taken');
  placed.follow(COMMITTED);
  const written = await placed.leases.writeAndRelease(leaseOf(name), 'token', value, TTL_MS);
  assert.deepEqual(written, { kind: 'stored' });
  assert.deepEqual([old.leases.held(), candidate.leases.held()], [[], []]);
  await nextTurn();
  assert.deepEqual([old.value(name), candidate.value(name)], [value, value]);
});

test('a page whose lease was lost is written to neither store', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(PREPARED);
  const { name, value } = pageOf(1);
  await placed.leases.take(leaseOf(name), 'token', TTL_MS, DEADLINE_MS);
  old.leases.forget();
  const written = await placed.leases.writeAndRelease(leaseOf(name), 'token', value, TTL_MS);
  assert.deepEqual(written, { kind: 'dropped', fault: 'fenced' });
  await nextTurn();
  assert.deepEqual([old.value(name), candidate.value(name)], [undefined, undefined]);
});

test('while processes may follow different rows, a lease in one store is respected in the other', async () => {
  const ahead = createPair();
  ahead.placed.follow(COMMITTED);
  const { name } = pageOf(1);
  await ahead.old.leases.take(leaseOf(name), 'of a process that has not heard of the commit', TTL_MS, DEADLINE_MS);
  const taken = await ahead.placed.leases.take(leaseOf(name), 'mine', TTL_MS, DEADLINE_MS);
  assert.deepEqual([taken.kind, ahead.candidate.leases.held()], ['held', []]);
  assert.equal((await ahead.placed.leases.look(leaseOf(name), DEADLINE_MS)).kind, 'held');

  const late = createPair();
  late.placed.follow(PREPARED);
  await late.candidate.leases.take(leaseOf(name), 'of a process that has committed', TTL_MS, DEADLINE_MS);
  assert.equal((await late.placed.leases.take(leaseOf(name), 'mine', TTL_MS, DEADLINE_MS)).kind, 'held');
  assert.deepEqual(late.old.leases.held(), []);
});

test('a page that the other store got meanwhile is found with the lease, once that store is read', async () => {
  const { old, placed } = createPair();
  placed.follow(COMMITTED);
  const { name, value } = pageOf(1);
  await old.write(name, value, TTL_MS);
  assert.deepEqual(await placed.leases.take(leaseOf(name), 'mine', TTL_MS, DEADLINE_MS), { kind: 'taken', value });
});

test('a process that is cut off from the control store reads both stores and writes both', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(PREPARED);
  placed.setIsolated(true);
  const [page, moved] = [pageOf(1), pageOf(2)];
  await candidate.write(moved.name, moved.value, TTL_MS);
  assert.deepEqual(await readOnce(placed, moved.name, DEADLINE_MS), {
    kind: 'value',
    value: moved.value,
    behind: true,
  });
  await placed.write(page.name, page.value, TTL_MS);
  assert.deepEqual([old.value(page.name), candidate.value(page.name)], [page.value, page.value]);
});

test('a placement with a store that is not declared here is not followed', async () => {
  const { placed } = createPair();
  const foreign = { name: 'other', fingerprint: 'other-fingerprnt' };
  assert.equal(placed.follow({ ...COMMITTED, active: foreign }), false);
  assert.deepEqual(placed.active(), OLD);
  assert.ok(placed.follow(undefined));
});

test('the words that show a loss of data are planted in the new store before it is used, and are told apart', async () => {
  const { candidate, placed } = createPair();
  placed.follow(PREPARED);
  const [before] = await placed.epochs(DEADLINE_MS);
  const [planted] = await candidate.epochs(DEADLINE_MS);
  placed.follow(COMMITTED);
  const [after] = await placed.epochs(DEADLINE_MS);
  assert.equal(after?.epoch, planted?.epoch);
  assert.notEqual(after?.part, before?.part, 'a changed word of a known part would start a backfill');
});

test('processes that beat in either store count as live', async () => {
  const { old, candidate, placed } = createPair();
  assert.equal(placed.liveIds(), undefined);
  placed.follow(PREPARED);
  await old.beat('late', 5000, DEADLINE_MS);
  await candidate.beat('ahead', 5000, DEADLINE_MS);
  await placed.beat('me', 5000, DEADLINE_MS);
  await nextTurn();
  assert.deepEqual([...(placed.liveIds() ?? [])].sort(), ['ahead', 'late', 'me']);
});

test('a process that leaves is counted in neither store any more', async () => {
  const { old, candidate, placed } = createPair();
  placed.follow(PREPARED);
  await placed.beat('me', 5000, DEADLINE_MS);
  await placed.leave('me', DEADLINE_MS);
  for (const store of [old, candidate]) {
    const beat = await store.beat('other', 5000, DEADLINE_MS);
    assert.deepEqual(beat.kind === 'fleet' && beat.ids, ['other']);
  }
});

test('the mirror sees reads and writes of sampled keys, after the search and with the same bytes', async () => {
  const { placed } = createPair();
  const [page, other] = [pageOf(1), pageOf(2)];
  const seen: string[] = [];
  let shared: Buffer | undefined;
  const mirror: Mirror = {
    candidate: NEW,
    samples: (name) => name === page.name,
    noteRead: (_, read) => {
      seen.push(`read ${read.kind}`);
      if (read.kind === 'value' && shared !== undefined) assert.deepEqual(read.value, shared);
    },
    noteWrite: ({ name }, { kind }, isDirect) => {
      if (name === page.name) seen.push(`write ${kind}${isDirect ? ', direct' : ''}`);
    },
    ...{ change: () => {}, isPaused: () => false, begin: () => {}, close: () => {} },
  };
  placed.setMirror(mirror);
  const readShared = (name: string) =>
    new Promise<void>((resolve) =>
      placed.read(name, DEADLINE_MS, (read) => {
        shared = read.kind === 'value' ? read.value : undefined;
        seen.push('answered');
        resolve();
      }),
    );
  await placed.leases.take(leaseOf(page.name), 'token', TTL_MS, DEADLINE_MS);
  await placed.leases.writeAndRelease(leaseOf(page.name), 'token', page.value, TTL_MS);
  await placed.write(page.name, page.value, TTL_MS);
  await readShared(page.name);
  await readShared(other.name);
  await placed.readMany([page.name, other.name], DEADLINE_MS);
  placed.follow(PREPARED);
  await placed.write(page.name, page.value, TTL_MS);
  const copied = ['write stored', 'write stored', 'answered', 'read value', 'answered'];
  assert.deepEqual(seen.slice(0, 5), copied);
  assert.deepEqual(seen.slice(6), ['write stored, direct'], 'a prepared candidate is written already');
});

test('an erasure reaches every store that is written', () => {
  const { placed } = createPair();
  assert.deepEqual(placed.everywhere.nodes(), ['old:1']);
  placed.follow(PREPARED);
  assert.deepEqual(placed.everywhere.nodes(), ['old:1', 'new:1']);
  assert.deepEqual(placed.content.nodes(), ['old:1']);
  placed.follow(SETTLED);
  assert.deepEqual(placed.everywhere.nodes(), ['new:1']);
});

test('a candidate is closed when nothing uses it, and never while it is active', async () => {
  const { candidate, placed, openings } = createPair();
  placed.follow(SETTLED);
  placed.releaseUnused();
  const { name, value } = pageOf(1);
  await placed.write(name, value, TTL_MS);
  assert.deepEqual(candidate.value(name), value);
  placed.follow(undefined);
  placed.releaseUnused();
  placed.opened(NEW.fingerprint);
  assert.equal(openings(), 2);
});

const PLACEMENTS: Readonly<Record<string, Placement>> = {
  'a prepared cut-over': PREPARED,
  'a committed cut-over': COMMITTED,
};

for (const [name, placement] of Object.entries(PLACEMENTS)) {
  storeContract(`a placed store, ${name}`, async () => {
    const { old, candidate, placed } = createPair();
    placed.follow(placement);
    const stores = [old, candidate];
    return {
      store: placed,
      owners: placed.content.nodes(),
      stall: async () => {
        // Later than the deadlines that must expire in the contract.
        for (const store of stores) store.meet({ kind: 'slow', replyAfterMs: 500 });
        return () => {
          for (const store of stores) store.meet({ kind: 'none' });
        };
      },
      lose: async () => {
        for (const store of stores) store.lose();
      },
      stop: placed.close,
    };
  });
}
