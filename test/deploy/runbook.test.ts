import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { checkCount, parseArguments } from '../../src/commands/arguments.ts';
import { COMMANDS } from '../../src/commands/call.ts';
import type { Command } from '../../src/commands/command.ts';
import { configReference } from '../../src/config/reference.ts';
import { CHECK_WORDS } from '../../src/operations/doctor/checks/checks.ts';
import { loadReadyPlans } from '../../src/operations/drills/plan-file.ts';
import { adminHarness } from '../http/admin/harness.ts';
import { exposedMetrics } from './exposed.ts';
import { selectorsOf } from './promql.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'deploy', 'runbook');
const PARTS = ['Meaning', 'First look', 'Action', 'Rollback'];
/** At night nobody reads more than a screen. */
const MAX_SECTION_LINES = 24;

interface Page {
  readonly name: string;
  readonly text: string;
  /** Shell commands: the lines of `sh` blocks, and inline code. */
  readonly commands: readonly string[];
  readonly inline: readonly string[];
}

const pages: readonly Page[] = globSync('*.md', { cwd: FOLDER })
  .sort()
  .map((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    const blocks = [...text.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, , block = '']) => block);
    const prose = text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '');
    const inline = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
    return { name, text, commands: [...blocks.flatMap((block) => block.split('\n')), ...inline], inline };
  });
const alertsPage = readFileSync(join(FOLDER, 'alerts.md'), 'utf8');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert?: string; readonly record?: string }[];
  }[];
}

function rulesOf(file: string): Rules['groups'][number]['rules'] {
  const rules = parse(readFileSync(join(ROOT, 'deploy', 'prometheus', file), 'utf8')) as Rules;
  return rules.groups.flatMap((group) => group.rules);
}

const alerts = rulesOf('alerts.rules.yaml').flatMap(({ alert }) => alert ?? []);
const recorded = rulesOf('recording.rules.yaml').flatMap(({ record }) => record ?? []);

