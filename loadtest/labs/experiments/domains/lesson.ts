import { amountText, countText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import { changeText } from '../change-text.ts';
import { CLIENTS, type ThreeClients } from '../one-and-three.ts';
import type { ShapeName } from './shapes.ts';

/** INCR, or the GET of a page. */
export type Weight = 'light' | 'heavy';

export interface DomainRow extends ThreeClients {
  readonly weight: Weight;
  readonly shape: ShapeName;
  /** With a round trip added. */
  readonly isFar: boolean;
  readonly isAnywhere: boolean;
}

/** Both published runs gained twice that; less is within what one machine shows from one minute to the next. */
const LEAST_GAIN = 0.15;
/** Below it, nothing is said to be gained or lost at all. */
const NOTHING = 0.05;

type Place = Pick<DomainRow, 'weight' | 'shape' | 'isFar' | 'isAnywhere'>;

/** Share of the time per operation that is saved against one store in the same place; negative when it takes longer. */
export function gainOf(rows: readonly DomainRow[], place: Place): number | undefined {
  const find = (shape: ShapeName): DomainRow | undefined =>
    rows.find(
      (row) =>
        row.shape === shape &&
        row.weight === place.weight &&
        row.isFar === place.isFar &&
        row.isAnywhere === place.isAnywhere,
    );
  const [one, other] = [find('one store for all three'), find(place.shape)];
  if (one === undefined || other === undefined || one === other) return undefined;
  return 1 - other.usPerOp / one.usPerOp;
}

/** Does a store for each domain answer sooner, and less so over a network? From the rows that were measured. */
export function domainsLesson(
  rows: readonly DomainRow[],
  cores: { readonly storeCores: number; readonly allCores: number },
): Lesson {
  const gain = (weight: Weight, where: { readonly isFar?: true; readonly isAnywhere?: true } = {}) =>
    gainOf(rows, { weight, shape: 'one store each', isFar: false, isAnywhere: false, ...where });
  // Far rows are of the stores on cores of their own: only with those can they be compared.
  const [light, heavy, lightFar] = [gain('light'), gain('heavy'), gain('light', { isFar: true })];
  if (light === undefined || heavy === undefined || lightFar === undefined)
    throw new Error('the lesson of domains needs light and heavy rows, near and far');
  const [anyLight, anyHeavy] = [gain('light', { isAnywhere: true }), gain('heavy', { isAnywhere: true })];
  const isWhole = [light, anyLight ?? light].every((one) => one >= LEAST_GAIN);
  const isSome = [light, heavy, anyLight ?? light, anyHeavy ?? heavy].some((one) => one >= LEAST_GAIN);
  const doesShrink = lightFar < light / 2 && lightFar > -NOTHING;
  const holds = isWhole && doesShrink ? 'yes' : isSome ? 'partly' : 'no';
  const anywhere =
    anyLight === undefined || anyHeavy === undefined
      ? ''
      : ` where stores and clients keep to their own cores, by ${changeText(anyLight)} and ${changeText(anyHeavy)} where all run on any`;
  const found = `A store for each domain changes the time per operation by ${changeText(light)} for INCR and ${changeText(heavy)} for pages${anywhere} (published −33 % and −28 % for INCR)`;
  const network = networkText(light, lightFar, doesShrink);
  const words = { yes: 'Holds here', partly: 'Holds in part', no: 'Does not hold here' }[holds];
  return { holds, sentence: `${words}: ${found}; ${network}. ${reason(rows, cores, light < LEAST_GAIN)}` };
}

/** @param light share that INCR gained near, and over a network. */
function networkText(light: number, lightFar: number, doesShrink: boolean): string {
  if (light < NOTHING) return `over a network the change for INCR is ${changeText(lightFar)}`;
  if (lightFar <= -NOTHING)
    return `over a network INCR takes longer with a store each (${changeText(lightFar)}), a loss where a smaller gain was published`;
  if (lightFar <= 0) return `over a network nothing of it is left for INCR (${changeText(lightFar)})`;
  return `over a network ${changeText(lightFar)} is left for INCR, which ${doesShrink ? 'shrinks as published' : 'is not the shrinking that was published'}`;
}

/** What held three stores back, when the rows show it, and what one store can never do. */
function reason(
  rows: readonly DomainRow[],
  { storeCores, allCores }: { readonly storeCores: number; readonly allCores: number },
  isSmall: boolean,
): string {
  const row = rows.find(
    (one) => one.weight === 'light' && one.shape === 'one store each' && !one.isFar && !one.isAnywhere,
  );
  if (row === undefined) return '';
  const shared = storeCores < CLIENTS ? `the three stores have ${coresText(storeCores)} together here` : undefined;
  const why = isSmall ? whyText(row, allCores, shared) : '';
  const cheapest = Math.min(...rows.filter(isOneLight).map(({ storeUsPerOp }) => storeUsPerOp));
  const machine =
    shared === undefined
      ? ''
      : ` This machine cannot show three stores side by side: at the ${amountText(cheapest)} µs of processor that one store needs for an INCR it does ${countText(1e6 / cheapest)}/s at most, on its one core; three with a core each could do three times that.`;
  return `${why}${machine}`.trim();
}

function isOneLight({ shape, weight, isFar }: DomainRow): boolean {
  return shape === 'one store for all three' && weight === 'light' && !isFar;
}

function whyText(row: DomainRow, allCores: number, shared: string | undefined): string {
  if (row.limit === 'generator' || row.limit === 'both')
    return `${row.limit === 'both' ? `All cores were busy, the clients' too` : 'The clients, not the stores, were the limit'}${shared === undefined ? '' : `, and ${shared}`}.`;
  if (row.limit === 'store') return `${upper(shared ?? 'the stores were full')}, and it was full.`;
  return `Nothing was full (${amountText(row.storeCores + row.generatorCores)} of ${allCores} cores busy): each client waited for one round trip after the other.`;
}

function coresText(count: number): string {
  return count === 1 ? 'one core' : `${count} cores`;
}

function upper(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
