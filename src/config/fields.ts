import { isIPv4, isIPv6 } from 'node:net';
import Type, { type TOptional, type TUnsafe } from 'typebox';

/** Milliseconds and bytes, for bounds and defaults. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** JSON Schema patterns of the texts parsed below, so that an editor checks what the service accepts. */
const DURATION_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h|d)$';
const SIZE_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,3})?(B|KiB|MiB|GiB)$';
const HOST_PATTERN = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$';
const HOST_PORT_PATTERN = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\]):[0-9]{1,5}$';

type Scale = readonly (readonly [suffix: string, factor: number])[];

/** Largest unit first, so that a value is formatted in the largest unit that holds it exactly. */
const DURATIONS: Scale = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
  ['ms', 1],
];
const SIZES: Scale = [
  ['GiB', GIB],
  ['MiB', MIB],
  ['KiB', KIB],
  ['B', 1],
];

const durationPattern = new RegExp(DURATION_PATTERN);
const sizePattern = new RegExp(SIZE_PATTERN);
const hostPortPattern = new RegExp(HOST_PORT_PATTERN);

/**
 * Milliseconds of `50ms`, `1.5s`, `5m`, `1h`, `2d`; undefined for anything else, fractions of a millisecond included.
 */
export function parseDuration(text: string): number | undefined {
  return durationPattern.test(text) ? parseScaled(text, DURATIONS) : undefined;
}

/** Bytes of `512B`, `64KiB`, `256MiB`, `1.5GiB`; undefined for anything else, fractions of a byte included. */
export function parseSize(text: string): number | undefined {
  return sizePattern.test(text) ? parseScaled(text, SIZES) : undefined;
}

/** The shortest exact text: `90000` → `90s`. Whole milliseconds only. */
export function formatDuration(ms: number): string {
  return formatScaled(ms, DURATIONS);
}

/** The shortest exact text: `268435456` → `256MiB`. Whole bytes only. */
export function formatSize(bytes: number): string {
  return formatScaled(bytes, SIZES);
}

/** `redis-a:6379`, `10.0.0.1:6379`, `[::1]:6379`; undefined for anything else. Port 1–65535. */
export function parseHostPort(text: string): HostPort | undefined {
  if (!hostPortPattern.test(text)) return undefined;
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (port < 1 || port > 65_535) return undefined;
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port };
}

export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseScaled(text: string, scale: Scale): number | undefined {
  const digits = /^[0-9.]+/.exec(text)?.[0] ?? '';
  const factor = scale.find(([suffix]) => suffix === text.slice(digits.length))?.[1];
  if (factor === undefined) return undefined;
  const exact = Number(digits) * factor;
  const whole = Math.round(exact);
  // In floating point 1.001s is 1000.9999999999999 ms, although it is a whole number of milliseconds.
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined;
}

function formatScaled(value: number, scale: Scale): string {
  if (value === 0) return `0${scale.at(-1)?.[0]}`;
  const unit = scale.find(([, factor]) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** Whether a text is an IP address, alone or with a prefix length. IPv4-mapped IPv6 addresses are refused. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const bits = isIPv4(address) ? 32 : isPlainIPv6(address) ? 128 : undefined;
  if (bits === undefined) return false;
  return prefix === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}

function isPlainIPv6(address: string): boolean {
  return isIPv6(address) && !address.includes('%') && !/^(?:::|(?:0+:){5})ffff:/i.test(address);
}

/** Whether a listener on this address is reachable from this machine only. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(address);
}

/**
 * Annotations of the field builders below. A builder makes the JSON Schema of the text in the file, with the static
 * type of the value that the code gets: a duration is written `50ms` and read as a number of milliseconds.
 */
export interface Annotations {
  /** The unit that is parsed; absent for a value taken as it is. */
  readonly 'x-unit'?: 'duration' | 'size' | 'host-port';
  /** The value is never shown in a fault. */
  readonly 'x-secret'?: true;
  /** The environment variable that overrides the value. */
  readonly 'x-env'?: string;
  /** The default in words, for a default that depends on other settings. */
  readonly 'x-default'?: string;
  /** The allowed values in words, for a pattern that is hard to read. */
  readonly 'x-allowed'?: string;
  /** Bounds of a duration in milliseconds or of a size in bytes. */
  readonly 'x-min'?: number;
  readonly 'x-max'?: number;
  /** The field that selects the member of a union of mappings. */
  readonly 'x-discriminator'?: string;
}

type Scaled = { readonly default?: string; readonly min: number; readonly max: number; readonly words?: string };

export function duration(description: string, { min, max, words, ...rest }: Scaled): TUnsafe<number> {
  return Type.Unsafe<number>({
    type: 'string',
    pattern: DURATION_PATTERN,
    'x-unit': 'duration',
    'x-min': min,
    'x-max': max,
    'x-allowed': `a duration such as 50ms, 5m or 1h, from ${formatDuration(min)} to ${formatDuration(max)}`,
    ...(words === undefined ? {} : { 'x-default': words }),
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
    ...(words === undefined ? {} : { 'x-default': words }),
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

export function fraction(description: string, options: Bounds): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'number', description, ...options });
}

export function flag(description: string, options: { readonly default: boolean }): TUnsafe<boolean> {
  return Type.Unsafe<boolean>({ type: 'boolean', description, ...options });
}

type Text = {
  readonly default?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
};

export function text(description: string, options: Text & Annotations = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', minLength: 1, maxLength: 1024, description, ...options });
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

export function optional<T>(field: TUnsafe<T>): TOptional<TUnsafe<T>> {
  return Type.Optional(field);
}

/** A mapping in which every undeclared name is a fault. */
export const closed = (description: string) => ({ additionalProperties: false, description });

/** A mapping that may be left out, because every setting in it has a default. */
export const section = (description: string) => ({ ...closed(description), default: {} });
