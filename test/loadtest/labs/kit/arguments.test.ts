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

test('without arguments the help is shown, but a single available experiment is run', async () => {
  assert.equal((await read()).kind, 'help');
  assert.equal((await read('batch', '--help')).kind, 'help');
  const only = await readArguments([], ['peers'], []);
  assert.ok(only.kind === 'run');
  assert.deepEqual(only.arguments.names, ['peers']);
});

test('all errors are reported at once, each with the allowed values', async () => {
  const faults = await faultsOf('bacth', '--seconds', '0', '--server', '/no/such-server', '--sekunds=1');
  assert.equal(faults.length, 4);
  assert.match(faults.join('\n'), /there is no "bacth"; there are timeouts, batch, dns, or all/);
  assert.match(faults.join('\n'), /--seconds: "0" is not allowed; a number from 0.1 to 60 is/);
  assert.match(faults.join('\n'), /--server: "\/no\/such-server" is not allowed; the path of a program/);
  assert.match(faults.join('\n'), /unknown option --sekunds; did you mean --seconds\?/);
});

test('an option may be given once, and a number must be valid', async () => {
  assert.match(
    (await faultsOf('batch', '--seconds', '1', '--seconds=2')).join(),
    /--seconds is given 2 times; allowed: once/,
  );
  for (const text of ['0x1', '1e0', ' 1', '+1', '.5', 'Infinity'])
    assert.match((await faultsOf('batch', `--seconds=${text}`)).join(), /is not allowed; a number from/, text);
});

test('a server is an error for experiments that do not compare servers, and a folder is not a server', async () => {
  assert.match(
    (await faultsOf('dns', '--server', process.execPath)).join(),
    /--server: nothing here compares servers but batch$/,
  );
  assert.deepEqual(await faultsOf('all', '--server', process.execPath), []);
  const peers = await readArguments(['--server', process.execPath], ['peers'], []);
  assert.deepEqual(peers, { kind: 'wrong', faults: ['--server: nothing here compares servers'] });
  assert.match((await faultsOf('batch', '--server', import.meta.dirname)).join(), /is not allowed; the path of a/);
});

test('the experiment must be named when there are several', async () => {
  assert.match((await faultsOf('--seconds', '1')).join(), /which\? There are timeouts/);
});

test('rows that were measured for a shortened time are not published', async () => {
  assert.match((await faultsOf('batch', '--seconds', '1', '--publish')).join(), /--publish goes without --seconds/);
});

test('a server is the path of a program, not a bare word', async () => {
  const answer = await read('batch', '--server', process.execPath);
  assert.ok(answer.kind === 'run');
  assert.deepEqual(answer.arguments.servers, [process.execPath]);
});
