import { parser } from '@prometheus-io/lezer-promql';

/** One use of a metric in an expression. */
export interface Selector {
  readonly metric: string;
  /** Every label that the expression needs of it: in matchers, in by and on, and `le` for a quantile. */
  readonly labels: readonly string[];
  readonly matchers: readonly Matcher[];
}

interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

type Labels = readonly string[];

/** A part of an expression, with its own text. */
interface Part {
  readonly node: ReturnType<typeof parser.parse>['topNode'];
  readonly text: string;
  readonly of: string;
}

/** These keep the labels of the samples that they choose. */
const CHOOSING = new Set(['Topk', 'Bottomk', 'LimitK', 'LimitRatio']);
/** The result of these has no labels of its argument. */
const WITHOUT_LABELS = new Set(['Absent', 'AbsentOverTime', 'Scalar', 'Vector']);

/**
 * The selectors of a PromQL expression, in its order. A label that a grouping or a matching needs is passed down to the
 * selectors that must have it, so that each can be compared with the labels of the metric.
 * @throws when the expression is not PromQL, or needs a label that an inner aggregation has removed.
 */
export function selectorsOf(expression: string): readonly Selector[] {
  return selectors(parse(expression), []);
}

/** The labels of the result of an expression, if every metric has the labels that `labelsOf` gives. */
export function resultLabelsOf(expression: string, labelsOf: (metric: string) => Iterable<string>): Labels {
  const visit = (part: Part): Labels => {
    const inner = operands(part).map(visit);
    const [left = [], right = []] = inner;
    switch (part.node.name) {
      case 'VectorSelector':
        return unique([...labelsOf(metricOf(part))]);
      case 'AggregateExpr': {
        const { listed, isBy, isPlain, created } = aggregation(part);
        const own = inner.at(-1) ?? [];
        if (isPlain) return own;
        return unique([...(isBy ? listed : own.filter((label) => !listed.includes(label))), ...created]);
      }
      case 'FunctionCall': {
        const { kind, created } = call(part);
        if (WITHOUT_LABELS.has(kind)) return [];
        const own = kind === 'HistogramQuantile' ? right.filter((label) => label !== 'le') : [...left, ...right];
        return unique([...own, ...created]);
      }
      case 'BinaryExpr': {
        const { form, on, ignored, copied } = matching(part);
        if (form === 'left') return left;
        if (form === 'many-left') return unique([...left, ...copied]);
        if (form === 'many-right') return unique([...right, ...copied]);
        if (form === 'one' && on !== undefined) return on;
        return unique([...left, ...right]).filter((label) => !ignored.includes(label));
      }
      default:
        return left;
    }
  };
  return visit(parse(expression));
}

/** @param needed labels that the surrounding parts use. */
function selectors(part: Part, needed: Labels): readonly Selector[] {
  const all = (labels: Labels): readonly Selector[] => operands(part).flatMap((each) => selectors(each, labels));
  switch (part.node.name) {
    case 'VectorSelector': {
      const matchers = childrenOf(part, 'LabelMatchers').flatMap((list) =>
        childrenOf(list, 'UnquotedLabelMatcher').map((matcher) => {
          const [label = '', operator = '', value = ''] = childrenOf(matcher).map(({ text }) => text);
          return { label, operator, value: value.slice(1, -1) };
        }),
      );
      const labels = unique([...matchers.map(({ label }) => label), ...needed]);
      return [{ metric: metricOf(part), labels, matchers }];
    }
    case 'AggregateExpr': {
      const { listed, isBy, isPlain, created } = aggregation(part);
      const others = needed.filter((label) => !created.includes(label));
      const lost = others.find((label) => !isPlain && isBy !== listed.includes(label));
      if (lost !== undefined) throw new Error(`the label ${lost} is aggregated away: ${part.text}`);
      return all(unique([...others, ...listed]));
    }
    case 'FunctionCall': {
      const { kind, created, read } = call(part);
      const others = needed.filter((label) => !created.includes(label));
      return all(WITHOUT_LABELS.has(kind) ? [] : unique([...others, ...read]));
    }
    case 'BinaryExpr': {
      const { form, on = [], ignored, copied } = matching(part);
      const [left, right] = operands(part);
      const both = (first: Labels, second: Labels): readonly Selector[] => [
        ...(left === undefined ? [] : selectors(left, unique(first))),
        ...(right === undefined ? [] : selectors(right, unique(second))),
      ];
      const many = [...needed.filter((label) => !copied.includes(label)), ...on, ...ignored];
      if (form === 'left') return both([...needed, ...on], on);
      if (form === 'many-left') return both(many, [...on, ...copied]);
      if (form === 'many-right') return both([...on, ...copied], many);
      return both([...needed, ...on], [...needed, ...on]);
    }
    default:
      return all(needed);
  }
}

