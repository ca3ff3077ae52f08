import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ProbedNode, ProbeReply, StoreProbe } from '../../src/operations/doctor/doctor.ts';
import { until } from '../until.ts';

export interface StoreProbeUnderTest {
  readonly probe: StoreProbe;
  /** All nodes of the deployment. */
  readonly nodes: readonly ProbedNode[];
  /** A command at a node, as an administrator. */
  readonly command: (address: string, ...command: readonly string[]) => Promise<unknown>;
  readonly pause: (address: string) => Promise<void>;
  readonly resume: (address: string) => void;
  readonly kill: (address: string) => Promise<void>;
  readonly restart: (address: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The name of the doctor's connections in CLIENT LIST, and the id of each. */
const OWN_CONNECTION = /^id=(\d+) .* name=serpcache-doctor-/gm;

/** The promises of every store probe (src/operations/doctor/doctor.ts). */
export function storeProbeContract(name: string, setUp: () => Promise<StoreProbeUnderTest>): void {
  describe(`store probe contract: ${name}`, { concurrency: 1 }, () => {
    let under: StoreProbeUnderTest;
    before(async () => {
      under = await setUp();
    });
    after(() => under?.stop());
    const every = (): readonly string[] => under.nodes.map(({ address }) => address);
    const ask = (node: string, ...command: readonly string[]): Promise<ProbeReply> => under.probe.ask(node, command);
    const list = async (): Promise<readonly ProbedNode[]> => {
      const nodes = await under.probe.nodes();
      return 'known' in nodes ? nodes.known : assert.fail(nodes.skipped);
    };
    /** The last one: in a cluster and behind sentinels another node can tell of it. */
    const victim = (): string => every().at(-1) ?? '';
    const connectionsOf = async (node: string): Promise<readonly string[]> =>
      [...String(await under.command(node, 'CLIENT', 'LIST')).matchAll(OWN_CONNECTION)].map(([, id = '']) => id);

    test('all nodes are told, each in its role', async () => {
      assert.deepEqual(byAddress(await list()), byAddress(under.nodes));
    });

    test('every node answers with its figures, and with the time that the reply took', async () => {
      for (const node of every()) {
        const ping = await ask(node, 'PING');
        assert.ok(ping.kind === 'reply' && ping.reply === 'PONG' && ping.ms > 0, JSON.stringify(ping));
        const info = await ask(node, 'info', 'server');
        assert.ok(info.kind === 'reply' && String(info.reply).includes(`tcp_port:${node.split(':')[1]}`));
      }
    });

    test('many commands give one reply each, in their order, beyond one batch', async () => {
      const [node = ''] = every();
      const commands = Array.from({ length: 250 }, (_, index) =>
        index % 2 === 0 ? ['PING', String(index)] : index % 3 === 0 ? ['FLUSHALL'] : ['INFO', 'nothing', String(index)],
      );
      const replies = await under.probe.askMany(node, commands);
      assert.equal(replies.length, commands.length);
      for (const [index, reply] of replies.entries()) {
        if (index % 2 === 0) assert.ok(reply.kind === 'reply' && reply.reply === String(index), JSON.stringify(reply));
        else assert.equal(reply.kind, index % 3 === 0 ? 'refused' : 'reply');
      }
      assert.deepEqual(await under.probe.askMany(node, []), []);
    });

    test('all questions to a node go over one connection, which is kept', async () => {
      const [node = ''] = every();
      await Promise.all(Array.from({ length: 5 }, () => ask(node, 'PING')));
      const kept = await connectionsOf(node);
      assert.equal(kept.length, 1);
      await list();
      await ask(node, 'INFO');
      assert.deepEqual(await connectionsOf(node), kept);
    });

    test('a connection that the server has closed costs no answer', async () => {
      const [node = ''] = every();
      await ask(node, 'PING');
      const [id = ''] = await connectionsOf(node);
      await under.command(node, 'CLIENT', 'KILL', 'ID', id);
      assert.equal((await ask(node, 'PING')).kind, 'reply');
      assert.equal((await connectionsOf(node)).length, 1);
    });

    test('a command that is not read-only is refused and never sent', async () => {
      const [node = ''] = every();
      const sent = async (): Promise<readonly string[]> =>
        String(await under.command(node, 'INFO', 'commandstats')).match(/^cmdstat_[^:]+:calls=\d+/gm) ?? [];
      const commands = [
        ...['KEYS *', 'MONITOR', 'FLUSHALL', 'DEBUG SLEEP 1', 'SET a b', 'GET a', 'CONFIG', 'CONFIG SET maxmemory 1'],
        ...['CONFIG REWRITE', 'SLOWLOG RESET', 'CONFIG GET *', 'config get requirepass', 'CONFIG GET save masterauth'],
        ...['CLIENT KILL ID 1', 'SENTINEL RESET *', 'CLUSTER RESET'],
      ];
      const refused = [...commands.map((words) => words.split(' ')), ['EVAL', 'return 1', '0'], []];
      const before = await sent();
      for (const command of refused) {
        const reply = await ask(node, ...command);
        assert.ok(reply.kind === 'refused' && reply.detail.includes('the doctor'), command.join(' '));
      }
      // Replicas and sentinels send commands of their own meanwhile.
      const names = new Set(
        refused.flatMap(([name = '', sub]) => [name, `${name}|${sub}`]).map((each) => each.toLowerCase()),
      );
      const counted = (stats: readonly string[]): readonly string[] =>
        stats.filter((line) => names.has(/^cmdstat_([^:]+)/.exec(line)?.[1] ?? ''));
      assert.deepEqual(counted(await sent()), counted(before));
    });

    test('an address that is no node of the store is not asked', async () => {
      const reply = await ask('127.0.0.1:1', 'PING');
      assert.deepEqual(reply, { kind: 'unreachable', detail: '127.0.0.1:1 is no node of this store' });
    });

    test('a stopped node is unreachable, the others answer, and it answers again when it continues', async () => {
      const node = victim();
      await ask(node, 'PING');
      await under.pause(node);
      try {
        const replies = await Promise.all([ask(node, 'PING'), ask(node, 'INFO'), list()]);
        assert.deepEqual([replies[0].kind, replies[1].kind], ['unreachable', 'unreachable']);
        assert.ok(replies[2].some(({ address }) => address === node));
        for (const other of every()) if (other !== node) assert.equal((await ask(other, 'PING')).kind, 'reply');
      } finally {
        under.resume(node);
      }
      // A connection that was begun while it was stopped may have to time out first.
      await until('an answer of the node', async () => (await ask(node, 'PING')).kind === 'reply');
    });

    test('a killed node is unreachable and still told, and answers after its restart', async () => {
      const node = victim();
      await under.kill(node);
      const reply = await ask(node, 'PING');
      assert.ok(reply.kind === 'unreachable' && reply.detail.includes('ECONNREFUSED'), JSON.stringify(reply));
      assert.ok((await list()).some(({ address }) => address === node));
      await under.restart(node);
      assert.equal((await ask(node, 'PING')).kind, 'reply');
    });

    test('a closed probe has no connections and answers that it is closed', async () => {
      await under.probe.close();
      const [node = ''] = every();
      assert.deepEqual(await ask(node, 'PING'), { kind: 'unreachable', detail: 'the probe is closed' });
      await under.probe.nodes();
      for (const each of every()) {
        await until('its connections to end', async () => (await connectionsOf(each)).length === 0);
      }
    });
  });
}

function byAddress(nodes: readonly ProbedNode[]): readonly ProbedNode[] {
  return nodes.toSorted((a, b) => a.address.localeCompare(b.address));
}
