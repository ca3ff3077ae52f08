import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { environmentOf } from '../../src/commands/demo.ts';
import { greeting } from '../../src/commands/terminal.ts';
import { loadSettings } from '../../src/config/load.ts';
import { temporaryFolder } from '../folder.ts';

const folder = temporaryFolder({ after });
const TOKEN_FILE = join('data', 'admin-token');
process.chdir(folder);
beforeEach(() => {
  for (const file of ['data', 'serpcache.yaml']) rmSync(join(folder, file), { recursive: true, force: true });
});

test('the demo has a token in a file of its owner, made by the service and found by the commands', () => {
  assert.equal(loadSettings(environmentOf({})).admin.token, undefined);
  assert.ok(!existsSync('data'), 'a command makes no file');
  const made = environmentOf({}, { makesToken: true });
  const { token } = loadSettings(made).admin;
  assert.equal(readFileSync(TOKEN_FILE, 'utf8'), token);
  assert.equal(statSync(TOKEN_FILE).mode & 0o777, 0o600);
  for (const again of [environmentOf({}), environmentOf({}, { makesToken: true })]) {
    assert.equal(loadSettings(again).admin.token, token);
  }
});

test('ADMIN_TOKEN, ADMIN_HOST and a configuration do without the token of the demo', () => {
  environmentOf({}, { makesToken: true });
  const given = { ADMIN_TOKEN: 'a-token-of-my-own-choice' };
  assert.equal(loadSettings(environmentOf(given)).admin.token, given.ADMIN_TOKEN);
  assert.throws(
    () => loadSettings(environmentOf({ ADMIN_HOST: '0.0.0.0' }, { makesToken: true })),
    /ADMIN_TOKEN|token/,
  );
  writeFileSync('serpcache.yaml', 'domains: { shop: { engine: { kind: sqlite } } }');
  assert.equal(loadSettings(environmentOf({})).admin.token, undefined);
});

test('a folder that cannot be written leaves the demo without a token', () => {
  writeFileSync('data', 'in the way');
  const { tokenFile, env } = environmentOf({}, { makesToken: true });
  assert.deepEqual([tokenFile, env['ADMIN_TOKEN']], [undefined, undefined]);
});

test('serpcache.yaml of the folder is the configuration, unless another file is named', () => {
  writeFileSync('serpcache.yaml', 'domains: { shop: { engine: { kind: sqlite } } }');
  writeFileSync('other.yaml', 'domains: { other: { engine: { kind: sqlite } } }');
  const first = (env: object, named?: string) => {
    const given = environmentOf({ ...env }, { named });
    return [given.config, loadSettings(given).domains[0]?.name];
  };
  assert.deepEqual(first({}), ['serpcache.yaml', 'shop']);
  assert.deepEqual(first({ SERPCACHE_CONFIG: '' }), ['serpcache.yaml', 'shop']);
  assert.deepEqual(first({ SERPCACHE_CONFIG: 'other.yaml' }), ['other.yaml', 'other']);
  assert.deepEqual(first({ SERPCACHE_CONFIG: 'serpcache.yaml' }, 'other.yaml'), ['other.yaml', 'other']);
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
