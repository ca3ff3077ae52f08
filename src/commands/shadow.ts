import { MAX_SHADOW_READS } from '../control/document.ts';
import type { ShadowVerdict } from '../operations/shadow/figures.ts';
import type { Moved, ReportSummary, ShadowStatus, ShadowSummary, Stopped } from '../operations/shadow/shadow.ts';
import { percentText, utcText } from '../report/format.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../schema/units.ts';
import { type AdminClient, sleep } from './admin-client.ts';
import { durationOf, type ParsedArguments, UsageError } from './arguments.ts';
import { type Command, type CommandGroup, NotPassed } from './command.ts';
import { type OperatorContext, operatorCommand, printReport, REPORT_FILE } from './operator-command.ts';
import {
  configurationLines,
  domainsText,
  movedText,
  reportsText,
  shadowReportText,
  shadowVerdictText,
  statusText,
} from './shadow-text.ts';
import { printable } from './terminal.ts';

const FRACTION = { name: 'fraction', takes: 'SHARE', about: 'share of the keys, above 0 and at most 1' };
const READS = { name: 'reads', takes: 'N', about: `copies of each read of these keys, 1 to ${MAX_SHADOW_READS}` };
const FOR = { name: 'for', takes: 'TIME', about: 'the time that the verdict covers, 10s to 1d; 10m by default' };
/** A cut-over waits until every process has followed, or has not in time. */
const CUT_OVER_DEADLINE_MS = 120_000;
const POLL_MS = 2000;

const startShadow: Command = operatorCommand({
  name: 'shadow start',
  usage: '<domain> --candidate NAME [--fraction 0.1] [--reads 1] [--expires 24h] [--reason TEXT]',
  summary: 'copy reads and writes of a share of the keys to a candidate store',
  options: [
    { name: 'candidate', takes: 'NAME', about: 'a candidate that the configuration declares' },
    { ...FRACTION, about: `${FRACTION.about}; 0.1 by default` },
    { ...READS, about: `${READS.about}; 1 by default` },
    { name: 'expires', takes: 'TIME', about: 'the shadow ends by itself after it, 1m to 30d; 24h by default' },
  ],
  takes: { min: 1, max: 1 },
  run: async ({ args, client, output, reason }) => {
    const [domain = ''] = args.positionals;
    const candidate = args.text('candidate');
    if (candidate === undefined) throw new UsageError('a shadow needs a candidate: --candidate NAME');
    const forMs = durationOf(args, 'expires', { least: MINUTE, most: 30 * DAY }) ?? DAY;
    const status = await client.post<ShadowStatus>('/admin/shadow', {
      domain,
      candidate,
      fraction: fractionOf(args) ?? 0.1,
      reads: readsOf(args) ?? 1,
      hours: forMs / HOUR,
      reason,
    });
    output.result(status, () =>
      [
        ranText(status),
        `watch it: serpcache shadow status ${domain} --watch`,
        `end it: serpcache shadow stop ${domain}`,
      ].join('\n'),
    );
  },
});

const setShadow: Command = operatorCommand({
  name: 'shadow set',
  usage: '<domain> [--fraction 0.5] [--reads 3] [--reason TEXT]',
  summary: 'change the share of the keys, or the copies of each read, of a running shadow',
  options: [FRACTION, READS],
  takes: { min: 1, max: 1 },
  run: async ({ args, client, output, reason }) => {
    const [domain = ''] = args.positionals;
    const fraction = fractionOf(args);
    const reads = readsOf(args);
    if (fraction === undefined && reads === undefined) throw new UsageError('what changes? --fraction or --reads');
    const status = await client.post<ShadowStatus>('/admin/shadow/change', { domain, fraction, reads, reason });
    output.result(status, () => ranText(status));
  },
});

function ranText({ domain, shadow }: ShadowSummary): string {
  if (shadow === undefined) return `${domain}: no shadow runs`;
  const { candidate, fraction, reads, untilMs } = shadow;
  const copied = `${percentText(fraction)} of the keys are copied to ${candidate.name}, reads ×${reads}`;
  return `${domain}: ${copied}, until ${utcText(untilMs)}`;
}

