import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { createDnsNames, type DnsNames } from '../../../loadtest/fault-proxy/dns-names.ts';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/fault-proxy/engine-proxy.ts';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';

describe('host names of a test, resolved by a process that connects to them', () => {
  let folder: string;
  let names: DnsNames;
  let stack: RedisStack;
  /** Refuses every connection with a known message, which shows that the name was resolved to it. */
  let engine: EngineProxy;
  let child: ChildProcess;
  let ask: (way: 'redis' | 'engine', host: string) => Promise<string>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'serpcache-dns-'));
    names = createDnsNames(folder);
    stack = await startStandalone({ flavour: 'redis' });
    const [node] = stack.nodes;
    if (node === undefined) throw new Error('a stack without nodes');
    engine = await startEngineProxy({ target: node });
    engine.maxedOut(true);
    const started = spawn(process.execPath, [join(import.meta.dirname, 'dns-lookup-process.ts')], {
      env: { ...process.env, NODE_OPTIONS: names.nodeOptions },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child = started;
    const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
    ask = async (way, host) => {
      started.stdin.write(`${way} ${host} ${way === 'redis' ? node.port : engine.port}\n`);
      return String((await lines.next()).value);
    };
  });
  after(async () => {
    if (child !== undefined && child.exitCode === null) {
      child.stdin?.end();
      await once(child, 'exit');
    }
    await engine?.stop();
    await stack?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('a name resolves, stops resolving, and resolves again, for the store and for the engine', async () => {
    for (const [way, found] of [
      ['redis', 'PONG'],
      ['engine', 'Too many connections'],
    ] as const) {
      names.set('part.test', ['127.0.0.1']);
      assert.equal(await ask(way, 'part.test'), found);
      for (const answer of ['ENOTFOUND', 'EAI_AGAIN'] as const) {
        names.set('part.test', answer);
        assert.equal(await ask(way, 'part.test'), `getaddrinfo ${answer} part.test`);
      }
      names.set('part.test', 'silence');
      assert.match(await ask(way, 'part.test'), /ETIMEDOUT|no connection within 300 ms/);
      names.set('part.test', ['127.0.0.1']);
      assert.equal(await ask(way, 'part.test'), found);
    }
  });

  it('other names are resolved as usual, and only names under .test can be set', async () => {
    assert.equal(await ask('redis', 'localhost'), 'PONG');
    assert.throws(() => names.set('redis.example.com', ['127.0.0.1']), /end in \.test/);
  });
});
