import { faultyRow, isNoValue, orFault, type RawRow, RowFault, shown, type TakeNote } from './row.ts';
import { amountOf } from './values.ts';

type Row = Readonly<Record<string, unknown>>;

/** The form of a shop's export. */
export interface Preset {
  /** Columns, or the root element of XML, that tell the form; all of one list. */
  readonly marks: readonly (readonly string[])[];
  /** Columns by the field or attribute that they are. */
  readonly columns: Readonly<Record<string, string>>;
  /** A column that is filled from others when it is empty. */
  readonly fill?: readonly [column: string, from: readonly string[]];
  /** Columns in which `\n` stands for a line break. */
  readonly breaks?: RegExp;
  /** Columns that hold several values, divided by commas, and columns of which each row of a product has one. */
  readonly lists?: RegExp;
  /** Columns of which a product has the least value of its rows. */
  readonly least?: RegExp;
  /** A column that names another: `Option1 Name` names `Option1 Value`. */
  readonly named?: readonly [name: RegExp, value: string];
  /** Columns with these values make a product that is not for the public. */
  readonly hidden?: Readonly<Record<string, RegExp>>;
  /** Columns for the shop's own use. */
  readonly drop?: RegExp;
  /** For products whose variants have rows of their own. */
  readonly group?: {
    /** Maximum number of names of products to which rows may be added. The oldest product ends first. */
    readonly open: number;
    /** The names by which the rows that follow may mean the product of this row. */
    readonly names: (row: Row) => readonly string[];
    /** The name of the product to which the row belongs. */
    readonly product: (row: Row) => string;
    /** Whether the row cannot be the first one of a product. */
    readonly follows: (row: Row) => boolean;
  };
}

const textIn = (row: Row, column: string): string => String(row[column] ?? '').trim();

