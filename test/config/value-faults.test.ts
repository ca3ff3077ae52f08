import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configShape } from '../../src/config/schema.ts';
import { nodeOf, type SchemaNode } from '../../src/schema/node.ts';
import { goods, testFaults, withEngine, withStore } from './harness.ts';

testFaults([
  [
    'a mistyped name is a fault that suggests the nearest known one',
    goods('engine: { kind: sphinx, host: sphinx, deadlne: 1s }'),
    [['domains.goods.engine.deadlne', '***', /did you mean deadline\?/]],
  ],
  [
    'a name without a near known one is a fault that lists the known ones',
    'colour: red\n',
    [
      [
        'colour',
        '***',
        /known here: public, admin, log, memory, compression, control, counters, signing, drills, audit, doctor, tracing, domains/,
      ],
    ],
  ],
  ['a name with strange characters is quoted', '"a.b c": 1\n', [['["a.b c"]', '***', /no such setting/]]],
  [
    'a duration without a unit, out of bounds, or of another type is a fault that shows examples and bounds',
    withEngine('freshness: { ttl: 300, emptyTtl: 5sec, staleIfError: 31d, clientMaxAge: [1] }'),
    [
      ['domains.goods.freshness.ttl', '300', /a duration such as 50ms, 5m or 1h, from 1s to 30d/],
      ['domains.goods.freshness.staleIfError', '"31d"', /from 0ms to 30d/],
      ['domains.goods.freshness.emptyTtl', '"5sec"', /a duration/],
      ['domains.goods.freshness.clientMaxAge', 'a list of 1', /a duration/],
    ],
  ],
  [
    'a size of another system and one out of bounds are faults',
    'memory: { maxBytes: 256MB }\npublic: { maxUrlBytes: 100 }\n',
    [
      ['memory.maxBytes', '"256MB"', /a size such as 64KiB or 256MiB, from 1MiB to 64GiB/],
      ['public.maxUrlBytes', '100', /from 1KiB to 16KiB/],
    ],
  ],
  [
    'an interval of the doctor out of bounds and a list in place of its file are faults',
    'doctor: { interval: 2m, acknowledged: [a] }\n',
    [
      ['doctor.interval', '"2m"', /a duration .* from 0ms to 1m/],
      ['doctor.acknowledged', 'a list of 1', /text/],
    ],
  ],
  [
    'numbers, flags and choices outside the allowed values are faults',
    `log: { level: loud, hitSample: 2 }\n${goods('engine: { kind: sqlite, demo: yes please, workers: 0.5, maxQueued: 0 }')}`,
    [
      ['log.level', '"loud"', /trace, debug, info, warn, error, fatal or silent/],
      ['log.hitSample', '2', /from 0 to 1/],
      ['domains.goods.engine.workers', '0.5', /a whole number from 1 to 64/],
      ['domains.goods.engine.demo', '"yes please"', /true or false/],
      ['domains.goods.engine.maxQueued', '0', /from 1 to 10000/],
    ],
  ],
  [
    'a domain without an engine is a fault that lists the kinds',
    goods('freshness: {}'),
    [['domains.goods.engine', '(missing)', /kind: sqlite, sphinx or manticore \(required\)/]],
  ],
  [
    'an unknown kind is one fault, not one for each form',
    goods('engine: { kind: solr, core: x }'),
    [['domains.goods.engine.kind', '"solr"', /sqlite, sphinx or manticore/]],
  ],
  [
    'a store without a kind is a fault',
    withStore('{ nodes: [a:1] }'),
    [['domains.goods.store.kind', '(missing)', /none, standalone, sentinel or cluster/]],
  ],
  [
    'a cluster without nodes is a fault',
    withStore('{ kind: cluster, nodes: [] }'),
    [['domains.goods.store.nodes', 'a list of 0', /1 to 1000/]],
  ],
  [
    'a cluster that names no list is a fault',
    withStore('{ kind: cluster }'),
    [['domains.goods.store.nodes', '(missing)', /required/]],
  ],
  [
    'a standalone store with two nodes is a fault that names the kinds for several nodes',
    withStore('{ kind: standalone, nodes: [a:1, b:2] }'),
    [['domains.goods.store.nodes', 'a list of 2', /exactly 1.*cluster or a sentinel/]],
  ],
  [
    'a node without a port and a node named twice are faults',
    withStore('{ kind: cluster, nodes: [a, b:2, b:2] }'),
    [
      ['domains.goods.store.nodes[0]', '"a"', /host:port/],
      ['domains.goods.store.nodes[2]', '"b:2"', /each node once/],
    ],
  ],
  [
    'a line break at the end of a secret, a name, a host or a token is a fault that says so and shows no secret',
    `admin: { token: "0123456789-abcdefghij\\n", host: "admin\\n" }
${withEngine('store: { kind: sentinel, sentinels: ["s:1\\n"], master: "main\\r\\n", username: "u\\n", password: "hunter2\\n", sentinelPassword: "a\\tb", doctor: { username: "d\\n", password: "hunter2\\n" } }')}`,
    [
      ['admin.token', '***', /printable ASCII .*this text ends in a line break/],
      ['admin.host', '"admin\\n"', /a host name .*this text ends in a line break/],
      ['domains.goods.store.sentinels[0]', '"s:1\\n"', /host:port.*this text ends in a line break/],
      ['domains.goods.store.master', '"main\\r\\n"', /this text ends in a line break/],
      ['domains.goods.store.username', '"u\\n"', /this text ends in a line break/],
      ['domains.goods.store.password', '***', /this text ends in a line break/],
      ['domains.goods.store.sentinelPassword', '***', /without control characters: this text has one/],
      ['domains.goods.store.doctor.username', '"d\\n"', /this text ends in a line break/],
      ['domains.goods.store.doctor.password', '***', /this text ends in a line break/],
    ],
  ],
]);

test('every setting that is a text refuses control characters', () => {
  const accepting: string[] = [];
  const visit = (node: SchemaNode, path: string): void => {
    const { properties = {}, patternProperties = {}, anyOf = [], items } = node;
    for (const [name, member] of Object.entries({ ...properties, ...patternProperties }))
      visit(member, `${path}.${name}`);
    for (const member of [...anyOf, ...(items === undefined ? [] : [items])]) visit(member, path);
    if (node.type !== 'string' || node.enum !== undefined) return;
    const pattern = new RegExp(node.pattern ?? '');
    if (['a\n', 'a\r', 'a\tb', 'a\0', '\u007f', 'a\u0085'].some((text) => pattern.test(text))) accepting.push(path);
  };
  visit(nodeOf(configShape), '');
  assert.deepEqual(accepting, []);
});
