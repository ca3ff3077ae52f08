import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSearchd, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { openConnection } from '../../../src/engines/sphinx/connection.ts';
import {
  createConnections,
  createSphinxEngine,
  type SphinxEvent,
  type SphinxOptions,
} from '../../../src/engines/sphinx/engine.ts';
import type { EngineReason } from '../../../src/resilience/search-error.ts';
import { systemClock } from '../../../src/runtime.ts';
import type { Engine } from '../../../src/search/engine.ts';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN } from '../../contract/engine.ts';
import { COMMON } from '../../contract/engine-documents.ts';
import { ask, matching } from '../../contract/engine-truth.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { eachServer, engineDefaults, openSphinx } from './harness.ts';

/** An aborted search keeps its thread in searchd until it is done, so searchd needs more threads than we use connections. */
const PLENTY = 64;

eachServer((name, server) => {
  describe(`searchd of ${name} in trouble`, () => {
    let searchd: RunningSearchd;
    let directory: string;
    let remove: () => Promise<void>;
    const engines: Engine[] = [];

    before(async () => {
      ({ searchd, directory, remove } = await openSphinx({
        server,
        domains: [{ domain: CONTRACT_DOMAIN, index: 'contract', documents: CONTRACT_DOCUMENTS }],
        maxConnections: PLENTY,
      }));
    });
    after(async () => {
      for (const engine of engines) await engine.close();
      await searchd?.stop();
      await remove?.();
    });

    /** An engine, and its number of open connections. */
    function open(given: Partial<SphinxOptions> = {}): { engine: Engine; held: () => number; events: SphinxEvent[] } {
      const events: SphinxEvent[] = [];
      const engine = createSphinxEngine({
        ...engineDefaults(searchd.port, server),
        domain: CONTRACT_DOMAIN,
        index: 'contract',
        maxConnections: 4,
        observe: (event) => events.push(event),
        ...given,
      });
      engines.push(engine);
      const count = (state: string) =>
        events.filter((event) => event.kind === 'connection' && event.state === state).length;
      return { engine, events, held: () => count('open') - count('closed') };
    }

    async function answers(engine: Engine, text = 'гитара'): Promise<void> {
      const page = await engine.search(ask(text), AbortSignal.timeout(LIMIT_MS));
      assert.equal(page.total, matching(text).length);
    }

    async function refused(promise: Promise<unknown>, ...reasons: EngineReason[]): Promise<void> {
      await assert.rejects(promise, (error) => {
        assert.ok(error instanceof Error && 'reason' in error, String(error));
        assert.ok(
          reasons.some((reason) => reason === error.reason),
          `${error.reason}: ${error.message}`,
        );
        return true;
      });
    }

    it('stopped (SIGSTOP): every search ends at its abort, no connection leaks, and searches work again after SIGCONT', async () => {
      const { engine, held } = open();
      const probed = open({ connectTimeoutMs: 300 });
      await Promise.all([answers(engine), answers(engine, 'чайник'), answers(engine, 'монитор')]);
      const alive = held();
      assert.ok(alive >= 1 && alive <= 4);
      await searchd.process.pause();
      try {
        // Three searches have a connection that stalls; the others wait for one or cannot open one.
        const searches = Array.from({ length: 8 }, () => engine.search(ask('гитара'), AbortSignal.timeout(300)));
        await Promise.all(searches.map((search) => refused(search, 'engine-timeout', 'engine-unavailable')));
        assert.equal(held(), 0);
        await refused(probed.engine.probe(AbortSignal.timeout(LIMIT_MS)), 'engine-unavailable');
      } finally {
        searchd.process.signal('SIGCONT');
      }
      // First searchd has to greet all clients that connected and left meanwhile.
      await until('an answer', () => answers(engine));
      await Promise.all(Array.from({ length: 8 }, () => answers(engine)));
      assert.ok(held() <= 4);
      await engine.close();
    });

    it('a search given up while searchd was stopped does not affect the next one', async () => {
      const { engine, events } = open({ maxConnections: 1 });
      await answers(engine);
      for (let round = 0; round < 3; round += 1) {
        await searchd.process.pause();
        const given = engine.search(ask(COMMON, { limit: 100 }), AbortSignal.timeout(50));
        await refused(given, 'engine-timeout').finally(() => searchd.process.signal('SIGCONT'));
        await answers(engine, 'чайник');
      }
      assert.equal(events.filter((event) => event.kind === 'connection' && event.state === 'discarded').length, 3);
      await engine.close();
    });

    it('searches aborted at any moment never delay or corrupt the others', async () => {
      const { engine, held } = open();
      const words = ['гитара', 'чайник', 'монитор', 'велосипед'];
      for (let round = 0; round < 60; round += 1) {
        const word = words[round % words.length] ?? COMMON;
        const controller = new AbortController();
        const aborted = engine
          .search(ask(COMMON, { limit: 100, facets: ['city'] }), controller.signal)
          .catch((error) => error);
        const kept = engine.search(ask(word), AbortSignal.timeout(LIMIT_MS));
        await sleep((round % 10) / 3);
        controller.abort();
        assert.equal((await kept).total, matching(word).length);
        const outcome = await aborted;
        assert.ok(outcome.total === matching(COMMON).length || outcome.reason === 'engine-timeout', String(outcome));
        assert.ok(held() <= 4);
      }
      await engine.close();
      assert.equal(held(), 0);
    });

    it('searches beyond connections and queue are refused at once, the others are answered', async () => {
      const { engine } = open({ maxConnections: 2 });
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () =>
          engine.search(ask('гитара'), AbortSignal.timeout(LIMIT_MS)).then(
            () => 'answered',
            (error) => error.reason,
          ),
        ),
      );
      assert.equal(outcomes.filter((outcome) => outcome === 'answered').length, 4);
      assert.equal(outcomes.filter((outcome) => outcome === 'engine-overloaded').length, 6);
      await answers(engine);
      await engine.close();
    });

    it('an idle connection is closed before searchd would close it, and a new one is opened when needed', async () => {
      const events: SphinxEvent[] = [];
      const connections = createConnections({
        ...engineDefaults(searchd.port, server),
        idleMs: 50,
        target: 'test',
        monotonicMs: systemClock.monotonicMs,
        observe: (event) => events.push(event),
      });
      for (let round = 1; round <= 2; round += 1) {
        await connections.ask('SHOW META; SHOW META', AbortSignal.timeout(LIMIT_MS));
        await until('no connection', () => assert.deepEqual(connections.counts(), { open: 0, idle: 0, waiting: 0 }));
        assert.equal(events.filter((event) => event.kind === 'connection' && event.state === 'open').length, round);
      }
      connections.close();
    });

    it('an unknown index is rejected, not unavailable', async () => {
      const { engine } = open({ index: 'nosuch' });
      await refused(engine.search(ask('гитара'), AbortSignal.timeout(LIMIT_MS)), 'engine-rejected');
      await refused(engine.probe(AbortSignal.timeout(LIMIT_MS)), 'engine-rejected');
      await engine.close();
    });

    it('an empty statement is refused before it is sent, because it would crash searchd', async () => {
      const options = { ...engineDefaults(searchd.port, server), onClose: () => {} };
      const connection = await openConnection(options, AbortSignal.timeout(LIMIT_MS));
      for (const sql of ['', ' ', '\n', '\t ']) await assert.rejects(connection.send(sql), /empty statement/);
      assert.equal((await connection.send('SHOW META; SHOW META')).length, 2);
      connection.destroy();
      await refused(connection.send('SHOW META'), 'engine-unavailable');
    });

    it('killed: searches are unavailable at once, and work again when searchd is back', async () => {
      const { engine, held } = open();
      await answers(engine);
      const underWay = engine
        .search(ask(COMMON, { limit: 100 }), AbortSignal.timeout(LIMIT_MS))
        .catch((error) => error.reason);
      searchd.process.signal('SIGKILL');
      await searchd.process.ended;
      const outcome = await underWay;
      assert.ok(typeof outcome !== 'string' || outcome === 'engine-unavailable', String(outcome));
      await refused(engine.search(ask('гитара'), AbortSignal.timeout(LIMIT_MS)), 'engine-unavailable');
      await refused(engine.probe(AbortSignal.timeout(LIMIT_MS)), 'engine-unavailable');
      assert.equal(held(), 0);
      const { configFile, port } = searchd;
      searchd = await startSearchd({ directory, from: { configFile, port }, built: true, server });
      // On a busy machine its first greetings come late, and the engine is in doubt until one has come in time.
      await until('searches to work again', () => answers(engine));
      await engine.probe(AbortSignal.timeout(LIMIT_MS));
      await engine.close();
    });

    it('an index rotated under load breaks no search and no connection', async () => {
      const { engine, events } = open();
      let rotated = false;
      const rotating = searchd.rotate().finally(() => {
        rotated = true;
      });
      while (!rotated) await Promise.all([answers(engine), answers(engine, 'чайник'), sleep(10)]);
      await rotating;
      await answers(engine);
      assert.equal(events.filter((event) => event.kind === 'connection' && event.state === 'closed').length, 0);
      await engine.close();
    });
  });
});
