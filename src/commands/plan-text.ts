import { INPUT_NAMES, INPUTS, type InputName, type InputUnit } from '../operations/capacity/inputs.ts';
import type { CapacityLimit, CapacitySheet, SheetFigure } from '../operations/capacity/sheet.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
} from '../report/format.mjs';
import { columns, indented } from './terminal.ts';

type Unit = SheetFigure['unit'] | InputUnit;

const TEXTS: Readonly<Record<Unit, (value: number | undefined) => string>> = {
  'per-second': perSecondText,
  'bytes-per-second': (value) => `${bytesText(value)}/s`,
  share: percentText,
  bytes: bytesText,
  ms: durationText,
  times: timesText,
  number: amountText,
  cores: (value) => `${amountText(value)} cores`,
  // Expected values such as 1.3 permits are no whole numbers.
  count: (value) => (value !== undefined && value < 10 ? amountText(value) : countText(value)),
};

/** The verdict in one sentence, with the resource that is full first. */
export function planVerdictText({ verdict, first, missing, limits, inputs }: CapacitySheet, domain: string): string {
  const rate = perSecondText(inputs.rate?.value);
  switch (verdict) {
    case 'holds':
      return `${domain} holds at ${rate}; first to break: ${firstText(first)}`;
    case 'breaks':
      return `${domain} breaks at ${rate}: ${namesOf(limits, isFull)}`;
    case 'tight':
      return `${domain} has no reserve at ${rate}: ${namesOf(limits, isTight)}; first to break: ${firstText(first)}`;
    case 'undecided':
      return `${domain}: not decided without ${missing.map(({ option }) => option).join(' and ')}`;
  }
}

const isFull = ({ used, capacity }: CapacityLimit): boolean => used > capacity;
const isTight = ({ used, capacity, planned }: CapacityLimit): boolean => used > capacity * planned;

/** The one that is full at the lowest rate first. */
function namesOf(limits: readonly CapacityLimit[], chosen: (limit: CapacityLimit) => boolean): string {
  return limits
    .filter(chosen)
    .toSorted((a, b) => (a.breaksAt ?? 0) - (b.breaksAt ?? 0))
    .map(({ name, breaksAt }) => (breaksAt === undefined ? name : `${name} (full at ${perSecondText(breaksAt)})`))
    .join(', ');
}

function firstText(first: CapacityLimit | undefined): string {
  return first === undefined ? 'nothing that follows the rate' : `${first.name}, at ${perSecondText(first.breaksAt)}`;
}

/** A sheet for a person. @param explains shows the source of each formula */
export function sheetText(sheet: CapacitySheet, domain: string, explains: boolean): string {
  const { inputs, figures, limits, missing, remarks, advice } = sheet;
  return [
    planVerdictText(sheet, domain),
    ...section('inputs', inputRows(inputs, explains)),
    ...section('sheet', figureRows(figures, explains)),
    ...section('limits, while one process is away', limitRows(limits), [
      '',
      'used',
      'of',
      'share',
      'planned',
      'full at',
    ]),
    ...lines(
      'missing',
      missing.map(({ option, why }) => `${option}: ${why}`),
    ),
    ...lines('remarks', remarks),
    ...lines('to change', advice),
  ].join('\n');
}

function section(title: string, rows: readonly (readonly string[])[], head?: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, indented(columns(rows, head))];
}

function lines(title: string, texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : ['', `${title}:`, indented(texts.join('\n'))];
}

function inputRows(inputs: CapacitySheet['inputs'], explains: boolean): readonly (readonly string[])[] {
  return INPUT_NAMES.flatMap((name: InputName) => {
    const input = inputs[name];
    if (input === undefined) return [];
    const { value, from, source } = input;
    const { option, unit, about } = INPUTS[name];
    const origin = from === 'given' ? from : `${from}: ${source}`;
    return [[option, TEXTS[unit](value), origin, ...(explains ? [about] : [])]];
  });
}

function figureRows(figures: CapacitySheet['figures'], explains: boolean): readonly (readonly string[])[] {
  return figures.flatMap(({ name, value, unit, formula, source }) => {
    const row = [name, TEXTS[unit](value), formula];
    return explains ? [row, ['', '', `  source: ${source}`]] : [row];
  });
}

function limitRows(limits: CapacitySheet['limits']): readonly (readonly string[])[] {
  return limits.map((limit) => {
    const { name, unit, used, capacity, planned, breaksAt } = limit;
    return [
      `${name}${isFull(limit) ? ' (breaks)' : isTight(limit) ? ' (no reserve)' : ''}`,
      TEXTS[unit](used),
      TEXTS[unit](capacity),
      percentText(used / capacity),
      percentText(planned),
      breaksAt === undefined ? 'not by the rate' : perSecondText(breaksAt),
    ];
  });
}
