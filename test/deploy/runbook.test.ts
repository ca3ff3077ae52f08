import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { checkCount, parseArguments } from '../../src/commands/arguments.ts';
import { COMMANDS } from '../../src/commands/call.ts';
import type { Command } from '../../src/commands/command.ts';
import { configReference } from '../../src/config/reference.ts';
import { CHECK_WORDS } from '../../src/operations/doctor/checks/checks.ts';
import { loadReadyPlans } from '../../src/operations/drills/plan-file.ts';
import { adminHarness } from '../http/admin/harness.ts';
import { assertExposed, exposedMetrics, recordingRules } from './exposed.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'deploy', 'runbook');

const pages = globSync('*.md', { cwd: FOLDER })
  .sort()
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const alertsPage = readFileSync(join(FOLDER, 'alerts.md'), 'utf8');
const { groups } = parse(readFileSync(join(ROOT, 'deploy', 'prometheus', 'alerts.rules.yaml'), 'utf8'));
const alerts: readonly string[] = groups.flatMap(({ rules }: { readonly rules: readonly { alert: string }[] }) =>
  rules.map(({ alert }) => alert),
);

interface Found {
  readonly at: string;
  readonly word: string;
}

/** The first group of every match, with its page and line. */
const found = (pattern: RegExp): readonly Found[] =>
  pages.flatMap(({ name, text }) =>
    text
      .split('\n')
      .flatMap((line) => [...line.matchAll(pattern)].map(([, word = '']) => ({ at: `${name}: ${line.trim()}`, word }))),
  );

/** The arguments of each call of serpcache: in a line of a block, or in code within a text. */
const calls = found(
  /(?:^ *|`|[$|&;(] *)(?:npm run (?:-s )?serpcache --|serpcache) ((?:'[^']*'|"[^"]*"|[^'"`#|;&>{])+)/g,
)
  .map(({ at, word }) => ({ at, args: word.match(/'[^']*'|"[^"]*"|\S+/g)?.map((one) => one.replaceAll(/['"]/g, '')) }))
  .filter((call): call is { at: string; args: string[] } => call.args !== undefined && call.args[0] !== '$@');

function commandOf(
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } | undefined {
  const named = COMMANDS.find(({ name }) => name === args[0]);
  if (named === undefined) return undefined;
  if (!('parts' in named)) return { command: named, rest: args.slice(1) };
  const part = named.parts.find(({ name }) => name === `${args[0]} ${args[1]}`);
  return part === undefined ? undefined : { command: part, rest: args.slice(2) };
}

test('every alert has its section, and every section its alert', () => {
  const [, ...sections] = alertsPage.split(/^## /m);
  assert.deepEqual(
    sections.map((section) => section.split('\n', 1)[0]),
    alerts,
  );
});

test('every command line of serpcache is accepted by its parser, and names checks, modes and plans that exist', () => {
  assert.ok(calls.length > 60, `${calls.length} command lines were found`);
  const plans = loadReadyPlans()(3).map(({ name }) => name);
  for (const { at, args } of calls) {
    const call = commandOf(args);
    assert.ok(call !== undefined, at);
    const read = parseArguments(call.rest, call.command.options);
    assert.ok(read.kind === 'arguments', `${at}: ${read.kind === 'wrong' ? read.faults.join('; ') : read.kind}`);
    const { positionals, text } = read.arguments;
    // Code within a text may leave out the arguments: it names the command.
    if (positionals.length > 0) checkCount(read.arguments, call.command.takes);
    for (const word of text('only')?.split(',') ?? []) assert.ok(CHECK_WORDS.includes(word), at);
    assert.match(text('mode') ?? 'drop', /^(refresh|drop|erase)$/, at);
    const plan = /^drill (?:run|preview)$/.test(call.command.name) ? positionals[0] : undefined;
    if (plan !== undefined) assert.ok(plans.includes(plan), at);
  }
});

test('every query, metric and recorded figure is one that the service exposes', async () => {
  const exposed = await exposedMetrics();
  const recorded = recordingRules().map(({ record }) => record);
  const queries = found(/promtool query instant \S+ '([^']+)'/g);
  assert.ok(queries.length > 40, `${queries.length} queries were found`);
  for (const { at, word } of queries) assertExposed(word, exposed, at);
  for (const { at, word } of found(/`(serpcache:[^`]+)`/g)) assert.ok(recorded.includes(word), at);
  for (const { at, word } of found(/`((?:serpcache|redis_pipeline|nodejs|process)_\w+)`/g)) {
    assert.ok(exposed.has(word) || exposed.has(`${word}_count`), at);
  }
});

test('every npm script, alert, setting and variable that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  for (const { at, word } of found(/npm run (?:-s )?([\w:]+)/g)) assert.ok(word in scripts, at);
  for (const { at, word } of found(/`(Serpcache[A-Z]\w+|Redis[A-Z]\w+)`/g)) assert.ok(alerts.includes(word), at);
  const settings = [...configReference().matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path);
  const known = new Set([...settings, ...settings.map((path) => path.replace(/^domains\.<name>\./, ''))]);
  const sections = new Set([...known].map((path) => path.split('.')[0] ?? ''));
  for (const { at, word } of found(/`([a-z]\w*(?:\.\w+)+|OTEL_\w+)`/g)) {
    const path = word.replace(/^candidates\.\w+$/, 'candidates.<name>');
    if (word.startsWith('OTEL_') || sections.has(word.split('.')[0] ?? '')) assert.ok(known.has(path), at);
  }
});

test('every route of the admin listener that a page names exists', async (context) => {
  const harness = adminHarness(context);
  await harness.get('/healthz');
  const routes = new Set(harness.routes.map(({ url }) => url));
  const named = found(/(?:127\.0\.0\.1:8081|`)(\/(?:admin|ops|metrics|healthz)[\w/-]*)/g);
  assert.ok(named.length > 5);
  for (const { at, word } of named) assert.ok(routes.has(word), at);
});
