import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acknowledge, readAcknowledgements } from '../../../src/operations/doctor/acknowledge.ts';
import type { Finding } from '../../../src/operations/doctor/report.ts';
import { pluck } from '../../pluck.ts';

const CHECKS = new Set(['store-replicas', 'host-thp']);
const NOW = Date.parse('2026-11-25T12:00:00Z');
const read = (text: string) => readAcknowledgements(text, NOW, CHECKS);

const finding = (check: string, subject: string): Finding => ({ check, subject }) as Finding;

test('an acknowledged finding is counted apart, with its reason and its last day', () => {
  const file = read('- { check: store-replicas, subject: 10.0.0.1, reason: failover is wanted, until: 2027-03-01 }');
  assert.deepEqual(file.faults, []);
  const sorted = acknowledge(
    [finding('store-replicas', '10.0.0.1:6379 (goods)'), finding('store-replicas', '10.0.0.2:6379 (goods)')],
    file,
  );
  const acknowledged = { reason: 'failover is wanted', until: '2027-03-01' };
  assert.deepEqual(pluck(sorted.findings, 'subject'), ['10.0.0.2:6379 (goods)']);
  assert.deepEqual(pluck(sorted.acknowledged, 'acknowledged'), [acknowledged]);
});

test('without a subject every subject of the check is acknowledged, and no other check', () => {
  const file = read('- { check: host-thp, reason: the provider sets it, until: 2027-01-01 }');
  const sorted = acknowledge(
    [finding('host-thp', 'host a'), finding('host-thp', 'host b'), finding('store-replicas', 'x')],
    file,
  );
  assert.equal(sorted.acknowledged.length, 2);
  assert.equal(sorted.findings.length, 1);
});

test('an acknowledgement holds on its last day and not on the next', () => {
  const text = '- { check: host-thp, reason: r, until: 2026-11-25 }';
  assert.equal(read(text).entries.length, 1);
  const later = readAcknowledgements(text, NOW + 86_400_000, CHECKS);
  assert.equal(later.entries.length, 0);
  assert.match(
    later.faults[0] ?? '',
    /acknowledgement 1: host-thp was accepted until 2026-11-25, and that day has passed/,
  );
});

test('a wrong entry is told with its number and its member, and does not hide the others', () => {
  const { entries, faults } = read(
    [
      '- { check: host-thb, reason: r, until: 2027-01-01 }',
      '- { check: host-thp, reason: "", until: 2027-01-01 }',
      '- { check: host-thp, reason: r, until: soon }',
      '- { check: host-thp, reason: r, until: 2027-02-30 }',
      '- { check: host-thp, reason: r, until: 2027-01-01, severity: info }',
      '- host-thp',
      '- { check: store-replicas, reason: r, until: 2027-01-01 }',
    ].join('\n'),
  );
  assert.deepEqual(pluck(entries, 'check'), ['store-replicas']);
  assert.deepEqual(
    faults.map((fault) => /^acknowledgement (\d): (\w+)/.exec(fault)?.slice(1).join(' ')),
    ['1 check', '2 reason', '3 until', '4 until', '5 severity', '6 it'],
  );
});

test('a file that is no list, or no YAML, acknowledges nothing and says so', () => {
  assert.match(read('check: host-thp').faults[0] ?? '', /must be a list/);
  assert.match(read('- [').faults[0] ?? '', /no YAML/);
  assert.deepEqual(read(''), { entries: [], faults: [] });
});
