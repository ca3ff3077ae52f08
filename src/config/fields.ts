import { isIPv4, isIPv6 } from 'node:net';
import Type, { type TOptional, type TUnsafe } from 'typebox';

/**
 * The kinds of value a configuration may hold. Each is JSON Schema for what is written in the file and, as a static
 * type, what the rooms get: a duration is written `50ms` and read as a number of milliseconds.
 */
export interface Annotations {
  /** How the text is read; absent: as it stands. */
  readonly 'x-unit'?: 'duration' | 'size' | 'host-port';
  /** Never shown in a fault. */
  readonly 'x-secret'?: true;
  /** The environment variable that overrides it. */
  readonly 'x-env'?: string;
  /** The default in words, where it depends on something else. */
  readonly 'x-default'?: string;
  /** What is allowed in words, where a pattern would say it badly. */
  readonly 'x-allowed'?: string;
  /** Bounds of a duration in milliseconds or a size in bytes. */
  readonly 'x-min'?: number;
  readonly 'x-max'?: number;
  /** Part of the answer to "which fields may stand here" in a union of mappings. */
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

/** A number of bytes, or a text with its unit. */
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

/** The field that tells the mappings of a union apart. */
export function kind<const T extends readonly string[]>(...values: T): TUnsafe<T[number]> {
  return choice(values, 'Which of the forms this is.');
}

export function optional<T>(field: TUnsafe<T>): TOptional<TUnsafe<T>> {
  return Type.Optional(field);
}

/** JSON Schema patterns of the texts below: what an editor checks is what the service reads. */
const DURATION_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h|d)$';
const SIZE_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,3})?(B|KiB|MiB|GiB)$';
const HOST_PATTERN = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$';
const HOST_PORT_PATTERN = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\]):[0-9]{1,5}$';

type Scale = readonly (readonly [suffix: string, factor: number])[];

/** Largest first, so that a value is shown in the largest unit that holds it whole. */
const DURATIONS: Scale = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
const SIZES: Scale = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['B', 1],
];

const durationPattern = new RegExp(DURATION_PATTERN);
const sizePattern = new RegExp(SIZE_PATTERN);
const hostPortPattern = new RegExp(HOST_PORT_PATTERN);

/** Milliseconds of `50ms`, `1.5s`, `5m`, `1h`, `2d`; undefined for anything else, fractions of a millisecond included. */
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
  // 1.001s is 1000.9999999999999 ms in floating point, yet a whole millisecond.
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined;
}

function formatScaled(value: number, scale: Scale): string {
  if (value === 0) return `0${scale.at(-1)?.[0]}`;
  const unit = scale.find(([, factor]) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** Names nobody declared are faults, in every mapping. */
export const closed = (description: string) => ({ additionalProperties: false, description });

/** A mapping that may be left out: everything in it has a default. */
export const section = (description: string) => ({ ...closed(description), default: {} });

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export const SECOND = 1000;

export const MINUTE = 60 * SECOND;

export const HOUR = 60 * MINUTE;

/** Bytes and milliseconds for bounds and defaults. */
export const KIB = 2 ** 10;

export const MIB = 2 ** 20;

export const GIB = 2 ** 30;

export const DAY = 24 * HOUR;

/** An IP address, alone or with the length of its prefix. An IPv4 address is written as one: mapped ones are not taken. */
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

/** Whether only this machine reaches a listener bound to it. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(address);
}
