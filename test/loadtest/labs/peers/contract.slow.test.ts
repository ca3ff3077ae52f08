import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareNode } from '../../../../loadtest/labs/peers/node-peers.ts';
import type { Peer } from '../../../../loadtest/labs/peers/peer.ts';
import { PEERS } from '../../../../loadtest/labs/peers/peers.ts';
import { accepts } from '../../../../loadtest/stack/process.ts';
import { until } from '../../../until.ts';
import { createHarness, type Harness } from './harness.ts';

/** Longer than a slow machine takes between two requests of a test. */
const TTL_SECONDS = 4;
/** serpcache varies lifetimes by up to a tenth, and other peers count whole seconds. */
const EXPIRED_MS = TTL_SECONDS * 1200 + 1000;

let harness: Harness;
before(async () => {
  harness = await createHarness(PEERS, { ttlSeconds: TTL_SECONDS, staleSeconds: 60 });
});
after(() => harness.stop());

/** When the page of each peer was last made. */
const madeAt = new Map<Peer, number>();

const OURS = PEERS.filter(({ name }) => name.startsWith('serpcache'));

/** serpcache refreshes popular pages by itself: its searches must not count while another peer is tested. */
function pauseDuringTests(peers: readonly Peer[]): void {
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const peer of peers)
      for (const pid of [...harness.running(peer).pids(), ...harness.second(peer).pids()]) process.kill(pid, name);
  };
  before(async () => {
    signal('SIGSTOP');
    // Requests that were in flight.
    let before: number;
    do {
      before = harness.backend.searches();
      await sleep(200);
    } while (harness.backend.searches() !== before);
  });
  after(async () => {
    signal('SIGCONT');
    // A peer that was paused for seconds may answer "busy" for a moment. The page of the tests is not requested here.
    for (const peer of peers) {
      const url = `${harness.running(peer).url}${harness.path(peer)}&limit=1`;
      await until(`an answer of ${peer.name}`, async () => (await fetch(url)).status === 200);
    }
  });
}

/** serpcache may refresh a page by itself at that moment. */
function assertOneSearch(peer: Peer, before: number): void {
  const searches = harness.backend.searches() - before;
  assert.ok(searches === 1 || (searches > 1 && OURS.includes(peer)), `${searches} searches`);
}

for (const peer of PEERS)
  describe(`${peer.name}, alone`, () => {
    pauseDuringTests(OURS.filter((one) => one !== peer));

    test(`${peer.name}: a page costs one search, and a hit has the same bytes as the origin's answer`, async () => {
      const expected = await body(harness.backend.origin + harness.path(peer));
      const before = harness.backend.searches();
      const missed = await ask(peer);
      const hit = await ask(peer);
      assertOneSearch(peer, before);
      assert.ok(expected.includes('"results":[{'));
      assert.equal(missed, expected);
      assert.equal(hit, expected);
    });

    test(`${peer.name}: after a purge the page is gone`, async () => {
      const expected = await ask(peer);
      const before = harness.backend.searches();
      await harness.running(peer).purge();
      assert.equal(await ask(peer), expected);
      assertOneSearch(peer, before);
      await ask(peer);
      assertOneSearch(peer, before);
      madeAt.set(peer, performance.now());
    });

    if (peer.keeps === 'shared') {
      test(`${peer.name}: another replica has the page without a search, first from the store and then again`, async () => {
        const before = harness.backend.searches();
        const expected = await ask(peer);
        const { url } = harness.second(peer);
        for (const _ of [1, 2, 3]) assert.equal(await body(url + harness.path(peer)), expected);
        assert.equal(harness.backend.searches() - before, 0);
      });
    }
  });

/** @returns searches that reach the engine when the peer is asked for its page after the page has expired. */
async function askedAgain(peer: Peer): Promise<number> {
  await sleep(Math.max(0, (madeAt.get(peer) ?? 0) + EXPIRED_MS - performance.now()));
  const before = harness.backend.searches();
  await ask(peer);
  // Some serve the stale page once more and refresh it in the background.
  await until('a search', () => harness.backend.searches() > before);
  return harness.backend.searches() - before;
}

describe('when a page has expired', () => {
  pauseDuringTests(OURS);
  for (const peer of PEERS.filter((one) => !OURS.includes(one)))
    test(`${peer.name} asks the engine for it again`, async () => assert.equal(await askedAgain(peer), 1));
});

// serpcache may refresh a page by itself at that moment, and so may its second configuration.
for (const peer of OURS)
  test(`${peer.name}: an expired page is requested from the engine again`, async () =>
    assert.ok((await askedAgain(peer)) > 0));

test("each peer's claim about stale pages holds: with a dead engine all serve them except the bare server", async () => {
  await sleep(EXPIRED_MS);
  await harness.backend.die();
  try {
    // A peer that refreshes in the background learns of the failure after the first answer.
    for (const _ of [1, 2]) {
      for (const peer of PEERS) {
        const { status } = await fetch(harness.running(peer).url + harness.path(peer));
        assert.equal(status, peer === bareNode ? 503 : 200, peer.name);
      }
      await sleep(100);
    }
  } finally {
    await harness.backend.revive();
  }
});

describe('at the end', { concurrency: true }, () => {
  for (const peer of PEERS)
    test(`${peer.name}: after stop no process and no open port is left`, async () => {
      const { url, pids, stop } = harness.running(peer);
      assert.ok(pids().length > 0);
      await stop();
      assert.deepEqual(pids(), []);
      assert.equal(await accepts(Number(new URL(url).port)), false);
    });
});

function ask(peer: Peer): Promise<string> {
  return body(harness.running(peer).url + harness.path(peer));
}

async function body(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}
