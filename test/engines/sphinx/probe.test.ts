import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext, test } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import {
  type RunningSearchd,
  type SearchServer,
  SPHINX,
  sampleGoods,
  startSearchd,
} from '../../../loadtest/stack/sphinx.ts';
import { type Connection, openConnection } from '../../../src/engines/sphinx/connection.ts';
import { createSphinxProbe } from '../../../src/engines/sphinx/probe.ts';
import { writeSphinxSource } from '../../../src/engines/sphinx/source.ts';
import { checkOf, type Window } from '../../../src/operations/doctor/check.ts';
import { ENGINE_CHECKS } from '../../../src/operations/doctor/checks/engine.ts';
import type { EngineProbe } from '../../../src/operations/doctor/doctor.ts';
import { type EngineFacts, known } from '../../../src/operations/doctor/facts.ts';
import { createJudge } from '../../../src/operations/doctor/judge.ts';
import { systemClock } from '../../../src/runtime.ts';
import { evidenceOf, seenIn, snapshotWith, windowOf } from '../../operations/doctor/harness.ts';
import { pluck } from '../../pluck.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { eachServer, temporaryDirectory } from './harness.ts';

const MOST_CONNECTIONS = 12;
const DOCUMENTS = 40;
const PLANTED = 'plantedword';

