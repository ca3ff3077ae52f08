import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  clientsOf,
  directivesOf,
  fieldsOf,
  latencyEventsOf,
  refusalText,
  slowEntriesOf,
  timeMsOf,
} from '../../../../src/operations/doctor/collect/store-replies.ts';
import { pluck, rowsOf } from '../../../pluck.ts';

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
      count: 4,
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
    const { count, top } = clientsOf(text);
    assert.equal(count, 1);
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
    const { count, top, largestOutput } = clientsOf('');
    assert.deepEqual({ count, top, bytes: largestOutput.bytes }, { count: 0, top: [], bytes: 0 });
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
      id: 14,
      atSeconds: 1_795_000_000,
      micros: 15_000,
      command: 'SET',
      client: 'serpcache-goods',
    });
    assert.deepEqual(rowsOf(entries, 'command', 'client'), [
      ['SET', 'serpcache-goods'],
      ['CONFIG SET', '10.0.0.1:1'],
      ['AUTH', '10.0.0.1:1'],
    ]);
  });

  test('a word that is no name of a command becomes “other”, and so does a subcommand that is none', () => {
    const words = [['my secret text'], ['\u0000\u0001'], ['x'.repeat(33)], ['12'], [], ['CLIENT', 'a text']];
    const entries = slowEntriesOf(words.map((command) => entry(command, '', '')));
    assert.deepEqual(pluck(entries, 'command'), ['other', 'other', 'other', 'other', 'other', 'CLIENT']);
  });

  test('entries without a client, as Redis 3 has them, are kept, and other shapes are left out', () => {
    assert.deepEqual(rowsOf(slowEntriesOf([entry(['GET', 'a']), 'odd', [1, 2]]), 'command', 'client'), [['GET', '']]);
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

  test('CONFIG GET gives pairs, an empty value included, and another shape none', () => {
    assert.deepEqual(directivesOf(['save', '', 'timeout', '0']), { save: '', timeout: '0' });
    assert.deepEqual(directivesOf('OK'), {});
  });

  test('TIME is told in milliseconds; a reply of another shape is unknown', () => {
    assert.equal(timeMsOf(['1795000000', '250000']), 1_795_000_000_250);
    for (const odd of [[], ['1795000000'], 'OK', ['a', 'b']]) assert.equal(timeMsOf(odd), undefined);
  });

  test('a refusal has the server’s words, at most 120 characters of them', () => {
    const reply = { kind: 'refused', detail: `ERR ${'x'.repeat(300)}`, ms: 1 } as const;
    assert.equal(refusalText('CONFIG GET', reply), `CONFIG GET is refused: ERR ${'x'.repeat(116)}`);
    assert.equal(refusalText('PING', { kind: 'unreachable', detail: 'connect ECONNREFUSED' }), 'connect ECONNREFUSED');
  });
});
