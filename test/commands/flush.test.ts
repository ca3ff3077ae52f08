import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminService, callCli } from './harness.ts';

test('a refresh is done at once, and a script reads one JSON value', async (t) => {
  const service = await adminService(t);
  const words = ['flush', 'goods', '--admin', service.url, '--index-version', 'v7', '--fraction', '0.25'];
  const { code, lines, err } = await callCli(words);
  assert.deepEqual([code, lines(), err], [0, [{ ...lines()[0], domain: 'goods', mode: 'refresh', revision: 1 }], '']);
  assert.deepEqual(service.posted('/admin/flush'), [
    { domain: 'goods', mode: 'refresh', fraction: 0.25, indexVersion: 'v7' },
  ]);
});

test('a dry run shows keys, bytes and the load of the engine, and changes nothing', async (t) => {
  const service = await adminService(t);
  const words = ['flush', 'goods', '--mode', 'drop', '--fraction', '0.6', '--dry-run', '--admin', service.url];
  const { code, out } = await callCli(words, { answers: [] });
  assert.equal(code, 0);
  assert.match(out, /^drop 60 % of goods\n {2}127\.0\.0\.1:6379 +15,042 keys +49\.7 MiB\n/);
  assert.match(out, /estimated from a sample/);
  assert.match(out, /survivable f\* = .* = at least 39\.5 % of the keys at once/);
  assert.match(out, /! more than that/);
  assert.deepEqual(service.requests(), ['POST /admin/flush/preview']);
});

test('a drop shows its effect and asks; any answer except yes sends nothing', async (t) => {
  const service = await adminService(t);
  const words = ['flush', 'goods', '--mode', 'drop', '--admin', service.url];
  for (const answer of ['', 'n', 'goods']) {
    const { code, out, err, questions } = await callCli(words, { answers: [answer] });
    assert.deepEqual([code, out], [3, '']);
    assert.match(err, /drop 100 % of goods\n[\s\S]*not confirmed, nothing was done/);
    assert.deepEqual(questions, ['drop 100 % of goods for good? [y/N] ']);
  }
  assert.deepEqual(service.posted('/admin/flush'), []);
  const agreed = await callCli(words, { answers: ['y'] });
  assert.match(
    agreed.out,
    /^goods: 100 % flushed \(drop\), revision 1, generation 2\n {2}9000 pages .* in the store: misses/,
  );
  assert.match(agreed.out, /\n {2}watch: serpcache_misses_total\{domain="goods",reason="flushed"\}\n/);
  assert.equal(service.posted('/admin/flush').length, 1);
});

test('an erase needs a reason, and the name of its domain typed', async (t) => {
  const service = await adminService(t);
  const words = ['flush', 'goods', '--mode', 'erase', '--admin', service.url];
  const without = await callCli(words, { answers: ['goods'] });
  assert.equal(without.code, 64);
  assert.match(without.err, /needs a reason: --reason/);
  const reasoned = [...words, '--reason', 'empty store'];
  const yes = await callCli(reasoned, { answers: ['y'] });
  assert.deepEqual([yes.code, yes.questions], [3, ['erase 100 % of goods for good? Type goods to go on: ']]);
  assert.deepEqual(service.posted('/admin/flush'), []);
  const typed = await callCli(reasoned, { answers: ['goods'] });
  assert.equal(typed.code, 0);
  assert.match(typed.out, /erasure done after 3\.2 s\n {2}127\.0\.0\.1:6379 {2}unlink {2}done {2}48,210 keys/);
  assert.deepEqual(service.posted('/admin/flush'), [
    { domain: 'goods', mode: 'erase', fraction: 1, reason: 'empty store' },
  ]);
});

test('without a terminal a drop without --yes is refused, and nothing is sent', async (t) => {
  const service = await adminService(t);
  const words = ['flush', 'goods', '--mode', 'drop', '--admin', service.url];
  const refused = await callCli(words);
  assert.equal(refused.code, 64);
  assert.match(refused.err, /nothing was done.*--yes/);
  assert.deepEqual(service.requests(), []);
  assert.equal((await callCli([...words, '--yes'])).code, 0);
  assert.deepEqual(service.requests(), ['POST /admin/flush']);
});

test('a refusal is reported with the text of the service and the field', async (t) => {
  const service = await adminService(t);
  const whole = ['--admin', service.url, '--yes', '--reason', 'r'];
  const fraction = await callCli(['flush', 'goods', '--fraction', '1.5', ...whole]);
  assert.equal(fraction.code, 3);
  assert.match(fraction.err, /^serpcache flush: Invalid fraction: .*above 0.* \(field \/fraction\)\n$/);
  const dedicated = await callCli(['flush', 'goods', '--mode', 'erase', '--by', 'flushall', ...whole]);
  assert.match(dedicated.err, /Store is not dedicated: .*unlink/);
  assert.deepEqual([dedicated.code, dedicated.out], [3, '']);
});