function parse(expression: string): Part {
  const { topNode } = parser.parse(expression);
  topNode.cursor().iterate(({ node }) => {
    if (!node.type.isError) return;
    throw new Error(`no PromQL at ${JSON.stringify(expression.slice(node.from, node.from + 20))}: ${expression}`);
  });
  return { node: topNode, text: expression, of: expression };
}

function metricOf(part: Part): string {
  const [name] = childrenOf(part, 'Identifier');
  if (name === undefined) throw new Error(`a selector without a metric name: ${part.text}`);
  return name.text;
}

function aggregation(part: Part) {
  const [kind = ''] = childrenOf(part, 'AggregateOp').map(({ node }) => node.firstChild?.name);
  const [modifier] = childrenOf(part, 'AggregateModifier');
  return {
    listed: modifier === undefined ? [] : groupings(modifier).flat(),
    isBy: modifier === undefined || childrenOf(modifier, 'By').length > 0,
    /** The result has the labels of the argument. */
    isPlain: CHOOSING.has(kind),
    created: kind === 'CountValues' ? literals(part) : [],
  };
}

function call(part: Part): { readonly kind: string; readonly created: Labels; readonly read: Labels } {
  const [kind = ''] = childrenOf(part, 'FunctionIdentifier').map(({ node }) => node.firstChild?.name);
  const [created = '', , ...sources] = literals(part);
  if (kind === 'LabelReplace') return { kind, created: [created], read: sources.slice(0, 1) };
  if (kind === 'LabelJoin') return { kind, created: [created], read: sources };
  return { kind, created: [], read: kind === 'HistogramQuantile' ? ['le'] : [] };
}

function matching(part: Part) {
  const [clause] = childrenOf(part, 'MatchingModifierClause');
  const has = (name: string): boolean => clause !== undefined && childrenOf(clause, name).length > 0;
  const isSet = ['And', 'Unless'].some((name) => childrenOf(part, name).length > 0);
  const isUnion = childrenOf(part, 'Or').length > 0;
  const [matched = [], copied = []] = clause === undefined ? [] : groupings(clause);
  return {
    /** The side whose labels the result has: `one`: the matched ones; `both`: those of either. */
    form: isSet ? 'left' : isUnion ? 'both' : has('GroupLeft') ? 'many-left' : has('GroupRight') ? 'many-right' : 'one',
    on: has('On') ? matched : undefined,
    ignored: has('Ignoring') && !isSet && !isUnion ? matched : [],
    copied,
  } as const;
}

/** The expressions inside a part; the arguments of a call are one level deeper. */
function operands(part: Part): readonly Part[] {
  return childrenOf(part).flatMap((child) => {
    if (child.node.name === 'FunctionCallBody') return operands(child);
    return child.node.type.is('Expr') ? [child] : [];
  });
}

function groupings(part: Part): readonly Labels[] {
  return childrenOf(part, 'GroupingLabels').map((list) => childrenOf(list, 'LabelName').map(({ text }) => text));
}

function literals(part: Part): Labels {
  return childrenOf(part, 'FunctionCallBody').flatMap((body) =>
    childrenOf(body, 'StringLiteral').map(({ text }) => text.slice(1, -1)),
  );
}

/** All children, or those of one name. */
function childrenOf({ node, of }: Part, name?: string): readonly Part[] {
  const found: Part[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (name !== undefined && child.name !== name) continue;
    found.push({ node: child, text: of.slice(child.from, child.to), of });
  }
  return found;
}

const unique = (labels: Labels): Labels => [...new Set(labels)];