function fractionOf(args: ParsedArguments): number | undefined {
  const fraction = args.number('fraction');
  if (fraction === undefined || (fraction > 0 && fraction <= 1)) return fraction;
  throw new UsageError(`--fraction takes a share of the keys above 0 and at most 1, not ${fraction}`);
}

function readsOf(args: ParsedArguments): number | undefined {
  return args.number('reads', { least: 1, most: MAX_SHADOW_READS, whole: true });
}

/** The seconds of `--for`, as the admin API has them. @throws UsageError */
function secondsOf(args: ParsedArguments): number | undefined {
  const ms = durationOf(args, 'for', { least: 10 * SECOND, most: DAY, step: SECOND });
  return ms === undefined ? undefined : ms / SECOND;
}

const shadowStatus: Command = operatorCommand({
  name: 'shadow status',
  usage: '[domain] [--for 10m] [--watch]',
  summary: 'both stores side by side, and the verdict; by default where a shadow runs',
  options: [FOR, { name: 'watch', about: 'show it again and again until the shadow ends or Ctrl-C' }],
  takes: { min: 0, max: 1 },
  details: ['Exit status 0: cut over, or no shadow runs. 1: do not cut over. 2: undecided. 3: no longer followed.'],
  run: async (context) => {
    const { args, client, output } = context;
    const seconds = secondsOf(args);
    const domain = args.positionals[0] ?? (await shadowedDomain(client));
    if (domain === undefined) {
      const found = await client.get<Listed>('/admin/shadow');
      output.result(found, () => `${domainsText(found.domains)}\nno shadow runs`);
      return;
    }
    const read = () => statusOf(client, domain, seconds);
    const status = args.has('watch') ? await watched(context, read) : await read();
    output.result(status, () => statusText(status));
    if (status.verdict !== undefined) judge(status.verdict);
  },
});

interface Listed {
  readonly domains: readonly ShadowSummary[];
}

function statusOf(client: AdminClient, domain: string, seconds: number | undefined): Promise<ShadowStatus> {
  const query = Object.entries({ domain, for: seconds });
  return client.get<ShadowStatus>('/admin/shadow/status', { query });
}

/** The domain in which a shadow runs; undefined when none runs. @throws UsageError when there are several. */
async function shadowedDomain(client: AdminClient): Promise<string | undefined> {
  const { domains } = await client.get<Listed>('/admin/shadow');
  const running = domains.filter(({ shadow }) => shadow !== undefined).map(({ domain }) => domain);
  if (running.length > 1) throw new UsageError(`which domain? shadows run in ${running.join(', ')}`);
  return running[0];
}

/** @throws NotPassed unless a cut-over is advised. */
function judge(verdict: ShadowVerdict): void {
  if (verdict.kind === 'cut-over') return;
  throw new NotPassed(shadowVerdictText(verdict), verdict.kind === 'do-not' ? 'failed' : 'undecided');
}

/** Shows the status at intervals while the shadow runs. Resolves to the status after its end. */
async function watched(context: OperatorContext, read: () => Promise<ShadowStatus>): Promise<ShadowStatus> {
  const { output, stderr, signal } = context;
  for (;;) {
    const status = await read();
    if (status.shadow === undefined) return status;
    output.event(status);
    // A terminal is cleared, so that the figures stay in their places.
    const clear = output.watched ? '\u001b[H\u001b[J' : '';
    if (output.watched || !output.json) stderr.write(`${clear}${printable(statusText(status))}\n`);
    await sleep(POLL_MS, signal);
  }
}

const reportShadow: Command = operatorCommand({
  name: 'shadow report',
  usage: '[id] [--out report.html]',
  summary: 'the kept reports, or one of them; as JSON with all its samples',
  options: [REPORT_FILE],
  takes: { min: 0, max: 1 },
  run: async (context) => {
    const { args, client, output } = context;
    const [id] = args.positionals;
    const file = args.text('out');
    if (id === undefined) {
      if (file !== undefined) throw new UsageError('which report goes into the file? name its id');
      const found = await client.get<{ reports: readonly ReportSummary[] }>('/admin/shadow/reports');
      output.result(found, () => reportsText(found.reports));
      return;
    }
    await printReport(context, id, `/admin/shadow/reports/${encodeURIComponent(id)}`, shadowReportText);
  },
});

