import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { callCli } from './harness.ts';

const directory = temporaryFolder({ after });

const catalogue = join(directory, 'catalogue.ndjson');
writeFileSync(catalogue, `${JSON.stringify({ id: '1', title: 'Кабель', description: '' })}\n`);

/** Calls the command for domains `a` and `b` with these engines. @returns the result and the configuration written. */
async function sourceOf(engines: { a: string; b: string }, ...words: string[]) {
  const file = join(directory, 'serpcache.yaml');
  const domain = (kind: string): string => `{ store: { kind: none }, engine: { kind: ${kind}, host: 127.0.0.1 } }`;
  writeFileSync(file, `domains:\n  a: ${domain(engines.a)}\n  b: ${domain(engines.b)}\n`);
  const out = join(directory, 'out');
  const called = await callCli(['sphinx-source', '--out', out, ...words], { env: { SERPCACHE_CONFIG: file } });
  return { called, configuration: () => readFileSync(join(out, 'sphinx.conf'), 'utf8') };
}

const both = [`a=${catalogue}`, `b=${catalogue}`];

test('sphinx-source writes for the server that the domains have as engine', async () => {
  const words = [...both, '--max-connections', '7'];
  const sphinx = await sourceOf({ a: 'sphinx', b: 'sphinx' }, ...words);
  assert.equal(sphinx.called.code, 0, sphinx.called.err);
  assert.match(sphinx.configuration(), /^ {2}max_children = 7$/m);
  const manticore = await sourceOf({ a: 'manticore', b: 'manticore' }, ...words);
  assert.equal(manticore.called.code, 0, manticore.called.err);
  assert.match(manticore.configuration(), /^ {2}max_connections = 7$/m);
});

test('domains of both servers are refused, because a configuration is for one server', async () => {
  const { called } = await sourceOf({ a: 'sphinx', b: 'manticore' }, ...both);
  assert.equal(called.code, 64);
  assert.match(called.err, /the engine of a is sphinx, of b manticore: name the domains of one of them/);
  assert.equal((await sourceOf({ a: 'sphinx', b: 'manticore' }, `b=${catalogue}`)).called.code, 0);
});

test('--realtime writes a real-time table and the statements that fill it', async () => {
  const { called, configuration } = await sourceOf({ a: 'sphinx', b: 'sphinx' }, `a=${catalogue}`, '--realtime');
  assert.equal(called.code, 0, called.err);
  assert.match(configuration(), /^ {2}type = rt$/m);
  assert.doesNotMatch(configuration(), /^(source|indexer)/m);
  const statements = readFileSync(join(directory, 'out', 'a.sql'), 'utf8');
  assert.match(statements, /^REPLACE INTO a \(id,title,.*\) VALUES \(1,'Кабель','',.*\);\n$/);
  assert.match(called.out, /^searchd --config .*\ncat .*\*\.sql \| mysql --host 127\.0\.0\.1 --port 9306\n$/);
});