/** The simple commands of a line as a shell sees them, each as its words. Comments and redirections are left out. */
function shellCommands(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"|;&>#])+|#.*|>\s*\S+|[|;&]+/g)) {
    if (/^[#>]/.test(token)) continue;
    if (/^[|;&]/.test(token)) commands.push([]);
    else commands.at(-1)?.push(token.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return commands.filter((words) => words.length > 0);
}

const shell = pages.flatMap(({ name, commands }) =>
  commands.flatMap((line) => shellCommands(line).map((words) => ({ at: `${name}: ${line.trim()}`, words }))),
);

const cliCalls = shell.flatMap(({ at, words }) => {
  const own = words[0] === 'serpcache' ? words.slice(1) : undefined;
  const npm = /^npm run (?:-s )?serpcache -- /.test(`${words.join(' ')} `) ? words.slice(words.indexOf('--') + 1) : [];
  const args = own ?? npm;
  // `serpcache() {` defines the function, and a bare `serpcache` names the program.
  return args.length === 0 || args[0] === '$@' || args[0]?.startsWith('{') ? [] : [{ at, args }];
});

function commandOf(
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } | undefined {
  const named = COMMANDS.find(({ name }) => name === args[0]);
  if (named === undefined) return undefined;
  if (!('parts' in named)) return { command: named, rest: args.slice(1) };
  const part = named.parts.find(({ name }) => name === `${args[0]} ${args[1]}`);
  return part === undefined ? undefined : { command: part, rest: args.slice(2) };
}

test('every alert has its section, every section its alert, in the same order', () => {
  const sections = [...alertsPage.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual(sections, alerts);
});

test('every section says in a screen what the alert means, where to look, what to do and how to undo it', () => {
  for (const section of alertsPage.split(/^## /m).slice(1)) {
    const [name = ''] = section.split('\n', 1);
    const parts = [...section.matchAll(/^\*\*(.+)\.\*\*/gm)].map(([, part]) => part);
    assert.deepEqual(parts, PARTS, name);
    const [, look = ''] = section.split(/^\*\*First look\.\*\*/m);
    assert.match(look.split(/^\*\*Action\.\*\*/m)[0] ?? '', /^```sh\n\S/m, `${name}: a command to paste`);
    assert.ok(section.trimEnd().split('\n').length <= MAX_SECTION_LINES, `${name} is longer than a screen`);
  }
});

test('every command line of serpcache is accepted by its parser', () => {
  assert.ok(cliCalls.length > 60, `${cliCalls.length} command lines were found`);
  for (const { at, args } of cliCalls) {
    const found = commandOf(args);
    assert.ok(found !== undefined, at);
    const read = parseArguments(found.rest, found.command.options);
    assert.ok(read.kind === 'arguments', `${at}: ${read.kind === 'wrong' ? read.faults.join('; ') : read.kind}`);
    // Inline code may leave out the arguments: it names the command.
    if (read.arguments.positionals.length > 0) checkCount(read.arguments, found.command.takes);
  }
});

test('every word that a command line gives to --only, --mode and as a plan exists', () => {
  const plans = loadReadyPlans()(3).map(({ name }) => name);
  for (const { at, args } of cliCalls) {
    const only = args[args.indexOf('--only') + 1];
    if (args.includes('--only')) for (const word of only?.split(',') ?? []) assert.ok(CHECK_WORDS.includes(word), at);
    if (args.includes('--mode')) assert.match(args[args.indexOf('--mode') + 1] ?? '', /^(refresh|drop|erase)$/, at);
    if (args[0] === 'drill' && ['run', 'preview'].includes(args[1] ?? '') && args[2] !== undefined) {
      assert.ok(plans.includes(args[2]), at);
    }
  }
});

test('every npm script that a page runs is one of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  for (const { at, words } of shell) {
    if (words[0] !== 'npm' || words[1] !== 'run') continue;
    const [script = ''] = words.slice(2).filter((word) => !word.startsWith('-'));
    assert.ok(Object.keys(scripts).includes(script), at);
  }
});

test('every query is PromQL over metrics and labels that the service exposes', async () => {
  const exposed = await exposedMetrics();
  const queries = shell
    // Prose names the program without a query.
    .filter(({ words }) => words[0] === 'promtool' && words[4] !== undefined)
    .map(({ at, words }) => ({ at, query: words[4] }));
  assert.ok(queries.length > 40, `${queries.length} queries were found`);
  for (const { at, query = '' } of queries) {
    for (const { metric, labels } of selectorsOf(query)) {
      const known = exposed.get(metric);
      assert.ok(known !== undefined, `${at}: no metric ${metric}`);
      for (const label of labels) assert.ok(known.has(label), `${at}: ${metric} has no label ${label}`);
    }
  }
  const named = pages.flatMap(({ name, inline }) => inline.map((code) => ({ name, code })));
  for (const { name, code } of named) {
    if (/^serpcache:/.test(code)) assert.ok(recorded.includes(code), `${name}: ${code}`);
    if (/^(serpcache|redis_pipeline|nodejs|process)_\w+$/.test(code)) {
      assert.ok(exposed.has(code) || exposed.has(`${code}_count`), `${name}: ${code}`);
    }
  }
});

test('every route of the admin listener that a page names exists', async (context) => {
  const harness = adminHarness(context);
  await harness.get('/healthz');
  const routes = new Set(harness.routes.map(({ url }) => url));
  const named = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/(?:127\.0\.0\.1:8081|`)(\/(?:admin|ops|metrics|healthz)[\w/-]*)/g)].map(([, route = '']) => ({
      name,
      route,
    })),
  );
  assert.ok(named.length > 5);
  for (const { name, route } of named) assert.ok(routes.has(route), `${name}: ${route}`);
});

test('every setting and variable that a page names is one of the configuration', () => {
  const reference = configReference();
  const settings = [...reference.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path);
  const known = new Set([...settings, ...settings.map((path) => path.replace(/^domains\.<name>\./, ''))]);
  const sections = new Set([...known].map((path) => path.split('.')[0] ?? ''));
  for (const { name, inline } of pages) {
    for (const code of inline) {
      const isSetting = /^[a-z]\w*(\.\w+)+$/.test(code) && sections.has(code.split('.')[0] ?? '');
      const isVariable = /^OTEL_\w+$/.test(code);
      const path = code.replace(/^candidates\.\w+$/, 'candidates.<name>');
      if (isSetting || isVariable) assert.ok(known.has(path), `${name}: ${code}`);
    }
  }
});

test('every alert that a page names exists, and so does every file and heading that a page links to', () => {
  for (const { name, text } of pages) {
    for (const [, alert = ''] of text.matchAll(/`(Serpcache[A-Z]\w+|Redis[A-Z]\w+)`/g)) {
      assert.ok(alerts.includes(alert), `${name}: ${alert}`);
    }
    for (const [, file = '', anchor] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      const target = file === '' ? join(FOLDER, name) : join(FOLDER, file);
      assert.ok(existsSync(target), `${name}: ${file}`);
      if (anchor === undefined) continue;
      const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      assert.ok(headings.includes(anchor), `${basename(dirname(target))}/${basename(target)} has no heading ${anchor}`);
    }
  }
});
