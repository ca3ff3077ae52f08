import type { Plan } from '../../../../operations/drills/plan.ts';
import {
  GUARD_ACTION_WORDS,
  guardName,
  guardText,
  isBlackout,
  MEANINGS,
  modeText,
  planDurationMs,
  stageTitles,
} from '../../../../operations/drills/view.ts';
import type { FlushPreview } from '../../../../operations/flush/flush.ts';
import { bullets, withTooltip } from '../../../../report/components.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
} from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import { currentDomain, type Model } from '../model.ts';
import { choiceField, feedView, formView, panel, reasonField, scrollTable, softView } from './components.ts';
import { previewFigures } from './flush.ts';

/**
 * The form that starts a drill: first the plan and its dry run, then the reason. A drill is started only after its
 * dry run was shown.
 */
export function drillStartView(model: Model) {
  const domain = currentDomain(model)?.domain ?? '';
  return panel(
    'start',
    'Start a drill',
    feedView(model, model.feeds.plans, ({ plans }) =>
      formView(model, 'dry-run', model.busy.includes('dry-run') ? 'Counting…' : 'Dry run', [
        h('fieldset', { class: 'choices' })(
          h('legend')('Plan'),
          plans.map((plan, at) => planChoice(plan, at === 0)),
        ),
        domainsChoice(model, domain),
      ]),
    ),
    dryRunView(model),
  );
}

function planChoice(plan: Plan, isFirst: boolean) {
  return choiceField(
    { type: 'radio', name: 'plan', value: plan.name, required: true, checked: isFirst },
    `plan-${plan.name}`,
    h('b')(plan.name),
    ` ${plan.title}`,
    h('small')(
      ` ${isBlackout(plan) ? 'nothing flushed' : plan.mode}, ${stageTitles(plan).join(' → ')}, at least ${durationText(planDurationMs(plan))}`,
    ),
  );
}

function domainsChoice({ live }: Model, domain: string) {
  const names = live?.domains.map((look) => look.domain) ?? [];
  return h('fieldset', { class: 'choices inline' })(
    h('legend')('Domains'),
    names.map((name) => {
      const box = { type: 'checkbox', name: 'domain', value: name, checked: name === domain };
      return choiceField(box, `domain-${name}-${domain}`, name);
    }),
  );
}

function dryRunView(model: Model) {
  const { drillDryRun: dryRun } = model;
  if (dryRun === undefined) return undefined;
  const { plan, domains, warnings } = dryRun.preview;
  return h('div', { class: 'dry-run', 'data-key': 'dry-run-result' })(
    h('h3', { id: 'dry-run-title', tabindex: '-1' })(`Dry run of ${plan.name} on ${dryRun.domains.join(', ')}`),
    h('p')(modeText(plan), ` The control cohort, ${percentText(plan.holdout)} of the keys, is never touched.`),
    bullets(warnings, 'notice warnings'),
    domains.map(({ domain, stages, cohorts }) => {
      const last = stages.at(-1)?.preview;
      return [
        h('h4')(domain),
        scrollTable(
          `Stages on ${domain}`,
          [
            'stage',
            last?.nodes.length === 0 ? 'pages in memory' : 'keys in the store',
            'size',
            'extra calls/s, at most',
            withTooltip('survivable f*, at least', MEANINGS.survivable),
            'searches of its keys',
            'tells something after',
          ],
          stages.map(({ title, preview }, at) => [
            title,
            countText(lostIn(preview, ({ keys }) => keys) ?? preview.memory.entries),
            bytesText(lostIn(preview, ({ bytes }) => bytes) ?? preview.memory.bytes),
            amountText(preview.engine.extraCallsPerSecond),
            percentText(preview.engine.survivable),
            perSecond(cohorts.stages[at]?.searchesPerSecond),
            durationText(cohorts.stages[at]?.enoughMs),
          ]),
        ),
        softView(
          `The keys of the control cohort get ${perSecond(cohorts.control.searchesPerSecond)} searches. These are means of this process: the keys that are drawn may be searched for less.`,
        ),
        last !== undefined && [h('h4')(`At the last stage of ${domain}`), previewFigures(last)],
      ];
    }),
    guardRulesView(plan),
    formView(
      model,
      'start-drill',
      'Start the drill…',
      [reasonField('Reason', { required: true, placeholder: 'rehearsal before the sale' })],
      'danger',
    ),
  );
}

function guardRulesView({ guards, recovery }: Plan) {
  return [
    scrollTable(
      'Guards of the plan',
      ['guard', 'at most', 'broken for', 'then'],
      guards.map(({ figure, max, forMs, then }) => [
        guardName(figure),
        guardText(figure, max),
        durationText(forMs),
        GUARD_ACTION_WORDS[then],
      ]),
    ),
    softView(
      `Recovered when within ${pointsText(recovery.withinPoints)} of its own past, in ${durationText(recovery.timeoutMs)} at most.`,
    ),
  ];
}

/** Over all nodes of the store; undefined without a store. */
function lostIn({ nodes }: FlushPreview, count: (node: FlushPreview['nodes'][number]) => number) {
  return nodes.length === 0 ? undefined : nodes.reduce((total, node) => total + count(node), 0);
}

function perSecond(searches: number | undefined) {
  return searches === undefined ? 'no' : `about ${perSecondText(searches)}`;
}
