import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArguments } from '../../../../loadtest/labs/kit/arguments.ts';

const KNOWN = ['timeouts', 'batch', 'dns'];
const read = (...argv: string[]) => readArguments(argv, KNOWN, ['batch']);
const faultsOf = async (...argv: string[]): Promise<readonly string[]> => {
  const answer = await read(...argv);
  return answer.kind === 'wrong' ? answer.faults : [];
};

test('experiments run in the order of the list, each once', async () => {
  const answer = await read('dns', 'timeouts', 'dns');
  assert.ok(answer.kind === 'run');
  assert.deepEqual(answer.arguments.names, ['timeouts', 'dns']);
  const all = await read('all', '--seconds', '0.5');
  assert.ok(all.kind === 'run');
  assert.deepEqual([all.arguments.names, all.arguments.rowSeconds], [KNOWN, 0.5]);
});

test('all errors are reported at once, each with the allowed values', async () => {
  const faults = await faultsOf('bacth', '--seconds', '0', '--server', '/no/such-server', '--sekunds=1');
  assert.equal(faults.length, 4);
  assert.match(faults.join('\n'), /there is no "bacth"; there are timeouts, batch, dns, or all/);
  assert.match(faults.join('\n'), /--seconds: "0" is not allowed; a number from 0.1 to 60 is/);
  assert.match(faults.join('\n'), /--server: "\/no\/such-server" is not allowed; the path of a program/);
  assert.match(faults.join('\n'), /unknown option --sekunds; did you mean --seconds\?/);
});

test('rows that were measured for a shortened time are not published', async () => {
  assert.match((await faultsOf('batch', '--seconds', '1', '--publish')).join(), /--publish goes without --seconds/);
});
