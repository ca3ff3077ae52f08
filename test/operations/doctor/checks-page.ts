/**
 * The table of checks in the doctor's page, made from the checks. `node test/operations/doctor/checks-page.ts` writes it;
 * page.test.ts compares it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECK_AREAS, type Check, isCheap } from '../../../src/operations/doctor/check.ts';
import { CHECKS } from '../../../src/operations/doctor/checks/checks.ts';

export const PAGE = join(import.meta.dirname, '../../../src/operations/doctor/README.md');
const [BEGIN, END] = ['<!-- checks -->', '<!-- /checks -->'];

export function withChecks(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${tables()}\n${END}${after}`;
}

function tables(): string {
  const cheap = CHECKS.filter(isCheap).length;
  const head = `${CHECKS.length} checks; the ${cheap} marked • also run inside the service.`;
  return [
    head,
    ...CHECK_AREAS.map((area) =>
      tableOf(
        area,
        CHECKS.filter((check) => check.area === area),
      ),
    ),
  ].join('\n\n');
}

function tableOf(area: string, checks: readonly Check[]): string {
  const lines = checks.map((check) => {
    const { id, severity, title, minimum, raises, clears, source } = check;
    const rule = `fires: ${raises}; clears: ${clears}${minimum === 'none' ? '' : `; at least: ${minimum}`}`;
    const cells = [`\`${id}\`${isCheap(check) ? ' •' : ''}: ${title}`, severity, rule, source];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [`### ${area}`, '', '| check | severity | rule | source |', '|---|---|---|---|', ...lines].join('\n');
}

if (import.meta.main) writeFileSync(PAGE, withChecks(readFileSync(PAGE, 'utf8')));
