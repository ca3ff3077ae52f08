import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { agentsIn, complaintIn } from '../../deploy/check/engines-start.ts';
import { freePorts } from '../../loadtest/stack/process.ts';
import { startSearchd } from '../../loadtest/stack/sphinx.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');
const FILES = ['sphinx/distributed.conf', 'manticore/distributed.conf'];
const textOf = (file: string): string => readFileSync(join(deploy, file), 'utf8');

/** A setting in milliseconds. */
function milliseconds(text: string, name: string): number {
  return Number(new RegExp(`^\\s*${name} = (\\d+)$`, 'm').exec(text)?.[1]);
}

test('an agent is given up before the engine deadline of the production example: with Manticore, for one statement', () => {
  const example: { readonly domains: Readonly<Record<string, { readonly engine: { readonly deadline: string } }>> } =
    parse(textOf('production.example.yaml'), { merge: true });
  const deadlines = Object.values(example.domains).map(({ engine }) => Number(/^(\d+)ms$/.exec(engine.deadline)?.[1]));
  assert.ok(deadlines.length > 0 && deadlines.every((ms) => ms > 0));
  for (const file of FILES) {
    const text = textOf(file);
    const agentMs = milliseconds(text, 'agent_connect_timeout') + milliseconds(text, 'agent_query_timeout');
    assert.ok(agentMs < Math.min(...deadlines), `${file}: ${agentMs} ms`);
  }
});

test('both kinds of server have the same parts, each on two machines of a private network', () => {
  const [sphinx = [], manticore = []] = FILES.map((file) => agentsIn(textOf(file)));
  assert.deepEqual(sphinx, manticore);
  assert.equal(new Set(sphinx).size, 4);
  for (const address of sphinx) assert.match(address, /^10\.\d+\.\d+\.\d+:9312$/);
});

test('searchd starts from the shipped front while its agents are away, without a complaint', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-deploy-'));
  const [port = 0, dead = 0] = await freePorts(2);
  const configFile = join(folder, 'sphinx.conf');
  const shipped = textOf('sphinx/distributed.conf');
  const local = shipped
    .replaceAll(/\b10\.0\.0\.\d+:9312\b/g, `127.0.0.1:${dead}`)
    .replaceAll('/var/lib/searchd', folder)
    .replaceAll('127.0.0.1:9306', `127.0.0.1:${port}`);
  writeFileSync(configFile, local);
  const searchd = await startSearchd({ directory: folder, from: { configFile, port }, built: true });
  t.after(async () => {
    await searchd.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  assert.equal(complaintIn(readFileSync(join(folder, 'searchd.out'), 'utf8')), undefined);
});