const cutOver: Command = operatorCommand({
  name: 'shadow cut-over',
  usage: '<domain> --reason TEXT [--force] [--for 10m] [--yes]',
  summary: 'show the verdict, ask, and make the candidate the store of the domain',
  options: [{ name: 'force', about: 'cut over without a favourable verdict' }, FOR],
  takes: { min: 1, max: 1 },
  details: [
    'The name of the domain must be typed. The old store is still read and written until shadow stop.',
    'Exit status 0: it is committed. 3: refused, or it could not be done; shadow status tells which store is in use.',
  ],
  run: async (context) => {
    const { args, client, output } = context;
    const [domain = ''] = args.positionals;
    const seconds = secondsOf(args);
    const force = args.has('force');
    const reason = context.reasonFor('a cut-over');
    if (context.asks()) {
      const status = await statusOf(client, domain, seconds);
      const { shadow, active, verdict } = status;
      output.remark(statusText(status));
      if (shadow === undefined) throw new Error(`no shadow runs in ${domain}, nothing was done`);
      if (verdict?.kind !== 'cut-over' && !force) {
        throw new Error('the verdict is not favourable, nothing was done; --force cuts over all the same');
      }
      await context.confirm(`Cut ${domain} over from ${active.name} to ${shadow.candidate.name}?`, domain);
    }
    await move(context, '/admin/shadow/cut-over', { domain, force, for: seconds, reason });
  },
});

const cutBack: Command = operatorCommand({
  name: 'shadow back',
  usage: '<domain> --reason TEXT [--yes]',
  summary: 'make the store before the cut-over the store of the domain again',
  takes: { min: 1, max: 1 },
  run: async (context) => {
    const [domain = ''] = context.args.positionals;
    const reason = context.reasonFor('the way back');
    await context.confirm(`Return ${domain} to its store before the cut-over?`);
    await move(context, '/admin/shadow/back', { domain, reason });
  },
});

async function move({ client, output, signal }: OperatorContext, path: string, body: object): Promise<void> {
  signal.throwIfAborted();
  // From here on the answer must arrive: it tells which store is in use.
  const moved = await client.post<Moved>(path, body, { evenIfStopped: true, deadlineMs: CUT_OVER_DEADLINE_MS });
  output.result(moved, () => movedText(moved));
}

const stopShadow: Command = operatorCommand({
  name: 'shadow stop',
  usage: '<domain> [--reason TEXT] [--yes]',
  summary: 'end a shadow, cancel a prepared cut-over, or use the old store no longer',
  takes: { min: 1, max: 1 },
  details: ['After a cut-over it asks, because the way back ends with it. A shadow ends without a question.'],
  run: async (context) => {
    const { args, client, output, reason } = context;
    const [domain = ''] = args.positionals;
    const { domains } = await client.get<Listed>('/admin/shadow');
    const { shadow, placement } = domains.find((each) => each.domain === domain) ?? {};
    if (shadow === undefined && placement?.phase === 'committed' && placement.other !== undefined) {
      const { active, other } = placement;
      await context.confirm(`Use ${other.name} no longer? ${domain} stays on ${active.name}, and the way back ends.`);
    }
    const stopped = await client.post<Stopped>('/admin/shadow/stop', { domain, reason });
    output.result(stopped, () => stoppedText(stopped));
  },
});

const ENDED: Readonly<Record<Stopped['ended'], string>> = {
  shadow: 'the shadow has ended',
  preparation: 'the prepared cut-over is cancelled',
  'old-store': 'the old store is no longer used',
};

function stoppedText({ domain, ended, report, configuration }: Stopped): string {
  return [
    `${domain}: ${ENDED[ended]}`,
    ...(report === undefined ? [] : [`its report: serpcache shadow report ${report} --out ${report}.html`]),
    ...configurationLines(configuration),
  ].join('\n');
}

const PARTS: readonly Command[] = [startShadow, setShadow, shadowStatus, reportShadow, cutOver, cutBack, stopShadow];

/** Shadow traffic to a candidate store, and the cut-over to it. */
export const shadow: CommandGroup = {
  name: 'shadow',
  usage: `${PARTS.map(({ name }) => name.replace('shadow ', '')).join(' | ')} …`,
  summary: 'try another store with copies of the traffic, and change to it under load',
  parts: PARTS,
};
