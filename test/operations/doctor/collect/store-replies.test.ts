import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  clientsOf,
  fieldsOf,
  latencyEventsOf,
  memoryStatsOf,
  pairsOf,
  refusalOf,
  serverOf,
  slotsOf,
  slowEntriesOf,
  timeMsOf,
} from '../../../../src/operations/doctor/collect/store-replies.ts';

describe('INFO', () => {
  test('fields are read without headlines, and a value keeps its colons', () => {
    const text =
      '# Server\r\nredis_version:7.0.15\r\n\r\n# Keyspace\r\ndb0:keys=1,expires=0\r\nmaster_host:fd00::1\r\n';
    assert.deepEqual(fieldsOf(text), {
      redis_version: '7.0.15',
      db0: 'keys=1,expires=0',
      master_host: 'fd00::1',
    });
  });

  test('paths of the server’s machine are left out', () => {
    const text = 'executable:/srv/redis-server\nconfig_file:/etc/redis/x.conf\ntcp_port:6379\nrdb_saves:0\n';
    assert.deepEqual(fieldsOf(text), { tcp_port: '6379', rdb_saves: '0' });
  });

  const servers = [
    ['Redis 7', { redis_version: '7.0.15' }, 'Redis', '7.0.15', true],
    ['Redis 6.2', { redis_version: '6.2.14' }, 'Redis', '6.2.14', false],
    ['Valkey 8', { redis_version: '7.2.4', server_name: 'valkey', valkey_version: '8.0.1' }, 'Valkey', '8.0.1', true],
    ['Valkey 7', { redis_version: '7.2.4', server_name: 'valkey', valkey_version: '7.2.8' }, 'Valkey', '7.2.8', false],
    ['KeyDB', { redis_version: '6.3.4', mvcc_depth: '0' }, 'KeyDB', '6.3.4', false],
    ['Dragonfly', { redis_version: '7.4.0', dragonfly_version: 'df-v1.40.1' }, 'Dragonfly', 'df-v1.40.1', false],
    ['a server without a version', { role: 'master' }, 'unknown', '', false],
  ] as const;
  for (const [name, info, product, version, run] of servers) {
    test(`${name} is told from its fields`, () => assert.deepEqual(serverOf(info), { product, version, run }));
  }
});

describe('CLIENT LIST', () => {
  const line = (fields: Readonly<Record<string, string | number>>): string => {
    const all = {
      id: 7,
      addr: '10.0.0.1:40000',
      laddr: '10.0.0.9:6379',
      fd: 9,
      name: '',
      age: 600,
      idle: 3,
      flags: 'N',
    };
    const rest = { db: 0, sub: 0, psub: 0, multi: -1, qbuf: 0, obl: 0, oll: 0, omem: 0, events: 'r', cmd: 'get' };
    const whole = { ...all, ...rest, user: 'default', redir: -1, resp: 2, ...fields };
    return Object.entries(whole)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
  };

  test('clients are counted by address and name, most connections first, and those of a doctor are left out', () => {
    const text = [
      line({ addr: '10.0.0.1:1', name: 'serpcache-goods', age: 3 }),
      line({ addr: '10.0.0.1:2', name: 'serpcache-goods' }),
      line({ addr: '10.0.0.1:3', name: 'worker', flags: 'b', db: 4 }),
      line({ addr: '[fd00::1]:4', name: 'serpcache-goods', idle: 90 }),
      line({ name: 'serpcache-doctor-store-of-goods', age: 0, db: 9 }),
      '',
    ].join('\n');
    assert.deepEqual(clientsOf(text), {
      ...{ count: 4, young: 1, idleSecondsMedian: 3, blocked: 1, databases: [0, 4] },
      largestOutput: { bytes: 0, client: 'serpcache-goods', kind: 'normal' },
      top: [
        { address: '10.0.0.1', name: 'serpcache-goods', count: 2, young: 1 },
        { address: '10.0.0.1', name: 'worker', count: 1, young: 0 },
        { address: '[fd00::1]', name: 'serpcache-goods', count: 1, young: 0 },
      ],
    });
  });

  test('a line of Redis 5, without laddr, user and resp, tells the same figures', () => {
    const text =
      'id=3 addr=10.0.0.1:52555 fd=8 name= age=5 idle=0 flags=N db=0 sub=0 psub=0 multi=-1 qbuf=26 qbuf-free=32742 obl=0 oll=0 omem=0 events=r cmd=client\n';
    const { count, young, top, databases } = clientsOf(text);
    assert.deepEqual({ count, young, databases }, { count: 1, young: 1, databases: [0] });
    assert.deepEqual(top, [{ address: '10.0.0.1', name: '', count: 1, young: 1 }]);
  });

  test('the largest output buffer is told with its client and kind', () => {
    const largest = (flags: string, name: string) =>
      clientsOf([line({ omem: 20 }), line({ addr: '10.0.0.2:5', omem: 9000, flags, name })].join('\n')).largestOutput;
    assert.deepEqual(largest('S', ''), { bytes: 9000, client: '10.0.0.2:5', kind: 'replica' });
    assert.deepEqual(largest('P', 'news'), { bytes: 9000, client: 'news', kind: 'pubsub' });
    assert.deepEqual(largest('N', 'reader'), { bytes: 9000, client: 'reader', kind: 'normal' });
  });

  test('at most 10 groups are kept, and an empty list is no client', () => {
    const many = Array.from({ length: 30 }, (_, at) => line({ addr: `10.0.0.${at}:1` })).join('\n');
    assert.equal(clientsOf(many).top.length, 10);
    const { count, top, databases, largestOutput } = clientsOf('');
    assert.deepEqual(
      { count, top, databases, bytes: largestOutput.bytes },
      { count: 0, top: [], databases: [], bytes: 0 },
    );
  });
});

