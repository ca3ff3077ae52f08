import Type, { type TOptional, type TUnsafe } from 'typebox';
import type { HostPort } from './settings.ts';
import {
  DURATION_PATTERN,
  formatDuration,
  formatSize,
  HOST_PATTERN,
  HOST_PORT_PATTERN,
  SIZE_PATTERN,
} from './units.ts';

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