eachServer((name, server) => {
  describe(`the probe of ${name}`, () => {
    let stack: Awaited<ReturnType<typeof startStack>>;
    before(async () => {
      stack = await startStack(server);
    });
    after(() => stack?.stop());
    const probeFor = (t: TestContext, index = 'goods') => probeOf(t, stack.searchd.port, server, index);

    it('tells status, version, round trip and documents of a local index', async (t) => {
      const facts = await readable(probeFor(t));
      assert.match(known(facts.version) ?? '', server.dialect === 'sphinx' ? /^2\.2\.11/ : /@/);
      assert.equal(known(facts.status)?.['maxed_out'], '0');
      assert.ok((known(facts.rttMs) ?? 0) > 0);
      assert.equal(known(facts.indexStatus)?.['indexed_documents'], String(DOCUMENTS));
      assert.deepEqual(known(facts.agents), []);
      assert.equal(known(facts.indexAge)?.from, 'first-seen');
      assert.deepEqual(JSON.parse(JSON.stringify(facts)), facts);
      assert.equal(known(facts.maxConnections), server.dialect === 'sphinx' ? undefined : MOST_CONNECTIONS);
      assert.equal(seen('engine-kind', facts, facts).state, 'fine');
    });

    it('uses one connection for readings at the same time', async (t) => {
      const probe = probeFor(t);
      const connections = async (): Promise<number> =>
        Number(known((await probe.read('cheap')).status)?.['connections']);
      const [first] = await Promise.all([connections(), connections(), probe.read('full')]);
      assert.equal(await connections(), first);
    });

    it('names a dead agent of a distributed index, and only that', async (t) => {
      const { searchd, agent, dead } = stack;
      const probe = probeFor(t, 'crippled');
      const earlier = await readable(probe);
      assert.deepEqual(
        known(earlier.agents)
          ?.map((one) => one.agent)
          .toSorted(),
        [agent, dead].toSorted(),
      );
      assert.equal(known(earlier.indexStatus)?.['indexed_documents'], undefined);
      const client = await clientOf(t, searchd.port);
      for (let count = 0; count < 5; count += 1) await client.send('SELECT id FROM crippled LIMIT 1');
      const evidence = evidenceOf(seen('engine-agents', earlier, await probe.read('full')));
      assert.ok(evidence.includes(dead) && !evidence.includes(agent), evidence);
      const whole = probeFor(t, 'whole');
      const [one, other] = [await whole.read('cheap'), await whole.read('cheap')];
      assert.equal(seen('engine-agents', one, other).state, 'fine');
    });

    it('sees over the connection that it holds that others are refused, and the second such window is a finding', async (t) => {
      const probe = probeFor(t);
      const judge = createJudge(ENGINE_CHECKS.map(checkOf));
      const earlier = await probe.read('cheap');
      let before = earlier;
      for (const found of [[], ['engine-maxed-out']]) {
        // The first ones stay, so that all of the second crowd is refused.
        const crowd = await Promise.allSettled(
          Array.from({ length: MOST_CONNECTIONS + 1 }, () => clientOf(t, stack.searchd.port)),
        );
        assert.ok(crowd.some(({ status }) => status === 'rejected'));
        const full = await probe.read('cheap');
        assert.match(evidenceOf(seen('engine-maxed-out', before, full)), /\d connections were refused/);
        judge.add(windowBetween(before, full));
        assert.deepEqual(pluck(judge.findings(), 'check'), found);
        before = full;
      }
      const refused = await probeFor(t).read('cheap');
      assert.match(evidenceOf(seen('engine-maxed-out', earlier, refused)), /own connection was refused/);
      assert.equal(seen('engine-unreachable', earlier, refused).state, 'skipped');
    });

    it('tells that a stopped server is unreachable, and reads it again when it goes on', async (t) => {
      const { process } = stack.searchd;
      const probe = probeFor(t);
      const earlier = await readable(probe);
      await process.pause();
      t.after(() => process.signal('SIGCONT'));
      // The first reading has a connection, the second opens one.
      for (const depth of ['full', 'cheap'] as const) {
        const stopped = await probe.read(depth);
        assert.match(evidenceOf(seen('engine-unreachable', earlier, stopped)), /no answer|no connection/);
      }
      process.signal('SIGCONT');
      assert.equal(seen('engine-unreachable', earlier, await readable(probe)).state, 'fine');
    });

    it('tells a rotation by the figures of the index', async (t) => {
      const probe = probeFor(t);
      await readable(probe);
      const file = join(stack.directory, 'goods.tsv');
      const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
      await writeFile(file, `${lines.slice(0, DOCUMENTS / 2).join('\n')}\n`);
      await stack.searchd.rotate();
      const rotated = await probe.read('cheap');
      assert.equal(known(rotated.indexAge)?.from, 'change');
      assert.match(evidenceOf(seen('engine-rotation', rotated, rotated)), /has 20 documents now/);
    });

    it('tells nothing of the text of a query in progress, and counts it where the server tells its time', async (t) => {
      const [client, other] = [await clientOf(t, stack.searchd.port), await clientOf(t, stack.searchd.port)];
      const isSphinx = server.dialect === 'sphinx';
      const probe = probeFor(t);
      const idle = await readable(probe);
      let isRunning = true;
      client
        .send(`SELECT id FROM mute WHERE MATCH('${PLANTED}') LIMIT 1`)
        .catch(() => undefined)
        .finally(() => {
          isRunning = false;
        });
      // Manticore lists no query that waits for an agent.
      if (isSphinx) {
        await until('the query to run', async () => JSON.stringify(await other.send('SHOW THREADS')).includes(PLANTED));
      }
      const facts = await probe.read('full');
      assert.ok(isRunning && 'known' in facts.status);
      assert.ok(!JSON.stringify(facts).includes(PLANTED));
      if (!isSphinx) return;
      assert.deepEqual(known(idle.threads), { count: 0, longestMs: 0 });
      await until('the time of the query', async () => {
        const threads = known((await probe.read('full')).threads);
        assert.ok(threads?.count === 1 && threads.longestMs > 1, `${threads?.count}, ${threads?.longestMs} ms`);
      });
    });

    it('tells that a killed server is unreachable, and reads the one that takes its place', async (t) => {
      const probe = probeFor(t);
      const earlier = await readable(probe);
      await stack.kill();
      for (const depth of ['cheap', 'full'] as const) {
        assert.match(evidenceOf(seen('engine-unreachable', earlier, await probe.read(depth))), /no answer/);
      }
      await stack.start();
      const later = await readable(probe);
      assert.equal(seen('engine-unreachable', earlier, later).state, 'fine');
      assert.ok('known' in later.indexStatus);
    });
  });
});

