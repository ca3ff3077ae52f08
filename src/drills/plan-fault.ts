/** One thing wrong with a plan. */
export interface PlanFault {
  readonly path: readonly (string | number)[];
  /** As given, shortened. */
  readonly value: string;
  /** What would have been accepted. */
  readonly allowed: string;
  /** Line in the file, from 1. */
  readonly line?: number;
}

/** `stages[2].hold (line 7): "10 sec"; allowed: …` */
export function describeFault({ path, value, allowed, line }: PlanFault): string {
  const where = path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
  const at = line === undefined ? '' : ` (line ${line})`;
  return `${where === '' ? 'the plan' : where}${at}: ${value}; allowed: ${allowed}`;
}

/** RFC 6901, below `base`. */
export function pointerOf(path: PlanFault['path'], base: string): string {
  return [base, ...path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

export function showValue(value: unknown): string {
  if (value === undefined || value === null) return '(missing)';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
