import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callCli } from './harness.ts';

const PERSON = { answers: [] };
const WORDS =
  'plan --rate 1000 --hit-ratio 0.9 --engine-capacity 250 --engine-latency 20ms --permits 8 --page 8KiB --shards 20';

test('a plan that holds is a sheet of inputs with their origin, figures with their formula, and limits', async () => {
  const { code, out, err } = await callCli(WORDS.split(' '), PERSON);
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /^goods holds at 1,000\/s; first to break: engine, at 2,500\/s\n\ninputs:\n/);
  assert.match(out, /\n {2}rate +1,000\/s +given\n/);
  assert.match(out, /\n {2}ttl +5 min 00 s +configuration: domains\.goods\.freshness\.ttl\n/);
  assert.match(out, /\n {2}network +119 MiB\/s +assumed: 1 Gbit\/s\n/);
  assert.match(out, /\n {2}engine load +100\/s +rate × \(1 − hit ratio\)\n/);
  assert.match(out, /\n {2}headroom H +2\.5 × +the smaller of engine capacity and permits ÷ latency, ÷ engine load\n/);
  assert.match(out, /\n {2}amplification A +10 × +1 ÷ \(1 − hit ratio\)\n/);
  assert.match(out, /\n {2}survivable flushed share +16\.7 % +\(H − 1\) ÷ \(A − 1\), between 0 and 1\n/);
  assert.match(out, /\n {2}engine permits +2 +8 +25 % +80 % +4,000\/s\n/);
  assert.match(out, /\nto change:\n {2}engine: a longer ttl /);
  assert.ok(out.split('\n').every((line) => line.length <= 150));
});

test('the sources of the formulas are shown when they are asked for', async () => {
  const { out } = await callCli([...WORDS.split(' '), '--explain'], PERSON);
  assert.match(out, /source: Little's law/);
  assert.match(out, /\n {2}rate +1,000\/s +given +searches per second at the peak\n/);
});

test('a plan that breaks exits with 1 and names every full resource', async () => {
  const { code, out, err } = await callCli([...WORDS.replace('1000', '5000').split(' ')], PERSON);
  assert.equal(code, 1);
  assert.match(out, /\n {2}engine \(breaks\) +500\/s +250\/s +200 % +80 % +2,500\/s\n/);
  assert.match(
    err,
    /^serpcache plan: goods breaks at 5,000\/s: engine \(full at 2,500\/s\), engine permits \(full at 4,000\/s\)/,
  );
});

test('a missing input exits with 2 and says what follows from it', async () => {
  const { code, out } = await callCli(['plan', '--rate', '1000'], PERSON);
  assert.equal(code, 2);
  assert.match(out, /\nmissing:\n {2}--hit-ratio: the engine load follows from it; or --keys with --exponent\n/);
});

test('a script gets the sheet as one line of JSON', async () => {
  const { code, lines, err } = await callCli(WORDS.split(' '));
  assert.deepEqual([code, err, lines().length], [0, '', 1]);
  const [sheet] = lines();
  assert.deepEqual([sheet?.['domain'], sheet?.['verdict']], ['goods', 'holds']);
  const inputs = sheet?.['inputs'] as Readonly<Record<string, unknown>> | undefined;
  assert.deepEqual(inputs?.['rate'], { value: 1000, from: 'given', source: '--rate' });
});

test('another ttl than the configured one moves the life of a stored page with it', async () => {
  const { lines } = await callCli([...WORDS.split(' '), '--ttl', '1h']);
  const inputs = lines()[0]?.['inputs'] as Readonly<Record<string, { readonly value: number }>> | undefined;
  assert.equal(inputs?.['keptMs']?.value, 7_200_000);
});

test('every wrong option is named with what it takes', async () => {
  for (const [words, said] of [
    [['--rate', '0'], /--rate takes a number from 0\.1 to 10000000, not "0"/],
    [['--hit-ratio', '1'], /--hit-ratio takes a number from 0 to 0\.99999, not "1"/],
    [['--page', '8kb'], /--page takes a size such as 8KiB, from 1B to 1GiB, not "8kb"/],
    [['--engine-latency', '20'], /--engine-latency takes a duration such as 20ms or 5m, from .* to 10m, not "20"/],
    [['--replicas', '1.5'], /--replicas takes a whole number from 1 to 10000, not "1\.5"/],
    [['--exponent', '1'], /--exponent needs --keys/],
    [['--exponent', '1', '--keys', '9', '--hit-ratio', '0.5'], /--exponent takes no --hit-ratio/],
    [['--domain', 'godos'], /no domain "godos"; configured: goods, /],
    [['--rat', '1'], /unknown option --rat; did you mean --rate\?/],
    [['goods'], /an argument too many: "goods"/],
  ] as const) {
    const { code, out, err } = await callCli(['plan', ...words]);
    assert.deepEqual([code, out], [64, ''], err);
    assert.match(err, said, words.join(' '));
  }
  const { err } = await callCli(['plan', '--rate', 'x', '--page', 'y']);
  assert.match(err, /--rate takes[^\n]*\n--page takes/);
});
