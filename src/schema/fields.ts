import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';
import {
  ADDRESS_PATTERN,
  type Address,
  DURATION_PATTERN,
  formatDuration,
  formatSize,
  HOST_PATTERN,
  HOST_PORT_PATTERN,
  type HostPort,
  ONE_LINE_PATTERN,
  SIZE_PATTERN,
} from './units.ts';

/**
 * Annotations of the field builders below. A builder makes the JSON Schema of the text in the file, with the static
 * type of the value that the code gets: a duration is written `50ms` and read as a number of milliseconds.
 */
export interface Annotations {
  /** The unit that is parsed; absent for a value taken as it is. */
  readonly 'x-unit'?: 'duration' | 'size' | 'host-port' | 'address';
  /** The value is never shown in a fault. */
  readonly 'x-secret'?: true;
  /** The environment variable that overrides the value. */
  readonly 'x-env'?: string;
  /** The default in words, for a default that depends on other settings. */
  readonly 'x-default'?: string;
  /** The allowed values in words, for a pattern that is hard to read. */
  readonly 'x-allowed'?: string;
  /** Other words for values of a choice. */
  readonly 'x-also'?: Readonly<Record<string, string>>;
  /** The unit of a number or the name of the items of a list, for the allowed values in words: `stages`. */
  readonly 'x-what'?: string;
  /** Keywords that hold for every value that this version writes. Readers check the wider schema without them. */
  readonly 'x-written'?: Readonly<Record<string, unknown>>;
  /** Bounds of a duration in milliseconds or of a size in bytes. */
  readonly 'x-min'?: number;
  readonly 'x-max'?: number;
  /** The field that selects the member of a union of mappings. */
  readonly 'x-discriminator'?: string;
  /** The discriminator may be left out when a member has the name of a kind: `fraction: 0.1`. */
  readonly 'x-implied'?: true;
}

declare const unit: unique symbol;
/** The static type of a duration field. `Decoded` turns it into a number under the name with `Ms`. */
type Milliseconds = number & { readonly [unit]: 'ms' };

/** The type of a value that `readTree` has read: read-only, with durations as numbers under `<name>Ms`. */
export type Decoded<S extends TSchema> = DecodedValue<Static<S>>;

type DecodedValue<T> = unknown extends T
  ? T
  : T extends Milliseconds
    ? number
    : T extends string | number | boolean | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? readonly DecodedValue<Item>[]
        : {
            readonly [Name in keyof T as NonNullable<T[Name]> extends Milliseconds
              ? `${Name & string}Ms`
              : Name]: DecodedValue<T[Name]>;
          };

type Scaled = { readonly default?: string; readonly min: number; readonly max: number; readonly words?: string };

export function duration(
  description: string,
  { min, max, words, pattern = DURATION_PATTERN, ...rest }: Scaled & { readonly pattern?: string },
): TUnsafe<Milliseconds> {
  return Type.Unsafe<Milliseconds>({
    type: 'string',
    pattern,
    'x-unit': 'duration',
    'x-min': min,
    'x-max': max,
    'x-allowed': `a duration such as 50ms, 5m or 1h, from ${formatDuration(min)} to ${formatDuration(max)}`,
    'x-default': words,
    description,
    ...rest,
  });
}

/** A number of bytes, or a text with a unit. */
export function size(description: string, { min, max, words, ...rest }: Scaled): TUnsafe<number> {
  return Type.Unsafe<number>({
    anyOf: [{ type: 'integer' }, { type: 'string', pattern: SIZE_PATTERN }],
    'x-unit': 'size',
    'x-min': min,
    'x-max': max,
    'x-allowed': `a number of bytes or a size such as 64KiB or 256MiB, from ${formatSize(min)} to ${formatSize(max)}`,
    'x-default': words,
    description,
    ...rest,
  });
}

export function hostPort(description: string): TUnsafe<HostPort> {
  return Type.Unsafe<HostPort>({
    type: 'string',
    pattern: HOST_PORT_PATTERN,
    'x-unit': 'host-port',
    'x-allowed': 'host:port, such as redis-a:6379 or [::1]:6379',
    description,
  });
}

/** A port of a host, or a Unix socket. */
export function address(description: string): TUnsafe<Address> {
  return Type.Unsafe<Address>({
    type: 'string',
    pattern: ADDRESS_PATTERN,
    'x-unit': 'address',
    'x-allowed': 'host:port, such as redis-a:6379 or [::1]:6379, or unix: and the absolute path of a socket',
    description,
  });
}

export function host(description: string, options: { default?: string } & Annotations = {}): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: 'string',
    pattern: HOST_PATTERN,
    'x-allowed': 'a host name or an IP address',
    description,
    ...options,
  });
}

type Bounds = { readonly default?: number; readonly minimum: number; readonly maximum: number };

export function integer(description: string, options: Bounds & Annotations): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'integer', description, ...options });
}

export function fraction(description: string, options: Bounds & Annotations): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'number', description, ...options });
}

export function flag(description: string, options: { readonly default?: boolean } = {}): TUnsafe<boolean> {
  return Type.Unsafe<boolean>({ type: 'boolean', description, ...options });
}

type Text = {
  readonly default?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
};

/** One line of text. A server compares a password with its line break, and a header or a log line must not contain one. */
export function text(description: string, options: Text & Annotations = {}): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    pattern: ONE_LINE_PATTERN,
    description,
    ...options,
  });
}

export function choice<const T extends readonly string[]>(
  values: T,
  description: string,
  options: { readonly default?: T[number] } & Annotations = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: values, description, ...options });
}

/** The field that selects the member of a union. */
export function kind<const T extends readonly string[]>(...values: T): TUnsafe<T[number]> {
  return choice(values, 'The kind; it decides which other settings apply.');
}

/** A mapping in which every undeclared name is a fault. */
export const closed = (description: string) => ({ additionalProperties: false, description });

/** A mapping that may be left out, because every setting in it has a default. */
export const section = (description: string) => ({ ...closed(description), default: {} });

/**
 * Maximum of counts, rates, sizes and durations that were measured. JSON itself has no bound: 1e999 is read as infinity.
 * The maximum is higher than any figure computed from readings that the meter accepts, so a planted reading cannot make
 * the report of a drill unreadable.
 */
const MAX_AMOUNT = 1e30;

/** Wall time in an answer. */
export const wallTime = () => Type.Number({ description: 'Milliseconds since 1970-01-01T00:00Z.' });

/** A measured rate, size or duration. */
export const amount = (description?: string) => Type.Number({ minimum: 0, maximum: MAX_AMOUNT, description });

/** A measured count. Fractions are accepted, because the meter accepts them in the readings of other processes. */
export const count = (description?: string) =>
  Type.Number({ minimum: 0, maximum: MAX_AMOUNT, 'x-written': { type: 'integer' }, description });

/** A measured figure that may be negative. */
export const difference = () => Type.Number({ minimum: -MAX_AMOUNT, maximum: MAX_AMOUNT });

/** A share of something that is not none of it. */
export const partOf = (description: string, options: { readonly default?: number } & Annotations = {}) =>
  Type.Number({ exclusiveMinimum: 0, maximum: 1, description, ...options });

/** A text of a body, of 1 to `maxLength` characters. */
export const shortText = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });

export const domainName = () => shortText(64, 'A configured domain.');

/** A measured share, 0–1. */
export const share = (description?: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** One of several words, in a body or a journal. */
export const oneOf = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Enum([...values] as T[], { description });
