import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { provocationsOf, shortened } from '../../../loadtest/rehearsal/observe-alerts.ts';
import { panelQueries } from '../../../loadtest/rehearsal/observe-panels.ts';
import { readPlan } from '../../../loadtest/stack/plan.ts';
import { deployedRules } from '../../../loadtest/stack/prometheus.ts';
import { assertNone } from '../../pluck.ts';

const FACTOR = 60;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

interface Rule {
  readonly alert?: string;
  readonly for?: string;
}

function rulesIn(text: string): readonly Rule[] {
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const files = deployedRules().map((file) => readFileSync(file, 'utf8'));

describe('waits of alerts', () => {
  test('each wait of the deployed rules is divided, and nothing else changes', () => {
    let waits = 0;
    for (const text of files) {
      const [before, after] = [rulesIn(text), rulesIn(shortened(text, FACTOR))];
      const restored = after.map((rule, at) => ({
        ...rule,
        ...(rule.for === undefined ? {} : { for: before[at]?.for }),
      }));
      assert.deepEqual(restored, before);
      for (const [at, { for: wait }] of before.entries()) {
        if (wait === undefined) continue;
        const [, count, unit = ''] = /^(\d+)([smh])$/.exec(wait) ?? assert.fail(wait);
        assert.equal(after[at]?.for, `${(Number(count) * (SECONDS[unit] ?? 0) * 1000) / FACTOR}ms`);
        waits += 1;
      }
    }
    assert.ok(waits > 0, 'no rule waits');
  });

  test('the rehearsal provokes three alerts that the deployed rules have', () => {
    const known = files.flatMap(rulesIn).map(({ alert }) => alert);
    const replica = {} as Parameters<typeof provocationsOf>[0]['replica'];
    const provoked = provocationsOf({ plan: readPlan({}, 2), domain: 'goods', replica }).map(({ alert }) => alert);
    assert.equal(provoked.length, 3);
    assertNone(provoked, (alert) => !known.includes(alert));
  });
});

test('no query of a dashboard contains a variable of Grafana', () => {
  const queries = panelQueries();
  assert.ok(queries.length > 0);
  assertNone(queries, ({ expression }) => expression.includes('$'));
});