describe('SLOWLOG', () => {
  const entry = (words: readonly string[], ...client: readonly string[]) => [
    14,
    1_795_000_000,
    15_000,
    words,
    ...client,
  ];

  test('the arguments of a command are dropped, a subcommand is kept', () => {
    const reply = [
      entry(['set', 'secret-key', 'secret-value'], '10.0.0.1:1', 'serpcache-goods'),
      entry(['CONFIG', 'SET', 'requirepass', 'secret'], '10.0.0.1:1', ''),
      entry(['AUTH', 'secret'], '10.0.0.1:1', ''),
    ];
    const entries = slowEntriesOf(reply);
    assert.ok(!JSON.stringify(entries).includes('secret'));
    assert.deepEqual(entries[0], {
      ...{ id: 14, atSeconds: 1_795_000_000, micros: 15_000, command: 'SET', client: 'serpcache-goods' },
    });
    assert.deepEqual(
      entries.map(({ command, client }) => [command, client]),
      [
        ['SET', 'serpcache-goods'],
        ['CONFIG SET', '10.0.0.1:1'],
        ['AUTH', '10.0.0.1:1'],
      ],
    );
  });

  test('a word that is no name of a command becomes “other”, and so does a subcommand that is none', () => {
    const words = [['my secret text'], ['\u0000\u0001'], ['x'.repeat(33)], ['12'], [], ['CLIENT', 'a text']];
    const entries = slowEntriesOf(words.map((command) => entry(command, '', '')));
    assert.deepEqual(
      entries.map(({ command }) => command),
      ['other', 'other', 'other', 'other', 'other', 'CLIENT'],
    );
  });

  test('entries without a client, as Redis 3 has them, are kept, and other shapes are left out', () => {
    assert.deepEqual(
      slowEntriesOf([entry(['GET', 'a']), 'odd', [1, 2]]).map(({ command, client }) => [command, client]),
      [['GET', '']],
    );
    for (const odd of [undefined, null, 'OK', 7]) assert.deepEqual(slowEntriesOf(odd), []);
  });
});

describe('other replies', () => {
  test('LATENCY LATEST gives each event with its latest and its longest time', () => {
    const reply = [['command', 1_795_000_000, 60, 120], ['fork'], 'odd'];
    assert.deepEqual(latencyEventsOf(reply), [
      { event: 'command', atSeconds: 1_795_000_000, latestMs: 60, maxMs: 120 },
    ]);
  });

  test('MEMORY STATS is flat, with the names of nested lists before theirs, and texts left out', () => {
    const reply = [
      ...['peak.allocated', 900, 'db.0', ['overhead.hashtable.main', 72, 'overhead.hashtable.expires', 8]],
      ...['fragmentation', '1.25', 'allocator', 'jemalloc', 'odd'],
    ];
    assert.deepEqual(memoryStatsOf(reply), {
      'peak.allocated': 900,
      'db.0.overhead.hashtable.main': 72,
      'db.0.overhead.hashtable.expires': 8,
      fragmentation: 1.25,
    });
    assert.deepEqual(memoryStatsOf(null), {});
  });

  test('CONFIG GET gives pairs, an empty value included, and another shape none', () => {
    assert.deepEqual(pairsOf(['save', '', 'timeout', '0']), { save: '', timeout: '0' });
    assert.deepEqual(pairsOf('OK'), {});
  });

  test('TIME is told in milliseconds; a reply of another shape is unknown', () => {
    assert.equal(timeMsOf(['1795000000', '250000']), 1_795_000_000_250);
    for (const odd of [[], ['1795000000'], 'OK', ['a', 'b']]) assert.equal(timeMsOf(odd), undefined);
  });

  test('a refusal has the server’s words, at most 120 characters of them', () => {
    const reply = { kind: 'refused', detail: `ERR ${'x'.repeat(300)}`, ms: 1 } as const;
    assert.equal(refusalOf('CONFIG GET', reply), `CONFIG GET is refused: ERR ${'x'.repeat(116)}`);
    assert.equal(refusalOf('PING', { kind: 'unreachable', detail: 'connect ECONNREFUSED' }), 'connect ECONNREFUSED');
  });
});

describe('CLUSTER NODES', () => {
  test('slots are counted in ranges and single ones, at the node that has them while they migrate', () => {
    const text = [
      'a 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 0-99 101 [93-<-b77] [101->-b77]',
      'b 10.0.0.2:6379@16379 master - 0 0 2 connected 200-16383',
      'c 10.0.0.3:6379@16379 slave a 0 0 1 connected',
      '',
    ].join('\n');
    assert.deepEqual(
      [...slotsOf(text, '10.0.0.1:6379')],
      [
        ['10.0.0.1:6379', 101],
        ['10.0.0.2:6379', 16_184],
        ['10.0.0.3:6379', 0],
      ],
    );
  });

  test('a node is found by its IPv6 address, its announced name, and the address that was asked', () => {
    const text = [
      'a :6379@16379 myself,master - 0 0 1 connected 0-9',
      'b ::1:6380@16380,,tls-port=0 master - 0 0 2 connected 10-29',
      'c 10.0.0.3:6381@16381,cache-3,shard-id=9 master - 0 0 3 connected 30-59',
    ].join('\n');
    const slots = slotsOf(text, 'seed:6379');
    assert.deepEqual(
      ['seed:6379', '[::1]:6380', 'cache-3:6381', '10.0.0.3:6381'].map((address) => slots.get(address)),
      [10, 20, 30, 30],
    );
    assert.equal(slots.size, 4);
  });
});
