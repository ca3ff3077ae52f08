import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreReason } from '../../src/cache/store.ts';
import { createEventLog } from '../../src/metrics/event-log.ts';
import { createFakeClock } from '../fakes/clock.ts';

type Line = readonly [level: string, message: string, facts: Record<string, unknown>];

function start() {
  const lines: Line[] = [];
  const write =
    (level: string) =>
    (facts: Record<string, unknown>, message: string): void => {
      lines.push([level, message, facts]);
    };
  const clock = createFakeClock();
  const log = { debug: write('debug'), info: write('info'), warn: write('warn') } as never;
  return { lines, clock, events: createEventLog({ log, clock }) };
}

test('a breaker that opens is a warning, other changes of it are information', () => {
  const { events, lines } = start();
  events.observeStore('goods', { kind: 'breaker', node: 'a:1', state: 'open' });
  events.observeStore('goods', { kind: 'breaker', node: 'a:1', state: 'half-open' });
  events.observeGuard('goods', { kind: 'breaker', target: 'goods', state: 'open' });
  events.observeGuard('goods', { kind: 'breaker', target: 'goods', state: 'closed' });
  assert.deepEqual(lines, [
    ['warn', 'store node: breaker open', { domain: 'goods', node: 'a:1', state: 'open' }],
    ['info', 'store node: breaker half-open', { domain: 'goods', node: 'a:1', state: 'half-open' }],
    ['warn', 'engine: breaker open', { domain: 'goods', target: 'goods', state: 'open' }],
    ['info', 'engine: breaker closed', { domain: 'goods', target: 'goods', state: 'closed' }],
  ]);
});

test('topology and connections are logged for debugging, events of single requests are not logged', () => {
  const { events, lines } = start();
  events.observeStore('goods', { kind: 'topology', detail: 'b:2 joined' });
  events.observeStore('goods', { kind: 'connection', node: 'b:2', state: 'open' });
  events.observeStore('goods', {
    kind: 'command',
    operation: 'read',
    result: 'store-slow',
    durationMs: 50,
  });
  events.observeStore('goods', { kind: 'pipeline', type: 'read', size: 3, failed: 3, durationMs: 50 });
  events.observeStore('goods', { kind: 'late', hit: true });
  events.observeGuard('goods', { kind: 'shed', target: 'goods', why: 'queue-full' });
  events.observeGuard('goods', { kind: 'permit', target: 'goods', queuedMs: 1 });
  assert.deepEqual(
    lines.map(([level, message]) => [level, message]),
    [
      ['debug', 'store: topology'],
      ['debug', 'store node: connection open'],
    ],
  );
});

test('one line says why a store is not ready, and one more half a minute later, with the count of those omitted', () => {
  const { events, lines, clock } = start();
  const fail = (reason: StoreReason): void => {
    const event = { kind: 'connection', node: 'a:1', state: 'failed', reason, detail: 'words' } as const;
    events.observeStore('goods', event);
  };
  for (let index = 0; index < 1000; index += 1) fail('refused');
  fail('timeout');
  clock.advance(29_000);
  fail('refused');
  const facts = { domain: 'goods', node: 'a:1', detail: 'words' };
  const first = ['warn', 'store: not ready', { ...facts, reason: 'refused' }];
  const other = ['warn', 'store: not ready', { ...facts, reason: 'timeout' }];
  assert.deepEqual(lines, [first, other]);
  clock.advance(1000);
  fail('refused');
  assert.deepEqual(lines[2]?.[2], { ...facts, reason: 'refused', omitted: 1000 });
});

test('stores that are not ready write five lines a second at most', () => {
  const { events, lines, clock } = start();
  const storm = (): void => {
    for (let index = 0; index < 1000; index += 1) {
      const event = { kind: 'connection', node: `n${index}:1`, state: 'failed', reason: 'refused' } as const;
      events.observeStore(`domain-${index % 100}`, event);
    }
  };
  storm();
  assert.equal(lines.length, 5);
  // Lines of other kinds are not omitted.
  events.observeGuard('goods', { kind: 'breaker', target: 'goods', state: 'open' });
  assert.equal(lines.length, 6);
  clock.advance(1000);
  storm();
  assert.equal(lines.length, 11);
});

test('refused tokens write one line a second per listener, with the count of those omitted', () => {
  const { events, lines, clock } = start();
  const guess = (): void => {
    for (let index = 0; index < 1000; index += 1) {
      events.observeToken({ kind: 'token', listener: 'admin', result: 'wrong', address: 'address:192.0.2.1' });
      events.observeToken({ kind: 'token', listener: 'public', result: 'ignored', address: 'address:192.0.2.1' });
    }
  };
  guess();
  clock.advance(1000);
  guess();
  const admin = { listener: 'admin', result: 'wrong', address: 'address:192.0.2.1' };
  const open = { listener: 'public', result: 'ignored', address: 'address:192.0.2.1' };
  assert.deepEqual(
    lines.map(([level, , facts]) => [level, facts]),
    [
      ['warn', admin],
      ['info', open],
      ['warn', { ...admin, omitted: 999 }],
      ['info', { ...open, omitted: 999 }],
    ],
  );
});

test('two fleets that write over each other write two lines a second, with the count of those omitted', () => {
  const { events, lines, clock } = start();
  const storm = (): void => {
    for (let index = 0; index < 100; index += 1) {
      events.observeControl({ kind: 'control-corrupt', domain: 'goods', detail: `${index}` });
      events.observeControl({ kind: 'control-restored', domain: 'goods', revision: index });
    }
  };
  storm();
  assert.equal(lines.length, 2);
  clock.advance(1000);
  storm();
  assert.deepEqual([lines.length, lines[2]?.[2]['omitted']], [4, 198]);
});

