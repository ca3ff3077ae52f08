import { addAbortListener } from 'node:events';
import type { Check } from '../operations/doctor/check.ts';
import { CHECK_IDS, CHECK_WORDS, CHECKS, checksNamed } from '../operations/doctor/checks/checks.ts';
import { createHostReader } from '../operations/doctor/collect/host.ts';
import { ENABLES } from '../operations/doctor/create-doctor.ts';
import { EXAMINATION_WINDOW_MS } from '../operations/doctor/doctor.ts';
import { ENABLE_NAMES, type Enabled, type Report } from '../operations/doctor/report.ts';
import { aboveInfo, healthText } from '../operations/doctor/view.ts';
import { sleep } from './admin-client.ts';
import { didYouMean, durationOf, type Option, type ParsedArguments, UsageError } from './arguments.ts';
import { type Command, type CommandContext, NotPassed } from './command.ts';
import { checkBundle, writeBundle } from './doctor-bundle.ts';
import { directLooker, eitherLooker, type Looker, type LookRequest, serviceLooker } from './doctor-look.ts';
import { createHostPart, partIn } from './doctor-part.ts';
import { changeText, enabledText, examinationText, findingChanges, listText } from './doctor-text.ts';
import { COMMON, type CommandOutput, clientOf, createCommandOutput, createConfirm } from './operator-command.ts';
import { printable } from './terminal.ts';

const OPTIONS: readonly Option[] = [
  { name: 'watch', about: 'look again and again until Ctrl-C' },
  { name: 'only', takes: 'A,B', about: 'these checks or areas only: store, engine, network, host, service, pattern' },
  { name: 'bundle', takes: 'FILE', about: 'write a .tar.gz for a ticket, without secrets, key names and query texts' },
  { name: 'host', about: 'look at the kernel and network of this machine only, and print it for --merge' },
  { name: 'merge', takes: 'FILE', about: 'join what --host printed on another machine', repeats: true },
  { name: 'enable', takes: 'NAME', about: `change every store node: ${ENABLE_NAMES.join(', ')}` },
  { name: 'direct', about: 'look from this machine with its configuration, without a running service' },
  { name: 'acknowledged', takes: 'FILE', about: 'a file of accepted findings, beside the one of doctor.acknowledged' },
  { name: 'window', takes: 'TIME', about: 'time between two of the four snapshots, 200ms to 15s' },
  { name: 'list', about: 'show every check with its rule, and look at nothing' },
];
/** Options of an examination, which the other three modes do not take. */
const OF_LOOKS = ['watch', 'bundle', 'merge', 'direct', 'acknowledged'];
const MODES: Readonly<Record<string, readonly string[]>> = {
  list: [...OF_LOOKS, 'window', 'host', 'enable'],
  host: [...OF_LOOKS, 'only', 'enable'],
  enable: [...OF_LOOKS, 'window', 'only'],
  watch: ['bundle'],
};
const MAX_PARTS = 64;
const HOST_WINDOW_MS = 1000;
const WATCH_PAUSE_MS = 1000;
/** Lines about raised and cleared findings below a watched report. */
const MAX_CHANGES = 10;

/** The findings of every store, engine, host and of serpcache itself. */
export const doctorCommand: Command = {
  name: 'doctor',
  usage: '[--watch] [--only A,B] [--bundle FILE] [--host | --merge FILE …] [--enable NAME] [--list]',
  summary: 'examine stores, engines, network, host and serpcache, and say what to change',
  options: [...OPTIONS, ...COMMON],
  takes: { min: 0, max: MAX_PARTS },
  details: [
    'It changes nothing, but for --enable. When no service answers at the configured address, it looks from this machine,',
    'as with --direct. A service that --admin names is the only one that is asked.',
    'On the machine of a store: serpcache doctor --host > part.json; then here: serpcache doctor --merge part.json',
    'Exit status 0: nothing above info that is not accepted. 1: findings above info. 3: it could not look.',
  ],
  run: async (args, context) => {
    checkTogether(args);
    const checks = selectedIn(args);
    const output = createCommandOutput(context, args.has('json'));
    if (args.has('list')) {
      output.result({ checks: checks.map(({ look: _, ...check }) => check) }, () => listText(checks));
      return;
    }
    const { min: least, max: most } = EXAMINATION_WINDOW_MS;
    const windowMs = durationOf(args, 'window', { least, most, example: '500ms or 1s' });
    if (args.has('host')) {
      const readHost = createHostReader({ role: 'part', clock: context.clock });
      const part = await orStopped(createHostPart(readHost, windowMs ?? HOST_WINDOW_MS), context.signal);
      context.stdout.write(`${JSON.stringify(part)}\n`);
      return;
    }
    const name = args.text('enable');
    if (name !== undefined) {
      await enable(name, args, context, output);
      return;
    }
    const bundle = args.text('bundle');
    if (bundle !== undefined) checkBundle(bundle);
    const asked: LookRequest = {
      checks,
      isNarrowed: args.has('only'),
      parts: [...args.texts('merge'), ...args.positionals].map(partIn),
      needsSnapshots: bundle !== undefined,
      windowMs,
      acknowledged: args.text('acknowledged'),
    };
    const looker = lookerOf(args, context, asked);
    try {
      if (args.has('watch')) await watch(looker, context, output);
      else await lookOnce(looker, context, output, { checks, bundle });
    } finally {
      await looker.close();
    }
  },
};

