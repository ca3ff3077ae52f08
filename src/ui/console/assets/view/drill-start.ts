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
import { withTooltip } from '../../../../report/components.ts';
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
import type { Model } from '../model.ts';
import { currentDomain } from '../model.ts';
import { feedbackView, feedView, field, panel, scrollTable, submitButton } from './components.ts';
import { lossView, survivalView } from './flush.ts';

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
      h('form', { class: 'form', 'data-form': 'dry-run', 'data-key': 'dry-run' })(
        h('fieldset', { class: 'choices' })(
          h('legend')('Plan'),
          plans.map((plan, at) => planChoice(plan, at === 0)),
        ),
        domainsChoice(model, domain),
        h('div', { class: 'row' })(
          submitButton(model, 'dry-run', '', model.busy.includes('dry-run') ? 'Counting…' : 'Dry run'),
        ),
      ),
    ),
    feedbackView(model, 'dry-run'),
    dryRunView(model),
  );
}

function planChoice(plan: Plan, isFirst: boolean) {
  return h('label', { class: 'choice', 'data-key': `plan-${plan.name}` })(
    h('input', { type: 'radio', name: 'plan', value: plan.name, required: true, checked: isFirst })(),
    h('span')(
      h('b')(plan.name),
      ' ',
      plan.title,
      h('small')(
        ` ${isBlackout(plan) ? 'nothing flushed' : plan.mode}, ${stageTitles(plan).join(' → ')}, at least ${durationText(planDurationMs(plan))}`,
      ),
    ),
  );
}

function domainsChoice({ live }: Model, domain: string) {
  const names = live?.domains.map((look) => look.domain) ?? [];
  return h('fieldset', { class: 'choices inline' })(
    h('legend')('Domains'),
    names.map((name) =>
      h('label', { class: 'choice', 'data-key': `domain-${name}-${domain}` })(
        h('input', { type: 'checkbox', name: 'domain', value: name, checked: name === domain })(),
        h('span')(name),
      ),
    ),
  );
}

function dryRunView(model: Model) {
  const { drillDryRun: dryRun } = model;
  if (dryRun === undefined) return undefined;
  const { plan, domains, warnings } = dryRun.preview;
  return h('div', { class: 'dry-run', 'data-key': 'dry-run-result' })(
    h('h3', { id: 'dry-run-title', tabindex: '-1' })(`Dry run of ${plan.name} on ${dryRun.domains.join(', ')}`),
    h('p')(modeText(plan), ` The control cohort, ${percentText(plan.holdout)} of the keys, is never touched.`),
    warnings.length > 0 && h('ul', { class: 'notice warnings' })(warnings.map((warning) => h('li')(warning))),
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
            countText(preview.nodes.length === 0 ? preview.memory.entries : sum(preview.nodes.map(({ keys }) => keys))),
            bytesText(preview.nodes.length === 0 ? preview.memory.bytes : sum(preview.nodes.map((node) => node.bytes))),
            amountText(preview.engine.extraCallsPerSecond),
            percentText(preview.engine.survivable),
            perSecond(cohorts.stages[at]?.searchesPerSecond),
            durationText(cohorts.stages[at]?.enoughMs),
          ]),
        ),
        h('p', { class: 'soft' })(
          `The keys of the control cohort get ${perSecond(cohorts.control.searchesPerSecond)} searches. These are means of this process: the keys that are drawn may be searched for less.`,
        ),
        last !== undefined && [
          h('h4')(`At the last stage of ${domain}`),
          h('div', { class: 'two-columns' })(h('div')(lossView(last)), h('div')(survivalView(last))),
        ],
      ];
    }),
    guardRulesView(plan),
    h('form', { class: 'form', 'data-form': 'start-drill', 'data-key': 'start-drill' })(
      field('Reason', {
        name: 'reason',
        required: true,
        maxlength: '500',
        autocomplete: 'off',
        placeholder: 'rehearsal before the sale',
      }),
      h('div', { class: 'row' })(submitButton(model, 'start-drill', 'danger', 'Start the drill…')),
    ),
    feedbackView(model, 'start-drill'),
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
    h('p', { class: 'soft' })(
      `Recovered when within ${pointsText(recovery.withinPoints)} of its own past, in ${durationText(recovery.timeoutMs)} at most.`,
    ),
  ];
}

function perSecond(searches: number | undefined) {
  return searches === undefined ? 'no' : `about ${perSecondText(searches)}`;
}

function sum(values: readonly number[]) {
  return values.reduce((total, value) => total + value, 0);
}
