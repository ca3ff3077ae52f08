import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { settingsOf } from '../../src/commands/demo.ts';
import { greeting, withHints } from '../../src/commands/terminal.ts';
import { temporaryFolder } from '../folder.ts';

const folder = temporaryFolder({ after });
const OWN = 'domains: { shop: { engine: { kind: sqlite } } }';
const TOKEN_FILE = join('data', 'admin-token');
process.chdir(folder);
beforeEach(() => {
  for (const file of ['data', 'serpcache.yaml']) rmSync(join(folder, file), { recursive: true, force: true });
});

test('a trial has a token in a file of its owner, made by the service and found by the commands', () => {
  assert.equal(settingsOf({}).settings.admin.token, undefined);
  assert.ok(!existsSync('data'), 'a command makes no file');
  const made = settingsOf({}, { makesToken: true });
  const { token } = made.settings.admin;
  assert.deepEqual([made.tokenFile, made.config], [TOKEN_FILE, '']);
  assert.equal(readFileSync(TOKEN_FILE, 'utf8'), token);
  assert.equal(statSync(TOKEN_FILE).mode & 0o777, 0o600);
  const again = [settingsOf({}), settingsOf({}, { makesToken: true }), settingsOf({}, { named: '' })];
  for (const { settings } of again) assert.equal(settings.admin.token, token);
  writeFileSync('serpcache.yaml', OWN);
  const own = settingsOf({}, { makesToken: true });
  assert.deepEqual([own.config, own.settings.admin.token], ['serpcache.yaml', token]);
});

test('a named configuration, a token of its own and another address do without that file', () => {
  const given = 'a-token-of-my-own-choice';
  writeFileSync('named.yaml', OWN);
  for (const [env, named] of [
    [{ ADMIN_TOKEN: given }],
    [{ SERPCACHE_CONFIG: 'named.yaml' }],
    [{}, 'named.yaml'],
    [{ ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN: given }],
  ] as const) {
    const { settings, tokenFile } = settingsOf(env, { named, makesToken: true });
    assert.equal(tokenFile, undefined);
    assert.equal(settings.admin.token, 'ADMIN_TOKEN' in env ? given : undefined);
  }
  assert.throws(() => settingsOf({ ADMIN_HOST: '0.0.0.0' }, { makesToken: true }), /admin\.token|ADMIN_TOKEN/);
  writeFileSync('serpcache.yaml', `${OWN}\nadmin: { token: another-token-of-my-own }`);
  assert.equal(settingsOf({}, { makesToken: true }).settings.admin.token, 'another-token-of-my-own');
  assert.ok(!existsSync('data'));
});

test('a folder that cannot be written leaves a trial without a token', () => {
  writeFileSync('data', 'in the way');
  const { tokenFile, settings } = settingsOf({}, { makesToken: true });
  assert.deepEqual([tokenFile, settings.admin.token], [undefined, undefined]);
});

test('serpcache.yaml of the folder is the configuration, unless another file is named', () => {
  writeFileSync('serpcache.yaml', OWN);
  writeFileSync('other.yaml', OWN.replace('shop', 'other'));
  const first = (env: Readonly<Record<string, string>>, named?: string) => {
    const { config, settings } = settingsOf(env, { named });
    return [config, settings.domains[0]?.name];
  };
  assert.deepEqual(first({}), ['serpcache.yaml', 'shop']);
  assert.deepEqual(first({ SERPCACHE_CONFIG: '' }), ['', 'goods']);
  assert.deepEqual(first({ SERPCACHE_CONFIG: 'other.yaml' }), ['other.yaml', 'other']);
  assert.deepEqual(first({ SERPCACHE_CONFIG: 'serpcache.yaml' }, 'other.yaml'), ['other.yaml', 'other']);
});

test('a token file that is empty is none, and one that is too weak is refused', () => {
  const { tokenFile } = settingsOf({}, { makesToken: true });
  assert.equal(tokenFile, TOKEN_FILE);
  writeFileSync(TOKEN_FILE, '\n');
  assert.deepEqual(settingsOf({}).tokenFile, undefined);
  writeFileSync(TOKEN_FILE, 'short');
  assert.throws(() => settingsOf({}), /ADMIN_TOKEN: .*20 to 512/s);
});

test('a link serpcache.yaml that leads nowhere is a fault, and not the demo', () => {
  symlinkSync('/nowhere', 'serpcache.yaml');
  assert.throws(() => settingsOf({}), /serpcache\.yaml.*ENOENT/s);
});

test('in a clone the commands in texts for people are those of npm', () => {
  let written = '';
  const output = withHints({
    write: (text) => {
      written += text;
    },
  });
  output.write('its report: serpcache drill report x; the cache of serpcache itself\n');
  output.write('serpcache init: the store: no answer (see `serpcache doctor`)\n');
  assert.equal(
    written,
    'its report: npm run serpcache -- drill report x; the cache of serpcache itself\n' +
      'serpcache init: the store: no answer (see `npm run serpcache -- doctor`)\n',
  );
});

test('the greeting says which configuration is served, and how changes are made', () => {
  const urls = { publicUrl: 'http://127.0.0.1:1', adminUrl: 'http://127.0.0.1:2' };
  const demo = greeting({ ...urls, config: '', tokenFile: TOKEN_FILE, isReadOnly: false });
  assert.match(
    demo,
    /configuration none: the demo.*init\n[\s\S]*search\?q=iphone\+13\n[\s\S]*\(its token is in data\/admin-token\)/,
  );
  const own = greeting({ ...urls, config: 'serpcache.yaml', isReadOnly: true });
  assert.match(own, /configuration serpcache\.yaml\n[\s\S]*search\?q=…\n[\s\S]*ADMIN_TOKEN=… npm start/);
});