/** @throws UsageError that names the first two options of different modes */
function checkTogether(args: ParsedArguments): void {
  for (const [mode, others] of Object.entries(MODES)) {
    const other = args.has(mode) ? others.find((one) => args.has(one)) : undefined;
    if (other !== undefined) throw new UsageError(`--${mode} takes no --${other}`);
  }
  const [first] = args.positionals;
  if (first !== undefined && !args.has('merge')) throw new UsageError(`an argument too many: "${first}"`);
}

/** The checks of `--only`. @throws UsageError with a name near to an unknown one */
function selectedIn(args: ParsedArguments): readonly Check[] {
  const text = args.text('only');
  if (text === undefined) return CHECKS;
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const named = words.map((word) => {
    const checks = checksNamed(word);
    if (checks.length > 0) return checks;
    // Every name of a check begins with its area, which would always be the nearest.
    const near = didYouMean(word, word.includes('-') ? [...CHECK_IDS] : CHECK_WORDS);
    const hint = near || 'serpcache doctor --list shows them';
    throw new UsageError(`--only: no check and no area "${word}"; ${hint}`);
  });
  const wanted = new Set(named.flat());
  if (wanted.size === 0) throw new UsageError('--only needs a check or an area');
  return CHECKS.filter((check) => wanted.has(check));
}

/**
 * By the service; from this machine with `--direct`, or when no service answers at the configured address. A service that
 * was named by `--admin` is meant, and no other look takes its place.
 */
function lookerOf(args: ParsedArguments, context: CommandContext, asked: LookRequest): Looker {
  const direct = (): Looker => directLooker(asked, context);
  if (args.has('direct')) return direct();
  const service = serviceLooker(clientOf(args, context), asked, context);
  return args.has('admin') ? service : eitherLooker(service, direct);
}

async function lookOnce(
  looker: Looker,
  { signal }: CommandContext,
  output: CommandOutput,
  { checks, bundle }: { readonly checks: readonly Check[]; readonly bundle?: string },
): Promise<void> {
  const look = await orStopped(looker.look(), signal);
  const { report, answered } = look;
  output.result(report, () => examinationText(report));
  if (bundle !== undefined) {
    writeBundle(bundle, look, checks);
    output.remark(`the bundle is in ${bundle}`);
  }
  if (!answered) throw new Error('it could not look: neither a store nor an engine answered');
  if (report.checked === 0) throw new Error('it could not look: none of these checks could be made, see “skipped”');
  if (aboveInfo(report.findings).length > 0) throw new NotPassed(healthText(report), 'failed');
}

/** Looks until it is stopped. A terminal is redrawn, with the last changes below the report. */
async function watch(looker: Looker, { signal, stdout }: CommandContext, output: CommandOutput): Promise<never> {
  let before: Report | undefined;
  let changes: readonly string[] = [];
  for (;;) {
    const { report } = await orStopped(looker.look(), signal);
    const fresh = before === undefined ? [] : findingChanges(before, report).map(changeText);
    before = report;
    changes = [...changes, ...fresh].slice(-MAX_CHANGES);
    if (output.json) {
      output.event(report);
      for (const line of fresh) output.remark(line);
    } else {
      stdout.write(`\u001b[H\u001b[J${printable([examinationText(report), ...changes].join('\n'))}\n`);
    }
    await sleep(WATCH_PAUSE_MS, signal);
  }
}

/** The result, unless the command is told to stop before it is there. */
async function orStopped<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  using _listener = addAbortListener(signal, () => reject(signal.reason));
  return await Promise.race([result, stopped]);
}

async function enable(
  name: string,
  args: ParsedArguments,
  context: CommandContext,
  output: CommandOutput,
): Promise<void> {
  const known = ENABLE_NAMES.find((each) => each === name);
  if (known === undefined) {
    const hint = didYouMean(name, ENABLE_NAMES) || `known: ${ENABLE_NAMES.join(', ')}`;
    throw new UsageError(`--enable: nothing is called "${name}"; ${hint}`);
  }
  const client = clientOf(args, context);
  const commands = ENABLES[known].map((command) => command.join(' ')).join('; ');
  await createConfirm(context, args.has('yes')).confirm(`Send to every store node: ${commands}?`);
  const enabled = await client.post<Enabled>('/admin/doctor/enable', { name, reason: args.text('reason') });
  output.result(enabled, () => enabledText(enabled));
  const { nodes } = enabled;
  if (nodes.length === 0) throw new Error('no store node is known, nothing was changed');
  const refused = nodes.filter((node) => node.refused !== undefined).length;
  if (refused > 0) throw new Error(`${refused} of ${nodes.length} nodes refused`);
}
