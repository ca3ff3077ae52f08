import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../src/commands/call.ts';
import { adminService, callCli } from './harness.ts';

test('wrong arguments are refused before any request is sent, with the nearest known one', async (t) => {
  const { url, requests } = await adminService(t);
  for (const [words, said] of [
    [['flsh', 'goods'], /no command "flsh"; did you mean flush\?/],
    [['zzzzzz'], /see: serpcache --help/],
    [['help', 'flsh'], /no command "flsh"; did you mean flush\?/],
    [['drill'], /drill what\? plans, preview, run/],
    [['drill', 'rnu'], /did you mean run\?/],
    [['flush', 'goods', '--frction', '1'], /unknown option --frction; did you mean --fraction\? \(allowed: --mode, /],
    [['flush', 'goods', '--mode', 'drp'], /--mode is one of refresh, drop, erase; did you mean drop\?/],
    [['flush', 'goods', '--fraction', 'half'], /--fraction takes a number, not "half"/],
    [['flush', 'goods', '--fraction'], /--fraction needs a value: SHARE/],
    [['flush'], /an argument is missing/],
    [['flush', 'goods', 'auto'], /an argument too many: "auto"/],
    [['purge', 'goods'], /an argument is missing/],
    [['suppress', 'goods'], /which documents\?/],
    [['suppress', 'goods', 'a', '--list'], /--list takes a domain and nothing else/],
    [['halt'], /--reason/],
    [['drill', 'run', 'canary', '--domain', 'goods'], /a drill needs a reason/],
    [['drill', 'run', './no-such.yaml', '--reason', 'r', '--yes'], /no-such\.yaml cannot be read/],
    [['warm', 'goods', '--from', 'popular', '--queries', 'file'], /one of them/],
    [['warm', 'goods', '--queries', '/no/such/file'], /cannot be read/],
    [['warm', 'goods', '--from-line', '0'], /--from-line takes a whole number from 1 to/],
    [['explain', 'goods', 'диван', 'page'], /a parameter is name=value, not "page"/],
    [['popular', '--limit', '0'], /--limit takes a whole number from 1 to/],
    [['suppress', 'goods', '--reason', '--lift'], /--reason needs a value: TEXT/],
    [['config', 'check', '--json'], /unknown option --json \(allowed: --config, --help, --version\)/],
    [['index', 'goods', 'a.csv', '--frobnicate'], /unknown option --frobnicate \(allowed: --into, /],
    [['popular', '--token', 'secret-secret'], /seen by everybody.*ADMIN_TOKEN.*--token-file/],
    [['popular', '--token=secret-secret'], /seen by everybody/],
    [['popular', '--admin', 'ftp://host'], /--admin takes an address/],
    [['popular', '--token-file', '/no/such'], /--token-file \/no\/such cannot be read/],
  ] as const) {
    const takesAdmin = !['config', 'index'].includes(words[0]) && !words.some((word) => word === '--admin');
    const given = takesAdmin ? [...words, '--admin', url] : words;
    const { code, out, err } = await callCli(given);
    assert.deepEqual([code, out], [64, ''], `${words.join(' ')}: ${err}`);
    assert.match(err, said, words.join(' '));
    assert.doesNotMatch(err, /secret-secret/);
  }
  assert.deepEqual(requests(), []);
});

test('a name that the service does not know is reported with the nearest known one', async (t) => {
  const { url } = await adminService(t);
  const domain = await callCli(['purge', 'godos', 'диван', '--admin', url]);
  assert.equal(domain.code, 3);
  assert.match(domain.err, /Unknown domain: .* Did you mean goods\?/);
  const plan = await callCli(['drill', 'preview', 'canery', '--domain', 'goods', '--admin', url]);
  assert.match(plan.err, /Unknown plan: .* Did you mean canary\?/);
});

test('the help, overall and of each command, shows the usage and the exit statuses', async () => {
  const whole = await callCli(['--help']);
  assert.equal(whole.code, 0);
  for (const { name } of COMMANDS) assert.ok(whole.out.includes(`serpcache ${name} `), name);
  assert.match(
    whole.out,
    /exit status:\n +0 {2}passed[\s\S]*\n +3 {2}it could not be done[\s\S]*78 {2}wrong configuration/,
  );
  const all = COMMANDS.flatMap((command) => [command, ...('parts' in command ? command.parts : [])]);
  for (const { name, usage, summary } of all) {
    for (const words of [
      [...name.split(' '), '--help'],
      ['help', ...name.split(' ')],
    ]) {
      const { code, out } = await callCli(words);
      assert.equal(code, 0);
      assert.ok(out.includes(`serpcache ${name} ${usage}`.trimEnd()) && out.includes(summary), name);
      assert.match(out, /exit status/);
    }
    const { code, out } = await callCli([...name.split(' '), '--version']);
    assert.equal(code, 0);
    assert.match(out, /^serpcache \d+\.\d+\.\d+\n$/);
  }
});

test('without a command the service is started, and each command that reads a configuration takes its file', async () => {
  const served: (string | undefined)[] = [];
  const serve = async (config?: string): Promise<void> => void served.push(config);
  for (const words of [[], ['start'], ['--config', 'own.yaml'], ['start', '--config=own.yaml']]) {
    const { code, err } = await callCli(words, { serve });
    assert.equal(code, 0, err);
  }
  assert.deepEqual(served, [undefined, undefined, 'own.yaml', 'own.yaml']);
  const checked = await callCli(['config', 'check', '--config', '/no/such.yaml']);
  assert.equal(checked.code, 78);
  assert.match(checked.err, /\/no\/such\.yaml/);
});
