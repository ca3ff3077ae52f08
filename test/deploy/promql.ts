import { parser } from '@prometheus-io/lezer-promql';

/** One use of a metric in an expression. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels that groupings, joins and quantiles need of the metrics inside. */
  readonly needed: readonly string[];
  /** Labels that `by` and `group_left` name, and those that `label_replace` makes. Empty without any grouping. */
  readonly grouped: readonly string[];
}

/** @throws when the expression is not PromQL. */
export function readExpression(expression: string): Expression {
  const selectors: Selector[] = [];
  const [needed, grouped, created] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }) => expression.slice(from, to);
  const { topNode } = parser.parse(expression);
  topNode.cursor().iterate(({ node }) => {
    if (node.type.isError) throw new Error(`no PromQL at ${JSON.stringify(textOf(node).slice(0, 20))}: ${expression}`);
    switch (node.name) {
      case 'VectorSelector': {
        const metric = node.getChild('Identifier');
        if (metric === null) throw new Error(`a selector without a metric name: ${textOf(node)}`);
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        selectors.push({
          metric: textOf(metric),
          matchers: matchers.map(({ firstChild, lastChild }) => {
            const [label, value] = [firstChild, lastChild].map((part) => (part === null ? '' : textOf(part)));
            const operator = firstChild?.nextSibling ?? null;
            return {
              label: label ?? '',
              operator: operator === null ? '' : textOf(operator),
              value: value?.slice(1, -1) ?? '',
            };
          }),
        });
        break;
      }
      case 'GroupingLabels':
        for (const label of node.getChildren('LabelName')) {
          needed.add(textOf(label));
          if (node.parent?.getChild('Without') === null) grouped.add(textOf(label));
        }
        break;
      case 'FunctionCall': {
        const name = /^\w+/.exec(textOf(node))?.[0];
        const texts = node.getChild('FunctionCallBody')?.getChildren('StringLiteral') ?? [];
        const [made, , ...sources] = texts.map((text) => textOf(text).slice(1, -1));
        if (name === 'histogram_quantile') needed.add('le');
        if (name !== 'label_replace' && name !== 'label_join') break;
        if (made !== undefined) created.add(made);
        for (const source of name === 'label_replace' ? sources.slice(0, 1) : sources) needed.add(source);
      }
    }
  });
  const ofMetrics = [...needed].filter((label) => !created.has(label));
  return { selectors, needed: ofMetrics, grouped: grouped.size === 0 ? [] : [...grouped, ...created] };
}

export function selectorsOf(expression: string): readonly Selector[] {
  return readExpression(expression).selectors;
}

/** Labels that the result of an expression may have, if every metric has the labels that `labelsOf` gives. */
export function resultLabelsOf(expression: string, labelsOf: (metric: string) => Iterable<string>): readonly string[] {
  const { selectors, grouped } = readExpression(expression);
  return grouped.length > 0 ? grouped : selectors.flatMap(({ metric }) => [...labelsOf(metric)]);
}