export const PRESETS = {
  google: {
    marks: [['<rss>'], ['<feed>'], ['id', 'title', 'link', 'image_link', 'availability']],
    columns: { id: 'id', title: 'title', description: 'description' },
    fill: ['description', ['summary', 'content']],
    drop: /^(summary|content)$/,
  },
  yml: {
    marks: [['<yml_catalog>']],
    columns: { id: 'id', title: 'name', brand: 'vendor', currency: 'currencyId', category: 'categoryId' },
    fill: ['name', ['typePrefix', 'vendor', 'model']],
  },
  shopify: {
    marks: [['Handle', 'Title', 'Variant Price']],
    columns: {
      id: 'Handle',
      title: 'Title',
      description: 'Body (HTML)',
      brand: 'Vendor',
      price: 'Variant Price',
      sku: 'Variant SKU',
      image: 'Image Src',
      category: 'Product Category',
    },
    lists: /^(Tags|Variant SKU|Option\d Value)$/,
    least: /^Variant (Compare At )?Price$/,
    named: [/^Option(\d) Name$/, 'Option$1 Value'],
    hidden: { Published: /^false$/i, Status: /^(draft|archived)$/i },
    drop: /^(Option\d |Variant (?!SKU|Price|Compare)|Image (?!Src)|Gift Card|SEO |Google Shopping|Published|Status|Cost |Included )/,
    group: {
      open: 1,
      names: (row) => [textIn(row, 'Handle')],
      product: (row) => textIn(row, 'Handle'),
      follows: (row) => textIn(row, 'Title') === '',
    },
  },
  woocommerce: {
    marks: [['ID', 'Type', 'SKU', 'Name', 'Regular price']],
    columns: {
      id: 'ID',
      title: 'Name',
      description: 'Description',
      price: 'Regular price',
      sale_price: 'Sale price',
      brand: 'Brands',
      category: 'Categories',
      image: 'Images',
    },
    fill: ['Description', ['Short description']],
    breaks: /^(Short )?description$/i,
    lists: /^(SKU|Categories|Tags|Brands|Images|Attribute \d+ value\(s\))$/,
    least: /^(Regular|Sale) price$/,
    named: [/^Attribute (\d+) name$/, 'Attribute $1 value(s)'],
    hidden: { Published: /^(0|-1)$/ },
    drop: /^(Attribute \d|Meta:|Published|Type|Short description|Is featured|Visibility|Date sale|Tax |Backorders|Low stock|Sold ind|Allow cust|Purchase note|Download|Parent|Grouped|Upsells|Cross-sells|External URL|Button text|Position)/,
    group: {
      // Variations may stand far behind their product, behind all products in the samples of WooCommerce.
      open: 200_000,
      // The type is a list, such as `variation, virtual`.
      names: (row) => (textIn(row, 'Type').startsWith('variable') ? [`id:${row['ID']}`, textIn(row, 'SKU')] : []),
      product: (row) => (textIn(row, 'Type').startsWith('variation') ? textIn(row, 'Parent') : ''),
      follows: (row) => textIn(row, 'Type').startsWith('variation'),
    },
  },
  spreadsheet: { marks: [], columns: {} },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as [PresetName, ...PresetName[]];

/** @param found the header, or the root element as `<rss>`. */
export function presetOf(found: readonly string[]): PresetName | undefined {
  return PRESET_NAMES.find((name) => PRESETS[name].marks.some((marks) => marks.every((mark) => found.includes(mark))));
}

interface Product {
  readonly line: number;
  readonly row: Record<string, unknown>;
  readonly names: readonly string[];
}

/** The rows of a file as products: one row each, with the names and values that searches need. */
export async function* products(
  rows: AsyncIterable<RawRow>,
  presetNow: () => Preset,
  onNote: TakeNote,
): AsyncGenerator<RawRow, void, undefined> {
  const open = new Map<string, Product>();
  const close = function* ({ names, row, line }: Product): Generator<RawRow, void, undefined> {
    for (const name of names) open.delete(name);
    const finished = finish(row, presetNow(), onNote);
    if (finished !== undefined) yield { line, read: () => finished };
  };
  for await (const raw of rows) {
    const preset = presetNow();
    const { group } = preset;
    const row = preset === PRESETS.spreadsheet ? undefined : orFault(raw.read);
    const product = row === undefined || row instanceof RowFault ? undefined : open.get(group?.product(row) ?? '');
    if (row === undefined || row instanceof RowFault) yield raw;
    else if (product !== undefined) {
      if (isHidden(row, preset)) onNote(HIDDEN);
      else add(product.row, row, preset);
    } else if (group?.follows(row) === true) {
      const before = `no row of the product ${shown(group.product(row))} with a title stands before it`;
      yield faultyRow(raw.line, new RowFault(`${before}; allowed: its rows behind that one`, preset.columns['title']));
    } else {
      const names = (group?.names(row) ?? []).filter((name) => name !== '');
      const begun: Product = { line: raw.line, row: {}, names };
      add(begun.row, row, preset);
      for (const name of names) open.set(name, begun);
      const [oldest = begun] = open.values();
      if (names.length === 0) yield* close(begun);
      else if (open.size > (group?.open ?? 0)) yield* close(oldest);
    }
  }
  for (const product of new Set(open.values())) yield* close(product);
}

/** Adds the values of one row to those of its product. */
function add(product: Record<string, unknown>, row: Row, { lists, least }: Preset): void {
  for (const [column, value] of Object.entries(row)) {
    const held = product[column];
    if (isNoValue(value)) product[column] ??= value;
    else if (lists?.test(column) === true && typeof value === 'string') {
      const values = value.split(/(?<!\\),/).map((part) => part.replaceAll('\\,', ',').trim());
      product[column] = [...new Set([...(Array.isArray(held) ? held : []), ...values])];
    } else if (isNoValue(held) || (least?.test(column) === true && isLess(value, held))) product[column] = value;
  }
}

function isLess(value: unknown, held: unknown): boolean {
  const [one, other] = [amountOf(String(value)), amountOf(String(held))];
  // A price that is none is kept, so that its row is refused.
  return one === undefined || (other !== undefined && one.value < other.value);
}

const HIDDEN = 'products and variants that are not published were left out';

function isHidden(row: Row, { hidden = {} }: Preset): boolean {
  return Object.entries(hidden).some(([column, value]) => value.test(textIn(row, column)));
}

/** The row without the columns of the shop, or undefined for a product that is not for the public. */
function finish(row: Row, preset: Preset, onNote: TakeNote): Row | undefined {
  const { fill, breaks, named, drop } = preset;
  if (isHidden(row, preset)) {
    onNote(HIDDEN);
    return undefined;
  }
  const finished: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    const isBroken = typeof value === 'string' && breaks?.test(column) === true;
    if (drop?.test(column) !== true) finished[column] = isBroken ? value.replaceAll('\\n', '\n') : value;
  }
  if (fill !== undefined && isNoValue(row[fill[0]]))
    finished[fill[0]] = fill[1]
      .map((from) => textIn(row, from))
      .join(' ')
      .trim();
  for (const column of Object.keys(row)) {
    if (named?.[0].test(column) !== true) continue;
    const [name, value] = [textIn(row, column), row[column.replace(...named)]];
    // Shopify names the one variant of a product without options so.
    if (name !== '' && String(value) !== 'Default Title') finished[name in finished ? `option ${name}` : name] = value;
  }
  return finished;
}
