import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startStandalone } from '../../../../loadtest/stack/redis.ts';
import { createKeySampler } from '../../../../src/operations/doctor/collect/store-keys.ts';
import type { ProbeReply } from '../../../../src/operations/doctor/doctor.ts';
import { standaloneOf } from '../../../stores/redis/harness.ts';
import { ADVISED_USER, DOCTOR_USER } from '../../../stores/redis/users.ts';
import { realProbe, told } from '../harness.ts';

const NOPERM = 'NOPERM No permissions to access a key';
const KEYS = 100;

/** Each of these three prefixes has `KEYS` keys, texts of 3 bytes that use 80. */
const PREFIXES = ['sc1:goods:', 'sc1:books:', 'cart:'] as const;

/** @param refusal the server's error for a command about a key, if it refuses it; `nth` counts the same commands from 0 */
function over(refusal: (command: string, key: string, nth: number) => string | undefined) {
  const names = PREFIXES.flatMap((prefix) => Array.from({ length: KEYS }, (_, at) => `${prefix}${at}`));
  const sent = new Map<string, number>();
  const replies: Readonly<Record<string, unknown>> = { TYPE: 'string', 'MEMORY USAGE': 80, STRLEN: 3 };
  const replyTo = (words: readonly string[]): ProbeReply => {
    const [name = '', first = ''] = words;
    const command = name === 'MEMORY' ? `${name} ${first}` : name;
    const nth = sent.get(command) ?? 0;
    sent.set(command, nth + 1);
    if (command === 'DBSIZE') return { kind: 'reply', reply: names.length, ms: 1 };
    if (command === 'SCAN') return { kind: 'reply', reply: ['0', names], ms: 1 };
    const detail = refusal(command, name === 'MEMORY' ? (words[2] ?? '') : first, nth);
    if (detail !== undefined) return { kind: 'refused', detail, ms: 1 };
    return { kind: 'reply', reply: replies[command] ?? null, ms: 1 };
  };
  const sampler = createKeySampler({ askMany: async (commands) => commands.map(replyTo) });
  return { sampler, count: (command: string): number => sent.get(command) ?? 0 };
}

describe('refusals of commands about keys', () => {
  test('a refused command is sent once for each domain and once for foreign keys, however many keys there are', async () => {
    const { sampler, count } = over((command) => (command === 'MEMORY USAGE' ? NOPERM : undefined));
    const keys = told(await sampler.sample());
    assert.equal(count('MEMORY USAGE'), PREFIXES.length);
    assert.deepEqual([count('TYPE'), count('STRLEN')], [3 * KEYS, 3 * KEYS]);
    assert.deepEqual([keys.sampled, keys.biggest[0]?.bytes], [3 * KEYS, 3]);
  });

  test('without TYPE nothing else is sent about keys', async () => {
    const { sampler, count } = over((command) => (command === 'TYPE' ? NOPERM : undefined));
    assert.deepEqual(await sampler.sample(), { skipped: `TYPE is refused: ${NOPERM}` });
    assert.deepEqual([count('TYPE'), count('MEMORY USAGE')], [PREFIXES.length, 0]);
  });

  test('keys of one domain are sampled when those of others are forbidden', async () => {
    const { sampler, count } = over((_, key) => (key.startsWith('sc1:books:') ? undefined : NOPERM));
    const keys = told(await sampler.sample());
    assert.deepEqual([keys.sampled, keys.ours, keys.foreign], [KEYS, KEYS, 0]);
    assert.equal(count('TYPE'), KEYS + 2);
  });

  for (const detail of ['MOVED 7 10.0.0.2:6379', 'ASK 7 10.0.0.2:6379', 'WRONGTYPE Operation against a key']) {
    test(`“${detail}” is about one key, and the others are asked`, async () => {
      const { sampler, count } = over((command, _, nth) => (command === 'TYPE' && nth === 0 ? detail : undefined));
      assert.equal(told(await sampler.sample()).sampled, 3 * KEYS - 1);
      assert.equal(count('TYPE'), 3 * KEYS);
    });
  }

  test('facts stand at the key that they are of, although the first of each domain is asked ahead', async () => {
    const bytes = (key: string): number => 1000 + key.length * 7 + Number(key.split(':').at(-1));
    const names = ['cart:5', 'sc1:goods:80', 'cart:900', 'sc1:books:1', 'sc1:goods:7'];
    const sampler = createKeySampler({
      askMany: async (commands) =>
        commands.map(([name, , key = '']): ProbeReply => {
          const reply = { DBSIZE: 5, SCAN: ['0', names], TYPE: 'string' }[name ?? ''] ?? bytes(key);
          return { kind: 'reply', reply, ms: 1 };
        }),
    });
    const { biggest } = told(await sampler.sample());
    assert.deepEqual(new Map(biggest.map((key) => [key.name, key.bytes])), new Map(names.map((n) => [n, bytes(n)])));
  });
});

describe('a real server with the ACL that deploy/redis advises', { concurrency: 2 }, () => {
  const given = async (t: TestContext, acl: typeof ADVISED_USER) => {
    const stack = await startStandalone({ flavour: 'redis', acl });
    t.after(stack.stop);
    const [server] = stack.nodes;
    assert.ok(server);
    await server.command('EVAL', "for i = 1, 400 do redis.call('SET', 'sc1:goods:' .. i, 'x') end", 0);
    const probe = realProbe(t, { ...standaloneOf(stack), username: acl.username, password: acl.password });
    const sampler = createKeySampler({ askMany: (commands) => probe.askMany(server.address, commands) });
    const refused = async (): Promise<number> =>
      Number(/errorstat_NOPERM:count=(\d+)/.exec(String(await server.command('INFO', 'errorstats')))?.[1] ?? 0);
    return { sampler, refused };
  };

  test('the user of the service may not ask for types, and each sample is one refusal', async (t) => {
    const { sampler, refused } = await given(t, ADVISED_USER);
    await sampler.sample();
    const before = await refused();
    const keys = await sampler.sample();
    assert.ok('skipped' in keys && keys.skipped.startsWith('TYPE is refused: NOPERM'), JSON.stringify(keys));
    assert.equal((await refused()) - before, 1);
  });

  test('the user of the doctor samples keys without a refusal', async (t) => {
    const { sampler, refused } = await given(t, DOCTOR_USER);
    const before = await refused();
    assert.ok(told(await sampler.sample()).sampled > 200);
    assert.equal(await refused(), before);
  });
});