test('a source of changes that is not read is a warning with its name and fault, and its return is information', () => {
  const { events, lines } = start();
  const [domain, key] = ['goods', 'goods-changes'];
  events.observeChanges({ kind: 'source-away', domain, key, fault: 'WRONGTYPE' });
  events.observeChanges({ kind: 'source-back', domain, key });
  assert.deepEqual(lines, [
    ['warn', 'changes: the stream of the configuration is not read', { domain, key, fault: 'WRONGTYPE' }],
    ['info', 'changes: the stream of the configuration is read again', { domain, key }],
  ]);
});

test('changes of a shadow and of a placement are information, and copies are not logged', () => {
  const { events, lines } = start();
  const shadow = { kind: 'shadow-changed', domain: 'goods', candidate: 'new', fraction: 0.1, reads: 3 } as const;
  for (const state of ['begun', 'changed', 'ended'] as const) {
    events.observeShadow({ ...shadow, state });
  }
  const placement = { kind: 'placement-changed', domain: 'goods', active: 'old' } as const;
  for (const phase of ['prepared', 'committed', 'settled', 'configured'] as const) {
    events.observeShadow({ ...placement, phase });
  }
  events.observeShadow({ kind: 'shadow-copy', domain: 'goods', type: 'read', result: 'dropped' });
  events.observeShadow({ kind: 'shadow-compared', domain: 'goods', result: 'wrong' });
  assert.deepEqual(
    lines.map(([level, message]) => [level, message.split(/[:;] /)[0]]),
    [...Array.from({ length: 3 }, () => ['info', 'shadow']), ...Array.from({ length: 4 }, () => ['info', 'placement'])],
  );
  assert.deepEqual(lines[0], [
    'info',
    'shadow: begun',
    { domain: 'goods', candidate: 'new', state: 'begun', fraction: 0.1, reads: 3 },
  ]);
});

test('an undeclared store, a silent control store during a cut-over and an unwritten report are warnings', () => {
  const { events, lines } = start();
  for (const phase of ['unknown-store', 'isolated'] as const) {
    const event = { kind: 'placement-changed', domain: 'goods', phase, active: 'old', other: 'new' } as const;
    events.observeShadow(event);
  }
  events.observeShadow({ kind: 'shadow-unwritten', id: 's', detail: 'disk full' });
  assert.deepEqual(
    lines.map(([level]) => level),
    ['warn', 'warn', 'warn'],
  );
  assert.match(lines[0]?.[1] ?? '', /not declared in this process/);
  assert.match(lines[1]?.[1] ?? '', /control store is silent/);
  assert.deepEqual(lines[2], ['warn', 'shadow: its report cannot be kept', { id: 's', detail: 'disk full' }]);
});

test('critical findings and warnings are logged as warnings when raised; info and cleared ones are information', () => {
  const { events, lines } = start();
  const subject = '10.0.0.7:6379 (store of goods)';
  const report = (change: 'raised' | 'cleared', severity: 'critical' | 'warning' | 'info'): void =>
    events.observeDoctor({
      kind: 'doctor-finding',
      line: { atMs: 1, change, check: 'store-evictions', severity, subject, evidence: '300 a second.' },
    });
  for (const severity of ['critical', 'warning', 'info'] as const) report('raised', severity);
  for (const severity of ['critical', 'warning', 'info'] as const) report('cleared', severity);
  assert.deepEqual(
    lines.map(([level, message, { severity }]) => [level, message, severity]),
    [
      ['warn', 'doctor: a finding was raised', 'critical'],
      ['warn', 'doctor: a finding was raised', 'warning'],
      ['info', 'doctor: a finding was raised', 'info'],
      ['info', 'doctor: a finding was cleared', 'critical'],
      ['info', 'doctor: a finding was cleared', 'warning'],
      ['info', 'doctor: a finding was cleared', 'info'],
    ],
  );
  assert.deepEqual(lines[0]?.[2], {
    check: 'store-evictions',
    severity: 'critical',
    subject,
    evidence: '300 a second.',
  });
  events.observeDoctor({ kind: 'doctor-window', findings: [], durationMs: 20 });
  assert.equal(lines.length, 6, 'a look is not logged');
});

test('dropped spans write one line a second, with the count of those omitted; exported ones write none', () => {
  const { events, lines, clock } = start();
  const drop = (): void => {
    for (let index = 0; index < 100; index += 1)
      events.observeTracing({ kind: 'tracing', outcome: 'dropped', spans: 512, detail: 'ECONNREFUSED' });
  };
  events.observeTracing({ kind: 'tracing', outcome: 'exported', spans: 512 });
  assert.equal(lines.length, 0);
  drop();
  clock.advance(1000);
  drop();
  const facts = { spans: 512, detail: 'ECONNREFUSED' };
  assert.deepEqual(lines, [
    ['warn', 'tracing: spans were not exported', facts],
    ['warn', 'tracing: spans were not exported', { ...facts, omitted: 99 }],
  ]);
});

test('the line of a failed engine call has the trace of its search', () => {
  const { events, lines } = start();
  const failed = { kind: 'engine', domain: 'goods', result: 'engine-timeout', late: false, durationMs: 9 } as const;
  events.observeSearch({ ...failed, detail: 'timed out', traceId: 'ab'.repeat(16) });
  assert.equal(lines[0]?.[2]['trace_id'], 'ab'.repeat(16));
});