test('a server that is not there, and a closed probe, are missing parts and no error', async (t) => {
  const [port = 0] = await freePorts(1);
  const probe = probeOf(t, port, SPHINX, 'goods');
  const facts = await probe.read('full');
  assert.match('skipped' in facts.status ? facts.status.skipped : '', /ECONNREFUSED/);
  await probe.close();
  assert.ok('skipped' in (await probe.read('full')).version);
});

function probeOf(t: TestContext, port: number, { dialect }: SearchServer, index: string): EngineProbe {
  const head = { name: 'engine of goods', domains: ['goods'], kind: dialect, endpoint: `127.0.0.1:${port}`, index };
  const settings = { maxConcurrent: 8, deadlineMs: 500, hardDeadlineMs: 2000 };
  const probe = createSphinxProbe({
    host: '127.0.0.1',
    port,
    connectTimeoutMs: LIMIT_MS,
    clock: systemClock,
    facts: { ...head, settings },
  });
  t.after(probe.close);
  return probe;
}

/** A reading of a server that may be slow, or may still be closing the connections of an earlier test. */
async function readable(probe: EngineProbe): Promise<EngineFacts> {
  let facts = await probe.read('full');
  await until('a reading', async () => {
    if (!('known' in facts.status)) facts = await probe.read('full');
    return 'known' in facts.status;
  });
  return facts;
}

async function clientOf(t: TestContext, port: number): Promise<Connection> {
  const options = { host: '127.0.0.1', port, connectTimeoutMs: LIMIT_MS, onClose: () => {} };
  const connection = await openConnection(options, new AbortController().signal);
  t.after(() => connection.destroy());
  return connection;
}

/** The only observation of a check between two readings. */
function seen(id: string, earlier: EngineFacts, later: EngineFacts) {
  return seenIn(id, windowBetween(earlier, later));
}

function windowBetween(earlier: EngineFacts, later: EngineFacts): Window {
  return windowOf(snapshotWith({ engines: [earlier] }), snapshotWith({ engines: [later] }));
}

/** A searchd that is its own agent, an agent that is dead, and one that takes connections and never says anything. */
async function startStack(server: SearchServer): Promise<{
  /** Another one after `start`. */
  searchd: RunningSearchd;
  readonly directory: string;
  readonly agent: string;
  readonly dead: string;
  readonly kill: () => Promise<void>;
  /** A new process with the same indexes, at the same port. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}> {
  const { domain, documents } = sampleGoods(DOCUMENTS);
  const directory = await temporaryDirectory();
  const mute = await listening(createServer((socket) => socket.on('error', () => {})));
  const [port = 0, agentPort = 0, deadPort = 0] = await freePorts(3);
  const { configFile } = await writeSphinxSource({
    directory,
    domains: [{ domain, index: 'goods', documents }],
    searchd: { dialect: server.dialect, host: '127.0.0.1', port, maxConnections: MOST_CONNECTIONS },
  });
  const at = (agent: number): string => `127.0.0.1:${agent}:goods`;
  const index = (name: string, ...agents: string[]): string =>
    [
      `index ${name}\n{\ntype = distributed\nagent_connect_timeout = ${LIMIT_MS}`,
      ...agents.map((one) => `agent = ${one}`),
      '}\n',
    ].join('\n');
  const generated = await readFile(configFile, 'utf8');
  await writeFile(
    configFile,
    [
      generated.replace('searchd\n{', `searchd\n{\n  listen = 127.0.0.1:${agentPort}`),
      index('whole', at(agentPort)),
      index('crippled', at(agentPort), at(deadPort)),
      index('mute', at((mute.address() as AddressInfo).port)),
    ].join('\n'),
  );
  const options = { directory, from: { configFile, port }, server };
  const kill = (): Promise<void> => {
    // After SIGTERM Sphinx waits three seconds.
    stack.searchd.process.signal('SIGKILL');
    return stack.searchd.process.ended;
  };
  const stack = {
    searchd: await startSearchd(options),
    directory,
    agent: at(agentPort),
    dead: at(deadPort),
    kill,
    start: async () => {
      stack.searchd = await startSearchd({ ...options, built: true });
    },
    stop: async () => {
      await kill();
      mute.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return stack;
}

async function listening(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
