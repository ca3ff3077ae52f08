import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding, Looked, Skipped } from '../../../src/operations/doctor/report.ts';
import {
  aboveInfo,
  countsOf,
  coverageText,
  healthText,
  historyText,
  lookedLines,
  severityOf,
  skippedViews,
  unseenText,
} from '../../../src/operations/doctor/view.ts';

const withSeverity = (severity: string): Finding => ({ severity }) as Finding;
const plain = (text: string | undefined): string | undefined => text?.replaceAll('\u00a0', ' ');

test('the verdict counts findings most severe first; info and accepted ones leave it healthy', () => {
  const verdict = (severities: readonly string[], accepted = 0): string =>
    healthText({
      findings: severities.map(withSeverity),
      acknowledged: Array.from({ length: accepted }, () => withSeverity('critical')),
    });
  assert.equal(verdict([]), 'healthy');
  assert.equal(verdict(['info'], 2), 'healthy, 1 info, 2 acknowledged');
  assert.equal(verdict(['info', 'warning', 'critical', 'warning']), '1 critical, 2 warnings, 1 info');
  assert.equal(aboveInfo([withSeverity('info'), withSeverity('warning')]).length, 1);
});

test('a severity of another version is shown by its name', () => {
  assert.deepEqual(severityOf('constructor' as 'info'), { word: 'constructor', many: 'constructor', tone: 'none' });
  assert.deepEqual(countsOf([withSeverity('fatal')]), []);
});

test('skipped checks are joined by reason, and those with too little to judge are one line', () => {
  const skip = (check: string, reason: string, ...subjects: string[]): Skipped => ({ check, reason, subjects });
  const texts = skippedViews([
    skip('store-one', 'fewer than 100 reads', 'a:1'),
    skip('store-two', 'no two readings of one run', 'a:1'),
    skip('store-three', '5,012 clients: CLIENT LIST is asked below 5,000', 'a:1'),
    skip('store-four', '7,001 clients: CLIENT LIST is asked below 5,000', 'b:1', 'c:1', 'd:1'),
    skip('engine-one', 'it is refused', 'e:1'),
  ]).map(({ text }) => text);
  assert.deepEqual(texts, [
    '2 checks are skipped on a:1, b:1, c:1 and 1 more: 5,012 clients: CLIENT LIST is asked below 5,000',
    'engine-one is skipped on e:1: it is refused',
    '2 checks are skipped: too little load or time to judge',
  ]);
});

test('what was looked at is told, and so is what is not there', () => {
  const looked: Looked = {
    stores: [{ name: 'store of goods', kind: 'cluster', nodes: ['a:1', 'b:1'], unreached: ['b:1'] }],
    engines: [{ name: 'engine of goods', endpoint: 'c:9306', version: '2.2.11' }],
    hosts: ['web-1'],
    unseen: ['a', 'b'],
    service: true,
  };
  assert.deepEqual(lookedLines(looked).slice(0, 3), [
    'store of goods: cluster, a:1, b:1; no answer from b:1',
    'engine of goods: c:9306, 2.2.11',
    'host web-1',
  ]);
  assert.match(unseenText(looked) ?? '', /disks of a, b; there: serpcache doctor --host > part.json, then here: /);
  const bare = lookedLines({ stores: [], engines: [], hosts: [], unseen: [], service: false });
  assert.match(bare[0] ?? '', /^no store is configured: .* nothing is shared$/);
  assert.match(bare[1] ?? '', /^serpcache: no running process/);
  assert.equal(unseenText({ unseen: [] }), undefined);
});

test('the coverage and a line of the history are one sentence each', () => {
  const coverage = { checked: 113, fine: 112, windows: 3, windowSeconds: 1, tookMs: 3400 };
  assert.equal(plain(coverageText(coverage)), '113 checks made, 112 fine, 3 windows of 1 s, 3.4 s in all');
  const line = { severity: 'warning', check: 'store-evictions', subject: 'a:1', evidence: 'Many.' } as const;
  assert.equal(historyText({ ...line, change: 'raised' }), 'raised: warning store-evictions at a:1: Many.');
  assert.equal(historyText({ ...line, change: 'cleared' }), 'cleared: warning store-evictions at a:1');
});
